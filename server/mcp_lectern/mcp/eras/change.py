"""Has a server changed its era since it was last asked? Pure verdicts on what it says; must not do I/O.

A remote server can be replaced while nothing closes. What it refuses then may only raise a suspicion: whether
it is right, the answer to ``server/discover`` says. An outage is no answer. Specification 2026-07-28,
basic/versioning.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from mcp_lectern.mcp.errors import McpError, NotUnderstood, ServerError
from mcp_lectern.mcp.wire.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, Answer, Refusal

from .probe import MODERN_ERRORS, SpeakStateless, judge_probe

Outcome = Answer | Refusal | McpError
EraName = Literal["handshake", "stateless"]

LISTEN: Final = "subscriptions/listen"
_WANTS_A_HANDSHAKE: Final = re.compile(r"\bsession|initiali[sz]|protocol[ -]version", re.IGNORECASE)


def is_suspicious(era: EraName, method: str, outcome: Outcome | None) -> bool:
    """Whether a server that spoke this era says what one of the other era would."""
    if not isinstance(outcome, Refusal | ServerError | NotUnderstood):
        return False
    if outcome.code in MODERN_ERRORS:
        return True
    if era == "handshake":
        # A session was lost, and the handshake for a new one was refused.
        return not isinstance(outcome, Refusal) and outcome.method == "initialize"
    missing = method == LISTEN and outcome.code == METHOD_NOT_FOUND
    return missing or _WANTS_A_HANDSHAKE.search(outcome.message) is not None


def is_other(era: EraName, probed: Outcome | None) -> bool:
    """Whether this outcome of ``server/discover`` means that the server has left this era."""
    if not isinstance(probed, Answer | Refusal | NotUnderstood):
        return False
    modern = isinstance(judge_probe(probed), SpeakStateless)
    if era == "handshake" or modern:
        return modern and era == "handshake"
    if isinstance(probed, Answer):
        return True
    unknown = isinstance(probed, Refusal) and probed.code in (
        METHOD_NOT_FOUND,
        INVALID_PARAMS,
        *MODERN_ERRORS,
    )
    return unknown or _WANTS_A_HANDSHAKE.search(probed.message) is not None

"""``WWW-Authenticate`` headers to challenges (RFC 9110, 11.6.1); must not know what answers one.

Lenient: what cannot be read of a header is left out, and nothing raises. Servers write these by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_LONGEST = 16_384
"""Characters of all headers together; more is not a challenge but an attack on whoever parses it."""
_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER = re.compile(rf'({_WORD})[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')
_SCHEME = re.compile(rf"({_WORD})(?=[ \t]|,|$)(?![ \t]*=)")
_TOKEN68 = re.compile(r"[A-Za-z0-9._~+/-]+=*(?=[ \t]*(?:,|$))")
_GAP = re.compile(r"[\s,]*")
_ESCAPE = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a server says about why it refuses. ``scopes`` is None where it names none."""

    scheme: str = ""
    error: str | None = None
    description: str | None = None
    scopes: tuple[str, ...] | None = None
    resource_metadata: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def insufficient_scope(self) -> bool:
        """Whether the token was good and merely allows too little (RFC 6750, 3.1)."""
        return self.error == "insufficient_scope"


def bearer(headers: Iterable[str]) -> Challenge:
    """The Bearer challenge among these header values; an empty one if there is none."""
    for scheme, parameters in challenges(headers):
        if scheme.lower() == "bearer":
            return _challenge(scheme, parameters)
    return Challenge()


def challenges(headers: Iterable[str]) -> list[tuple[str, dict[str, str]]]:
    """Every challenge with its parameters, names in lower case; of a repeated one the first counts."""
    text = ", ".join(headers)[:_LONGEST]
    found: list[tuple[str, dict[str, str]]] = []
    at = _after_gap(text, 0)
    while at < len(text):
        parameter = _PARAMETER.match(text, at)
        if parameter and found:
            name, quoted, plain = parameter.groups()
            value = plain if quoted is None else _ESCAPE.sub(r"\1", quoted)
            found[-1][1].setdefault(name.lower(), value)
            at = parameter.end()
        elif scheme := _SCHEME.match(text, at):
            found.append((scheme[1], {}))
            at = _after_credentials(text, scheme.end())
        else:
            at = _next_piece(text, at)
        at = _after_gap(text, at)
    return found


def _after_credentials(text: str, at: int) -> int:
    """Past the token68 of schemes such as Negotiate, which no parameter follows."""
    start = _after_gap(text, at) if text[at : at + 1] in (" ", "\t") else at
    blob = _TOKEN68.match(text, start) if start > at else None
    return blob.end() if blob and "=" in blob[0] else at


def _after_gap(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def _next_piece(text: str, at: int) -> int:
    comma = text.find(",", at)
    return len(text) if comma < 0 else comma + 1


def _challenge(scheme: str, parameters: Mapping[str, str]) -> Challenge:
    scope = parameters.get("scope")
    return Challenge(
        scheme,
        parameters.get("error") or None,
        parameters.get("error_description") or None,
        scopes_of(scope) if scope is not None else None,
        parameters.get("resource_metadata") or None,
        parameters,
    )


def scopes_of(text: str) -> tuple[str, ...]:
    """A ``scope`` value as its scopes, each once, in order."""
    return tuple(dict.fromkeys(text.split()))


def union(*scopes: Iterable[str] | None) -> tuple[str, ...]:
    """All scopes, each once, in order (specification 2026-07-28, step-up authorization flow)."""
    return tuple(dict.fromkeys(scope for some in scopes for scope in some or ()))

"""Which era does a server speak? A pure function from the probe's outcome to a verdict; must not do I/O.

Specification 2026-07-28, basic/transports/stdio (backward compatibility) and basic/versioning. An outage is
never a verdict: a server that is gone is not asked for its era.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp_lectern.mcp.errors import NotUnderstood
from mcp_lectern.mcp.wire.jsonrpc import INVALID_PARAMS, Answer, Refusal
from mcp_lectern.mcp.wire.lifecycle import (
    Capabilities,
    Discovered,
    Initialized,
    ServerInfo,
    discovered,
    initialized,
    named_versions,
)

from .versions import HANDSHAKE_VERSIONS, OLDEST_VERSION, STATELESS_VERSIONS, preferred

Json = Any

HEADER_MISMATCH = -32020
MISSING_CLIENT_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022
MODERN_ERRORS = (HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION)


@dataclass(frozen=True, slots=True)
class SpeakStateless:
    """The server is modern. ``discovered`` is None where it said so by an error that tells nothing else."""

    version: str
    discovered: Discovered | None


@dataclass(frozen=True, slots=True)
class ShakeHands:
    """The server wants ``initialize``, at this version."""

    version: str


@dataclass(frozen=True, slots=True)
class Agreed:
    """The handshake succeeded; ``assumed`` where the server named no version and the oldest is taken."""

    version: str
    server_info: ServerInfo | None
    capabilities: Capabilities
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class NoCommonVersion:
    """Neither side speaks what the other does; ``theirs`` is what the server named."""

    theirs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HandshakeRefused:
    """``initialize`` was answered with an error, or with something that is no result."""

    code: int | str | None
    message: str


def judge_probe(
    outcome: Answer | Refusal | NotUnderstood | None,
) -> SpeakStateless | ShakeHands | NoCommonVersion:
    """The verdict on the reply to ``server/discover``; None is silence within the probe's time."""
    if isinstance(outcome, Answer) and (found := discovered(outcome.result)):
        return _choose(found.versions, found)
    if isinstance(outcome, Refusal) and outcome.code in MODERN_ERRORS:
        supported = supported_versions(outcome.data)
        if outcome.code != UNSUPPORTED_VERSION or not supported:
            return SpeakStateless(STATELESS_VERSIONS[0], None)
        return _choose(supported, None)
    return ShakeHands(HANDSHAKE_VERSIONS[0])


def judge_handshake(
    outcome: Answer | Refusal, asked: str
) -> Agreed | ShakeHands | SpeakStateless | NoCommonVersion | HandshakeRefused:
    """The verdict on the reply to ``initialize`` at version ``asked``; ``ShakeHands``: again, at that one."""
    if isinstance(outcome, Answer):
        answer = initialized(outcome.result)
        return _agreed(answer) if answer else HandshakeRefused(None, "the answer to initialize is no object")
    supported = supported_versions(outcome.data)
    if outcome.code == UNSUPPORTED_VERSION and (not supported or preferred(STATELESS_VERSIONS, supported)):
        return SpeakStateless(STATELESS_VERSIONS[0], None)
    if outcome.code in (INVALID_PARAMS, UNSUPPORTED_VERSION) and supported:
        version = preferred(HANDSHAKE_VERSIONS, supported)
        if version is None:
            return NoCommonVersion(supported)
        if version != asked:
            return ShakeHands(version)
    return HandshakeRefused(outcome.code, outcome.message)


def supported_versions(data: Json) -> tuple[str, ...]:
    """The versions that an error's data names under ``supported``."""
    return named_versions(data.get("supported")) if isinstance(data, dict) else ()


def _choose(
    theirs: tuple[str, ...], found: Discovered | None
) -> SpeakStateless | ShakeHands | NoCommonVersion:
    if version := preferred(STATELESS_VERSIONS, theirs):
        return SpeakStateless(version, found)
    if version := preferred(HANDSHAKE_VERSIONS, theirs):
        return ShakeHands(version)
    return NoCommonVersion(theirs)


def _agreed(answer: Initialized) -> Agreed | NoCommonVersion:
    if answer.version is None:
        return Agreed(OLDEST_VERSION, answer.server_info, answer.capabilities, assumed=True)
    if answer.version not in HANDSHAKE_VERSIONS:
        return NoCommonVersion((answer.version,))
    return Agreed(answer.version, answer.server_info, answer.capabilities)

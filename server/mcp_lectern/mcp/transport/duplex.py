"""What a session needs of a transport, whatever carries it; must not know methods or any one transport."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mcp_lectern.mcp.errors import McpError
from mcp_lectern.mcp.wire.framing import Oversize
from mcp_lectern.mcp.wire.gathering import Gathered
from mcp_lectern.mcp.wire.jsonrpc import Refusal

Json = Any
Outgoing = Mapping[str, Json] | Sequence[Mapping[str, Json]]


@dataclass(frozen=True, slots=True)
class Ending:
    """How the peer went away; ``exit_code`` and ``stderr_tail`` where it was a process of ours.

    ``reason`` is a phrase that follows the server's name, where the transport knows one.
    """

    exit_code: int | None = None
    stderr_tail: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """No message will answer this request; ``outcome`` is what is known instead."""

    id: int
    outcome: Refusal | McpError


@dataclass(frozen=True, slots=True)
class Cut:
    """The answer's own stream ended without it; the same request under a new id may have more luck.

    ``reason`` is a phrase about the stream, where more is known than that.
    """

    id: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Renewed:
    """Notices may be lost, and subscriptions with them: peer or stream are new."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The request has not been sent yet, or only now: the time until here is not its server's."""

    id: int


Arrival = Gathered | Oversize | Unanswered | Cut | Renewed | Waiting


class Duplex(Protocol):
    """Messages in both directions, to one peer."""

    @property
    def pid(self) -> int | None:
        """The process that is the peer, where it is one of ours."""

    def post(self, message: Outgoing) -> None:
        """Hand over a message. Never waits, never raises; a peer that is gone or takes nothing loses it."""

    def release(self, identity: int, notice: Outgoing | None = None) -> None:
        """Nothing more is wanted of a request. ``notice``: it is unanswered, and this cancels it in words."""

    def agreed(self, version: str) -> None:
        """The handshake has ended at this version; what is posted from now on follows it."""

    def receive(self) -> AsyncIterator[Arrival]:
        """What arrives, in order; ends when the peer is gone. To be iterated once."""

    async def ended(self) -> Ending:
        """How it ended; to be called after ``receive`` has ended."""

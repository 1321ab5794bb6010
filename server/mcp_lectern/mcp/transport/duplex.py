"""What a session needs of a transport, whatever carries it; must not know methods or any one transport."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mcp_lectern.mcp.wire.framing import Oversize

Json = Any
Outgoing = Mapping[str, Json] | Sequence[Mapping[str, Json]]


@dataclass(frozen=True, slots=True)
class Ending:
    """How the peer went away; ``exit_code`` and ``stderr_tail`` where it was a process of ours."""

    exit_code: int | None = None
    stderr_tail: str = ""


class Duplex(Protocol):
    """Messages in both directions, to one peer."""

    def post(self, message: Outgoing) -> None:
        """Hand over a message. Never waits, never raises; a peer that is gone or takes nothing loses it."""

    def receive(self) -> AsyncIterator[bytes | Oversize]:
        """Raw messages in order; ends when the peer is gone. To be iterated once."""

    async def ended(self) -> Ending:
        """How it ended; to be called after ``receive`` has ended."""

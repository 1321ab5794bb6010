"""The bytes of one message, gathered as they come; must not do I/O or know where a message ends.

Most messages are short, and are kept as they are. What becomes long is looked into while it arrives.
"""

from __future__ import annotations

from typing import Final

from .long_messages import Lifter, LongMessage

LONG_MESSAGE: Final = 512 * 1024
HEAD_BYTES: Final = 1024
TAIL_BYTES: Final = 1024

Gathered = bytes | LongMessage


class Gathering:
    """``length`` is what has come so far, in bytes."""

    def __init__(self) -> None:
        self.length = 0
        self._parts: list[bytes] = []
        self._lifter: Lifter | None = None
        self._head = b""
        self._tail = b""

    def add(self, part: bytes) -> None:
        """The next bytes."""
        self.length += len(part)
        if self._lifter is not None:
            self._tail = (self._tail + part[-TAIL_BYTES:])[-TAIL_BYTES:]
            self._lifter.feed(part)
            return
        self._parts.append(part)
        if self.length > LONG_MESSAGE:
            self._begin()

    def ends(self) -> tuple[bytes, bytes]:
        """Its first and last bytes so far."""
        if self._lifter is not None:
            return self._head, self._tail
        whole = b"".join(self._parts)
        return whole[:HEAD_BYTES], whole[-TAIL_BYTES:]

    def take(self) -> Gathered:
        """The whole; what comes now is the next message."""
        parts, lifter, self._parts, self._lifter, self.length = self._parts, self._lifter, [], None, 0
        if lifter is not None:
            return lifter.end(self._head, self._tail)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def drop(self) -> None:
        """Forget it."""
        self._parts, self._lifter, self.length = [], None, 0

    def _begin(self) -> None:
        self._head, self._tail = self.ends()
        self._lifter = Lifter()
        for part in self._parts:
            self._lifter.feed(part)
        self._parts = []

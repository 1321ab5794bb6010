"""Newline-delimited messages out of a stream of bytes, with bounded memory; must not do I/O or know JSON.

Specification 2026-07-28, basic/transports/stdio. Bytes go in as they come, lines and notices come out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .gathering import TAIL_BYTES, Gathered, Gathering


@dataclass(frozen=True, slots=True)
class Oversize:
    """A line over the limit: its first bytes, and once it has ended its last ones (``tail`` is None before).

    It is reported when the limit is crossed, and again at its end: a line that never ends is known, too.
    """

    head: bytes
    tail: bytes | None
    length: int


class LineSplitter:
    """Lines of at most ``limit`` bytes, without their newline; empty lines are dropped.

    An oversize line costs ``HEAD_BYTES`` and ``TAIL_BYTES`` of memory, and the line after it is whole again.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._line = Gathering()
        self._head: bytes | None = None
        self._tail = b""
        self._length = 0

    def feed(self, chunk: bytes) -> Iterator[Gathered | Oversize]:
        """Take the next bytes of the stream; consume the iterator wholly before feeding again."""
        first, *rest = chunk.split(b"\n")
        yield from self._extend(first)
        for part in rest:
            yield from self.close()
            yield from self._extend(part)

    def close(self) -> Iterator[Gathered | Oversize]:
        """End the current line, as a newline or the end of the stream does."""
        if self._head is not None:
            yield Oversize(self._head, self._tail, self._length)
            self._head, self._tail = None, b""
        elif self._line.length:
            line = self._line.take()
            if not (isinstance(line, bytes) and line.isspace()):
                yield line

    def _extend(self, part: bytes) -> Iterator[Oversize]:
        if not part:
            return
        if self._head is not None:
            self._length += len(part)
            self._tail = (self._tail + part[-TAIL_BYTES:])[-TAIL_BYTES:]
            return
        self._line.add(part)
        if self._line.length > self._limit:
            self._length = self._line.length
            self._head, self._tail = self._line.ends()
            self._line.drop()
            yield Oversize(self._head, None, self._length)

"""Server-sent events out of a stream of bytes, with bounded memory; must not do I/O or know JSON.

WHATWG HTML, server-sent events. An own parser: httpx-sse decodes to text first, keeps an event of any size in
memory, and drops the events without data that only carry an id or a delay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .framing import Oversize
from .gathering import TAIL_BYTES, Gathered, Gathering

BOM: Final = b"\xef\xbb\xbf"
LONGEST_ID: Final = 4096
MOST_RETRY_DIGITS: Final = 9
LONG_LINE: Final = 64 * 1024
_LINE_ENDS: Final = re.compile(rb"[\r\n]+")
_ONE: Final = (b"\n", b"\r\n", b"\r")


@dataclass(frozen=True, slots=True)
class Event:
    """One event that has data. ``name`` is ``message`` where the stream names none."""

    name: str
    data: Gathered


class EventStream:
    """Events of at most ``limit`` bytes of data. One object reads one stream, from its first byte.

    ``last_id`` is what to resume from (None: the stream has shown no id); ``retry`` is in milliseconds.
    """

    def __init__(self, limit: int) -> None:
        self.last_id: str | None = None
        self.retry: int | None = None
        self._limit = limit
        self._first = True
        self._after_return = False
        self._line: list[bytes] = []
        self._line_length = 0
        self._in_data: bool | None = None
        self._data = Gathering()
        self._data_lines = 0
        self._name = b""
        self._id: str | None = None
        self._head: bytes | None = None
        self._tail = b""
        self._length = 0

    def feed(self, chunk: bytes) -> Iterator[Event | Oversize]:
        """Take the next bytes; consume the iterator wholly before feeding again.

        Each dispatched event comes out once; an oversize one when it crosses the limit, and again at its end.
        """
        if self._after_return and chunk:
            self._after_return = False
            chunk = chunk.removeprefix(b"\n")
        if b"\n" not in chunk and b"\r" not in chunk:
            yield from self._extend(chunk)
            return
        start = 0
        for ends in _LINE_ENDS.finditer(chunk):
            yield from self._extend(chunk[start : ends.start()])
            yield from self._end_line()
            if ends[0] not in _ONE:
                # One blank line ends an event, and any number of them together does no more.
                yield from self._end_line()
            start = ends.end()
        self._after_return = chunk.endswith(b"\r")
        yield from self._extend(chunk[start:])

    def _extend(self, part: bytes) -> Iterator[Oversize]:
        if not part:
            return
        self._line_length += len(part)
        if self._head is not None:
            self._tail = (self._tail + part[-TAIL_BYTES:])[-TAIL_BYTES:]
        elif self._in_data:
            self._data.add(part)
            if self._data.length > self._limit:
                yield self._oversize()
        else:
            self._line.append(part)
            if self._data.length + self._line_length > self._limit + len(b"data: "):
                self._add_data(_value(b"".join(self._line)))
                yield self._oversize()
            elif self._line_length > LONG_LINE and self._in_data is None:
                self._judge()

    def _oversize(self) -> Oversize:
        """Keep nothing of the event but its ends."""
        self._head, self._tail = self._data.ends()
        self._length = self._data.length - self._line_length
        self._line = []
        self._data.drop()
        return Oversize(self._head, None, self._length + self._line_length)

    def _judge(self) -> None:
        """Whether a long line is data, so that its value need not wait for its end."""
        line = self._begun(b"".join(self._line))
        self._line, self._in_data = [line], line.startswith(b"data:")
        if self._in_data:
            self._line = []
            self._add_data(_value(line))

    def _begun(self, line: bytes) -> bytes:
        if self._first:
            self._first = False
            line = line.removeprefix(BOM)
        return line

    def _end_line(self) -> Iterator[Event | Oversize]:
        length, in_data, parts = self._line_length, self._in_data, self._line
        self._line_length, self._in_data, self._line = 0, None, []
        if self._head is not None and length:
            self._length += length
        elif in_data:
            return
        elif line := self._begun(parts[0] if len(parts) == 1 else b"".join(parts)):
            self._field(line)
        else:
            yield from self._dispatch()

    def _field(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._add_data(_value(line))
            return
        name, _, _ = line.partition(b":")
        if name == b"data":
            self._add_data(b"")
        elif name == b"event":
            self._name = _value(line)
        elif name == b"id":
            self._take_id(_value(line))
        elif name == b"retry" and (value := _value(line)).isdigit() and len(value) <= MOST_RETRY_DIGITS:
            self.retry = int(value)

    def _add_data(self, value: bytes) -> None:
        if self._data_lines:
            self._data.add(b"\n")
        self._data_lines += 1
        self._data.add(value)

    def _take_id(self, value: bytes) -> None:
        if b"\0" not in value and len(value) <= LONGEST_ID:
            self._id = value.decode("utf-8", "replace")

    def _dispatch(self) -> Iterator[Event | Oversize]:
        if self._id is not None:
            self.last_id = self._id
        lines, name, head = self._data_lines, self._name, self._head
        self._data_lines, self._name, self._head = 0, b"", None
        if head is not None:
            yield Oversize(head, self._tail, self._length)
        elif lines and self._data.length >= lines:
            yield Event(name.decode("utf-8", "replace") or "message", self._data.take())
        else:
            self._data.drop()


def _value(line: bytes) -> bytes:
    colon = line.find(b":")
    if colon < 0:
        return b""
    return line[colon + 2 :] if line[colon + 1 : colon + 2] == b" " else line[colon + 1 :]

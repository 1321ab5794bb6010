"""Server-sent events out of a stream of bytes, with bounded memory; must not do I/O or know JSON.

WHATWG HTML, server-sent events. An own parser: httpx-sse decodes to text first, keeps an event of any size in
memory, and drops the events without data that only carry an id or a delay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .framing import HEAD_BYTES, TAIL_BYTES, Oversize

BOM: Final = b"\xef\xbb\xbf"
LONGEST_ID: Final = 4096
MOST_RETRY_DIGITS: Final = 9
_LINE_END: Final = re.compile(rb"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Event:
    """One event that has data. ``name`` is ``message`` where the stream names none."""

    name: str
    data: bytes


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
        self._data: list[bytes] = []
        self._length = 0
        self._name = b""
        self._id: str | None = None
        self._head: bytes | None = None
        self._tail = b""

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
        for end in _LINE_END.finditer(chunk):
            yield from self._extend(chunk[start : end.start()])
            yield from self._end_line()
            start = end.end()
        self._after_return = chunk.endswith(b"\r")
        yield from self._extend(chunk[start:])

    def _extend(self, part: bytes) -> Iterator[Oversize]:
        if not part:
            return
        self._line_length += len(part)
        if self._head is not None:
            self._tail = (self._tail + part[-TAIL_BYTES:])[-TAIL_BYTES:]
            return
        self._line.append(part)
        if self._length + self._line_length > self._limit + len(b"data: "):
            line = _value(b"".join(self._line))
            self._head = b"\n".join([*self._data, line])[:HEAD_BYTES]
            self._tail = line[-TAIL_BYTES:]
            self._length += self._line_length
            self._line, self._data = [], []
            yield Oversize(self._head, None, self._length)

    def _end_line(self) -> Iterator[Event | Oversize]:
        length, self._line_length = self._line_length, 0
        if self._head is not None and length:
            self._length += length
            return
        parts, self._line = self._line, []
        if len(parts) > 1 and not self._first and parts[0].startswith(b"data: "):
            # A value of many megabytes is put together once, and not copied again to lose its field's name.
            parts[0] = _value(parts[0])
            self._take_data(b"".join(parts))
            return
        line = parts[0] if len(parts) == 1 else b"".join(parts)
        if self._first:
            self._first = False
            line = line.removeprefix(BOM)
        if line:
            self._field(line)
        else:
            yield from self._dispatch()

    def _field(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._take_data(_value(line))
            return
        name, _, _ = line.partition(b":")
        if name == b"data":
            self._data.append(b"")
        elif name == b"event":
            self._name = _value(line)
        elif name == b"id":
            self._take_id(_value(line))
        elif name == b"retry" and (value := _value(line)).isdigit() and len(value) <= MOST_RETRY_DIGITS:
            self.retry = int(value)

    def _take_data(self, value: bytes) -> None:
        self._data.append(value)
        self._length += len(value) + 1

    def _take_id(self, value: bytes) -> None:
        if b"\0" not in value and len(value) <= LONGEST_ID:
            self._id = value.decode("utf-8", "replace")

    def _dispatch(self) -> Iterator[Event | Oversize]:
        if self._id is not None:
            self.last_id = self._id
        data, name, head, tail, length = self._data, self._name, self._head, self._tail, self._length
        self._data, self._name, self._head, self._tail, self._length = [], b"", None, b"", 0
        if head is not None:
            yield Oversize(head, tail, length)
        elif any(data):
            joined = data[0] if len(data) == 1 else b"\n".join(data)
            yield Event(name.decode("utf-8", "replace") or "message", joined)


def _value(line: bytes) -> bytes:
    colon = line.find(b":")
    if colon < 0:
        return b""
    return line[colon + 2 :] if line[colon + 1 : colon + 2] == b" " else line[colon + 1 :]

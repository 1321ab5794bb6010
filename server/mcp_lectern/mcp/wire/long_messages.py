"""A long message while it arrives, with what is long lifted out of it; must not do I/O or classify it.

A message of many megabytes is hardly ever more than a few texts or blobs, or a page of descriptors, with a
little JSON around them. They are decoded piece by piece as they come, and only the rest is left to be parsed
as a whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from .long_lists import LongList
from .long_strings import ArrivingBase64, LongString, LongText

STEP: Final = 256 * 1024
"""Bytes that are looked at together: many, so that looking costs little, and few, so that it is soon over."""
LONG_STRING: Final = 8 * 1024
"""Bytes from which on a string is lifted out."""

LONGEST_ENTRY: Final = 4 * STEP
"""Bytes after which a list that is no list of entries is left to be parsed with the rest."""

_OPENING: Final = re.compile(
    rb'"(?<!\\")(?:(text|blob)"[ \t\r\n]{0,8}:[ \t\r\n]{0,8}"'
    rb'|(resources|resourceTemplates)"[ \t\r\n]{0,8}:[ \t\r\n]{0,8}\[[ \t\r\n]{0,8}(?=\{))'
)
"""The beginning of such a member. Inside a string its quotes would be escaped: it is one anywhere."""
_LONGEST_OPENING: Final = 45
_CUT_ESCAPE: Final = re.compile(rb"(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z")
"""An escape that goes on, or that of a surrogate whose other half may come."""
_LONGEST_CUT_ESCAPE: Final = 11
_FIRST_WINDOW: Final = 1024
_BACKSLASH: Final = ord("\\")


@dataclass(frozen=True, slots=True)
class LongMessage:
    """``parts`` in order: JSON, and between its quotes what was lifted out of it. ``flaw``: why it is none.

    ``head`` and ``tail`` are its first and last bytes as they came.
    """

    parts: tuple[bytes | LongString | LongList, ...]
    head: bytes
    tail: bytes
    flaw: str = ""


class Lifter:
    """Takes the bytes of one message, in any pieces. ``step`` and ``long_string`` are in bytes."""

    def __init__(self, *, step: int = STEP, long_string: int = LONG_STRING) -> None:
        self._step = step
        self._longest_entry = LONGEST_ENTRY // STEP * step
        self._long_string = long_string
        self._parts: list[bytes | LongString | LongList] = []
        self._waiting: list[bytes] = []
        self._length = 0
        self._string: LongText | ArrivingBase64 | None = None
        self._list: LongList | None = None
        self._flaw = ""

    def feed(self, part: bytes) -> None:
        """The next bytes."""
        self._waiting.append(part)
        self._length += len(part)
        if self._length >= self._step:
            self._look()

    def end(self, head: bytes, tail: bytes) -> bytes | LongMessage:
        """The message; as it came where nothing was lifted out. ``head`` and ``tail`` are its two ends."""
        self._look()
        if self._string is not None:
            self._give_up("a string without an end")
        parts = [*self._parts, *self._waiting]
        plain = [part for part in parts if isinstance(part, bytes)]
        if len(plain) == len(parts) and not self._flaw:
            return b"".join(plain)
        return LongMessage(tuple(parts), head, tail, self._flaw)

    def _look(self) -> None:
        data, self._waiting, self._length = b"".join(self._waiting), [], 0
        if self._flaw:
            return
        try:
            rest = self._taken(data)
        except ValueError:
            self._give_up("a string that cannot be read")
        else:
            self._waiting, self._length = [data[rest:]], len(data) - rest

    def _give_up(self, flaw: str) -> None:
        self._parts, self._waiting, self._string, self._list, self._flaw = [], [], None, None, flaw

    def _taken(self, data: bytes) -> int:
        """How much of the data is done with; the rest cannot be judged before more has come."""
        start = 0
        while True:
            if self._string is None and self._list is None:
                start = self._between(data, start)
            if self._list is not None:
                start, waits = self._entries(self._list, data, start)
                if waits:
                    return start
                continue
            if self._string is None:
                return start
            end = _end_of_string(data, start)
            cut = end if end >= 0 else _cut(data, start)
            if cut > start:
                self._string.add(data[start:cut])
            start = cut
            if end < 0:
                return start
            self._parts.append(self._string.end())
            self._string = None

    def _entries(self, entries: LongList, data: bytes, start: int) -> tuple[int, bool]:
        """Take what is whole; where the rest begins, and whether more of it is worth waiting for."""
        begin = entries.take(data, start)
        if begin > start and self._parts[-1] is not entries:
            self._parts.append(entries)
        if len(data) - begin <= self._longest_entry:
            return begin, True
        self._list = None
        return begin, False

    def _between(self, data: bytes, start: int) -> int:
        """Keep what stands before the next long value; where that begins, or what is yet to be judged."""
        place = start
        while opening := _OPENING.search(data, place):
            begin = opening.end()
            if opening[2]:
                self._parts.append(data[start:begin])
                self._list = LongList(opening[2])
                return begin
            end = _end_of_string(data, begin)
            if (end if end >= 0 else len(data)) - begin >= self._long_string:
                self._parts.append(data[start:begin])
                self._string = LongText() if opening[1] == b"text" else ArrivingBase64()
                return begin
            if end < 0:
                break
            place = end + 1
        rest = opening.start() if opening else max(start, len(data) - _LONGEST_OPENING)
        self._parts.append(data[start:rest])
        return rest


def _end_of_string(data: bytes, start: int) -> int:
    """Where the quote stands that ends the string whose content starts here; -1 if it has not come yet."""
    end = data.find(b'"', start)
    if end <= start or data[end - 1] != _BACKSLASH:
        return end
    size = _FIRST_WINDOW
    while True:
        window = data[start : start + size].replace(rb"\\", b"  ").replace(rb"\"", b"  ")
        end = window.find(b'"')
        if end >= 0:
            return start + end
        if start + len(window) >= len(data):
            return -1
        start += len(window) - window.endswith(b"\\")
        size *= 4


def _cut(data: bytes, start: int) -> int:
    """The last place where no escape, no pair of surrogates and no character would be cut."""
    place = max(start, len(data) - _LONGEST_CUT_ESCAPE)
    while (found := _CUT_ESCAPE.search(data, place)) and found.start() < len(data):
        before = data[start : found.start()]
        if (len(before) - len(before.rstrip(b"\\"))) % 2 == 0:
            return found.start()
        place = found.start() + 1
    for back in range(1, min(3, len(data) - start) + 1):
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            return len(data) - back if back < _bytes_of(byte) else len(data)
    return len(data)


def _bytes_of(lead: int) -> int:
    """How many bytes a character has that begins with this one."""
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4

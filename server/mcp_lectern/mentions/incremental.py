"""The mentions of a text that is being edited: only what an edit touches is read again; knows no editor.

The text is kept in pieces of whole lines. What a piece holds is found when somebody asks, and can be found in
short steps, so that the longest document holds nobody up.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator
from itertools import accumulate

from mcp_lectern.mentions.fences import (
    Blocks,
    Stretch,
    Zone,
    is_inside,
    may_hold_code,
    stretch,
    zone_steps,
    zones_of,
)
from mcp_lectern.mentions.model import Mention
from mcp_lectern.mentions.parser import Listed, parse

PIECE = 4096
"""Code points of a piece, up to the end of the line in which they end."""

_LINE_END = re.compile(r"\r\n?|\n")


class _Piece:
    """Whole lines. ``mentions`` holds what was found when the piece began at ``base``, None if not yet."""

    __slots__ = ("base", "code", "length", "marks", "mentions")

    def __init__(self, length: int, marks: bool) -> None:
        self.length = length
        self.marks = marks
        self.base = 0
        self.mentions: list[Mention] | None = None
        self.code: Stretch | None = None

    def placed(self, start: int) -> list[Mention]:
        """The mentions, now that the piece begins at ``start``."""
        found = self.mentions or []
        if self.base != start:
            by, self.base = start - self.base, start
            found = self.mentions = [mention.moved(by) for mention in found]
        return found


class MentionIndex:
    """The mentions of one text; until told what is configured and listed it knows none."""

    def __init__(self, text: str) -> None:
        self._markdown = False
        self._marked = False
        self._servers: Container[str] = ()
        self._listed: Listed = lambda _server, _uri: False
        self._snapshot: object = None
        self._text = text
        self._pieces = _cut(text, 0, len(text))
        self._starts: list[int] = []
        self._settled = 0
        self._changes = 0
        self._all: list[Mention] | None = None
        self._place()

    def replaced(self, start: int, end: int, after: str) -> None:
        """The text from ``start`` to ``end`` was replaced, which led to ``after``."""
        start, end = _narrowed(self._text, start, end, after)
        delta = len(after) - len(self._text)
        first, last = self._piece_at(start), self._piece_at(end)
        if first and start == self._starts[first] and self._text[start - 1] == "\r":
            first -= 1  # a line feed may now complete this carriage return
        begin, stop = self._starts[first], self._starts[last] + self._pieces[last].length
        self._text = after
        self._pieces[first : last + 1] = _cut(after, begin, stop + delta)
        self._settled = min(self._settled, first)
        self._place()

    def read_as(
        self, servers: Container[str], listed: Listed, snapshot: object, *, markdown: bool = False
    ) -> None:
        """What is configured and listed from now on; ``snapshot`` is the same object while that stays so.

        ``markdown``: what is code in Markdown holds no mentions.
        """
        if markdown != self._markdown:
            self._markdown, self._settled, self._all = markdown, 0, None
            self._changes += 1
        if snapshot is self._snapshot:
            return
        self._servers, self._listed, self._snapshot = servers, listed, snapshot
        for piece in self._pieces:
            piece.mentions = None
        self._settled = 0
        self._all = None
        self._changes += 1

    def steps(self) -> Iterator[None]:
        """Reads what is still to be read, a little at a time; the text may change between two steps."""
        while self._all is None:
            while self._settled < len(self._pieces):
                self._settle(self._settled)
                self._settled += 1
                yield
            changes = self._changes
            for _ in self._gather():
                yield
                if self._changes != changes:
                    break

    def mentions(self) -> list[Mention]:
        """All mentions, in order."""
        while self._all is None:
            for _ in self.steps():
                pass
        return self._all

    def at(self, offset: int) -> Mention | None:
        """The mention that holds this offset, or ends there; only what is around it is read."""
        number = self._piece_at(offset)
        self._read(number)
        for mention in self._pieces[number].placed(self._starts[number]):
            if mention.start <= offset <= mention.end:
                return None if self.is_code(mention.start) else mention
        return None

    def is_code(self, offset: int) -> bool:
        """Whether the offset lies in code; what comes behind its paragraph is not read."""
        if not self._holds_code():
            return False
        last = self._piece_at(offset)
        for number in range(last + 1):
            self._read_code(number)
        while last + 1 < len(self._pieces) and self._code_of(last).exit.prose:
            last += 1
            self._read_code(last)
        first = self._piece_at(offset)
        while first and self._code_of(first).entry.prose:
            first -= 1
        around = ((self._starts[n], self._code_of(n)) for n in range(first, last + 1))
        return is_inside(zones_of(around), offset)

    def _place(self) -> None:
        starts = list(accumulate((piece.length for piece in self._pieces), initial=0))
        starts.pop()
        self._starts, self._all = starts, None
        self._changes += 1
        marked = any(piece.marks for piece in self._pieces)
        if marked and not self._marked:
            self._settled = 0
        self._marked = marked

    def _piece_at(self, offset: int) -> int:
        return max(bisect_right(self._starts, offset) - 1, 0)

    def _settle(self, number: int) -> None:
        self._read(number)
        self._pieces[number].placed(self._starts[number])
        if self._holds_code():
            self._read_code(number)

    def _read(self, number: int) -> None:
        piece, start = self._pieces[number], self._starts[number]
        if piece.mentions is None:
            piece.base = start
            piece.mentions = parse(self._text, self._servers, self._listed, start, start + piece.length)

    def _holds_code(self) -> bool:
        return self._markdown and self._marked

    def _read_code(self, number: int) -> None:
        """What is code in this piece; the pieces before it must have been read."""
        entry = self._code_of(number - 1).exit if number else Blocks()
        piece, start = self._pieces[number], self._starts[number]
        if piece.code is None or piece.code.entry != entry:
            piece.code = stretch(self._text, start, start + piece.length, entry)

    def _code_of(self, number: int) -> Stretch:
        code = self._pieces[number].code
        assert code is not None
        return code

    def _gather(self) -> Iterator[None]:
        """All mentions outside code, from pieces that have all been read."""
        zones: list[Zone] = []
        if self._holds_code():
            for some in zone_steps((self._starts[n], self._code_of(n)) for n in range(len(self._pieces))):
                zones += some
                yield
        starts = [start for start, _ in zones]
        found: list[Mention] = []
        for start, piece in zip(self._starts, self._pieces, strict=True):
            mentions = piece.placed(start)
            found += _outside(mentions, zones, starts) if zones and mentions else mentions
            yield
        self._all = found


def _outside(mentions: list[Mention], zones: list[Zone], starts: list[int]) -> list[Mention]:
    """The mentions that begin in none of the zones; ``starts`` are their beginnings."""

    def alive(mention: Mention) -> bool:
        index = bisect_right(starts, mention.start) - 1
        return index < 0 or mention.start >= zones[index][1]

    return [mention for mention in mentions if alive(mention)]


def _cut(text: str, start: int, end: int) -> list[_Piece]:
    """Pieces of whole lines; one at least."""
    pieces: list[_Piece] = []
    while start < end or not pieces:
        match = _LINE_END.search(text, start + PIECE, end)
        stop = match.end() if match else end
        pieces.append(_Piece(stop - start, may_hold_code(text, start, stop)))
        start = stop
    return pieces


def _narrowed(before: str, start: int, end: int, after: str) -> tuple[int, int]:
    """The part of ``before[start:end]`` that differs: some editors send the whole text for every edit."""
    if end - start <= PIECE:
        return start, end
    shortest = min(end - start, len(after) - len(before) + end - start)
    same = _longest(shortest, lambda n: before.startswith(after[start : start + n], start))
    begin, tail = start + same, len(after) - len(before)
    same = _longest(shortest - same, lambda n: before[end - n : end] == after[end - n + tail : end + tail])
    return begin, end - same


def _longest(limit: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to ``limit`` for which it holds, as it does for every smaller one."""
    low = 0
    while low < limit:
        middle = (low + limit + 1) // 2
        low, limit = (middle, limit) if holds(middle) else (low, middle - 1)
    return low

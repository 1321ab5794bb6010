"""The mentions of a text that is being edited: only what an edit touches is read again; knows no editor.

The text is kept in pieces. What a piece holds is found when somebody asks, and can be found in short steps,
so that neither the longest document nor the longest line holds anybody up.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator
from itertools import accumulate

from mcp_lectern.mentions import pieces
from mcp_lectern.mentions.code_spans import Zone
from mcp_lectern.mentions.fences import Blocks, Stretch, is_inside, stretch, zone_steps
from mcp_lectern.mentions.model import Mention
from mcp_lectern.mentions.parser import Listed, parse_part
from mcp_lectern.mentions.pieces import cut

_LOOK_BACK = 8_192
"""Code points of one line before a place that are read at once to tell what is there."""


class MentionIndex:
    """The mentions of one text; until told what is configured and listed it knows none."""

    def __init__(self, text: str) -> None:
        self._markdown = False
        self._marked = False
        self._servers: Container[str] = ()
        self._listed: Listed = lambda _server, _uri: False
        self._snapshot: object = None
        self._text = text
        self._pieces = cut(text, 0, len(text), begins_line=True)
        self._starts: list[int] = []
        self._settled = 0
        self._changes = 0
        self._all: list[Mention] | None = None
        self._dead = _Dead()
        self._place()

    def replaced(self, start: int, end: int, after: str) -> None:
        """The text from ``start`` to ``end`` was replaced, which led to ``after``."""
        start, end = _narrowed(self._text, start, end, after)
        delta = len(after) - len(self._text)
        first, last = self._piece_at(start), self._piece_at(end)
        if first and start == self._starts[first] and self._text[start - 1] == "\r":
            first -= 1  # a line feed may now complete this carriage return
        begin, stop = self._starts[first], self._starts[last] + self._pieces[last].length
        self._forget_before(first, start)
        self._text = after
        begins_line = self._pieces[first].begins_line
        self._pieces[first : last + 1] = cut(after, begin, stop + delta, begins_line=begins_line)
        self._place()

    def _forget_before(self, first: int, start: int) -> None:
        """What was read of the same line with a look at what has changed from ``start`` on."""
        number = first
        while not self._pieces[number].begins_line:
            number -= 1
            piece = self._pieces[number]
            if piece.mentions is not None and self._starts[number] + piece.looked_at >= start:
                piece.mentions = None
        self._pieces[number].code = None
        self._settled = min(self._settled, number)

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
        entry = self._entry(number)
        self._read(number, entry)
        start = self._starts[number]
        begun = self._begun_before(number) if start <= offset <= start + entry else None
        for mention in (*([begun] if begun else ()), *self._pieces[number].placed(start)):
            if mention.start <= offset <= mention.end:
                return None if self.is_code(mention.start) else mention
        return None

    def is_code(self, offset: int) -> bool:
        """Whether the offset lies in code; what comes behind its paragraph is not read."""
        if not self._holds_code():
            return False
        if self._all is not None:
            return offset in self._dead
        last = first = self._piece_at(offset)
        for number in range(last + 1):
            self._read_code(number)
        while last + 1 < len(self._pieces) and self._code_of(last).exit.text:
            last += 1
            self._read_code(last)
        while first and self._code_of(first).entry.text:
            first -= 1
        around = ((self._starts[number], self._code_of(number)) for number in range(first, last + 1))
        for zones in zone_steps(around):
            if zones and offset < zones[-1][1]:
                return is_inside(zones, offset)
        return False

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
        self._read(number, self._entry(number))
        self._pieces[number].placed(self._starts[number])
        if self._holds_code():
            self._read_code(number)

    def _read(self, number: int, entry: int) -> None:
        """Find the mentions that begin in this piece, from ``entry`` on."""
        piece, start = self._pieces[number], self._starts[number]
        if piece.mentions is None or piece.entry != entry:
            stop = start + piece.length
            begin = min(start + entry, stop)
            found, looked_at = parse_part(self._text, self._servers, self._listed, begin, stop)
            piece.found(start, entry, found, looked_at)

    def _entry(self, number: int) -> int:
        """How much of this piece belongs to a mention that began before it, on the same line.

        Where that is not known, so much of the line is read that it is; of a hostile line at most so much
        as somebody may wait for, and reading it in order puts it right.
        """
        open_ends: list[int] = []
        covered, first = 0, number
        while not self._pieces[first].begins_line:
            if first <= self._settled:
                covered = self._starts[first] + self._pieces[first - 1].exit
                break
            if self._starts[number] - self._starts[first] > _LOOK_BACK:
                break
            first -= 1
            if self._pieces[first].ending is pieces.CLOSED:
                break
            if self._pieces[first].ending is pieces.OPEN:
                open_ends.append(first)
        for each in reversed(open_ends):
            piece, start = self._pieces[each], self._starts[each]
            self._read(each, max(0, covered - start))
            covered = start + piece.length + piece.exit
        return max(0, covered - self._starts[number])

    def _begun_before(self, number: int) -> Mention | None:
        """The last mention before this piece, on the same line, that may reach into it."""
        end = self._starts[number]
        while not self._pieces[number].begins_line and end - self._starts[number] <= _LOOK_BACK:
            number -= 1
            entry = self._entry(number)
            self._read(number, entry)
            if found := self._pieces[number].placed(self._starts[number]):
                return found[-1]
            if not entry:
                break
        return None

    def _holds_code(self) -> bool:
        return self._markdown and self._marked

    def _read_code(self, number: int) -> None:
        """What is code in this piece; what is before it must have been read."""
        entry = self._code_of(number - 1).exit if number else Blocks()
        piece, start = self._pieces[number], self._starts[number]
        if piece.code is None or piece.code.entry != entry:
            piece.code = stretch(self._text, start, start + piece.length, entry)

    def _code_of(self, number: int) -> Stretch:
        code = self._pieces[number].code
        assert code is not None
        return code

    def _codes(self) -> Iterator[tuple[int, Stretch]]:
        for number, start in enumerate(self._starts):
            yield start, self._code_of(number)

    def _gather(self) -> Iterator[None]:
        """All mentions outside code, from pieces that have all been read."""
        dead = _Dead()
        if self._holds_code():
            for zones in zone_steps(self._codes()):
                if zones:
                    dead.add(zones)
                yield
        found: list[Mention] = []
        for start, piece in zip(self._starts, self._pieces, strict=True):
            mentions = piece.placed(start)
            found += [one for one in mentions if one.start not in dead] if dead.begins else mentions
            yield
        self._all, self._dead = found, dead


class _Dead:
    """All zones of code of a text, as plain numbers: hostile text has very many."""

    __slots__ = ("begins", "ends")

    def __init__(self) -> None:
        self.begins, self.ends = array("q"), array("q")

    def add(self, zones: list[Zone]) -> None:
        self.begins.extend([begin for begin, _ in zones])
        self.ends.extend([end for _, end in zones])

    def __contains__(self, offset: int) -> bool:
        index = bisect_right(self.begins, offset) - 1
        return index >= 0 and offset < self.ends[index]


def _narrowed(before: str, start: int, end: int, after: str) -> tuple[int, int]:
    """The part of ``before[start:end]`` that differs: some editors send the whole text for every edit."""
    if end - start <= pieces.PIECE:
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

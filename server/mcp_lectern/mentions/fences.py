"""Where Markdown is code, so that mentions there are none; must not know what a mention resolves to.

CommonMark 0.31, sections 4.5 (fenced code blocks), 5 (containers) and 6.1 (code spans), as far as they decide
that. Indented code, HTML and link definitions are read as prose.

A text may be read in stretches that begin where a line begins. What one stretch hands on to the next holds
no offsets, so an edit concerns later stretches only if it changes the structure that they stand in.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from mcp_lectern.mentions.code_spans import Run, paired, runs

Zone = tuple[int, int]

_LINE = re.compile(r"([^\r\n]*+)(?:\r\n?|\n|\Z)")
_PLAIN = re.compile(r"(?:[^\W\d_][^\r\n]*+(?:\r\n?|\n|\Z))++")
_CODE = re.compile(r"(?:(?! {0,3}(?:```|~~~))[^\r\n]*+(?:\r\n?|\n))++")
_BLANK = re.compile(r" *$")
_FENCE = re.compile(r" {0,3}(`{3,}+(?=[^`]*$)|~{3,}+)")
_FENCE_END = re.compile(r" {0,3}(`{3,}+|~{3,}+) *$")
_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r" {0,3}(?:[-+*]|(\d{1,9})[.)])(?=( *+)(.?))")
_RULE = re.compile(r" {0,3}(?:(?:\* *+){3,}+|(?:_ *+){3,}+|(?:- *+){3,}+)$")
_UNDERLINE = re.compile(r" {0,3}(?:=++|-++) *$")
_HEADING = re.compile(r" {0,3}#{1,6}(?: |$)")
_INDENTED = "    "
_QUOTE_MARK = 0
# Deeper nesting is read as prose, so that the cost of a line stays bounded.
_DEPTH_LIMIT = 24
_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class Blocks:
    """The block structure that is open between two lines.

    ``containers`` holds the indentation of each open list item and ``_QUOTE_MARK`` for each block quote;
    ``fence`` the marks of an open fence; ``prose`` is whether a paragraph is open, ``empty_item`` whether the
    innermost item has had no content yet.
    """

    containers: tuple[int, ...] = ()
    fence: str | None = None
    prose: bool = False
    empty_item: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """The code in one stretch; all offsets count from its beginning.

    ``zones`` lie wholly inside. ``head`` holds the back ticks of the paragraph that is open at its beginning,
    ``tail`` those of the one that is open at its end; where both are the same one, that has only a head.
    """

    entry: Blocks
    exit: Blocks
    zones: tuple[Zone, ...]
    head: tuple[Run, ...] = ()
    tail: tuple[Run, ...] | None = None


def dead_zones(text: str) -> list[Zone]:
    """The fenced code blocks (whole lines) and code spans of a Markdown text, in order, without overlap."""
    return zones_of([(0, stretch(text, 0, len(text), Blocks()))]) if may_hold_code(text) else []


def may_hold_code(text: str, start: int = 0, end: int | None = None) -> bool:
    """Whether ``text[start:end]`` holds any of the marks without which nothing is code."""
    return text.find("`", start, end) >= 0 or text.find("~~~", start, end) >= 0


def is_inside(zones: Sequence[Zone], offset: int) -> bool:
    """Whether the offset lies in one of the zones."""
    index = bisect_right(zones, offset, key=lambda zone: zone[0]) - 1
    return index >= 0 and offset < zones[index][1]


def stretch(text: str, start: int, end: int, entry: Blocks) -> Stretch:
    """Read ``text[start:end]``, whole lines, on from the structure that the lines before it leave open."""
    scan = _Scan(text, start, entry)
    while start < end:
        start = scan.step(start, end)
    return scan.finished(end)


def zones_of(stretches: Iterable[tuple[int, Stretch]]) -> list[Zone]:
    """The zones of neighbouring stretches, each given with its offset."""
    return list(chain.from_iterable(zone_steps(stretches)))


def zone_steps(stretches: Iterable[tuple[int, Stretch]]) -> Iterator[list[Zone]]:
    """The same in order, some at a time."""
    paragraph: list[Run] = []
    for base, one in stretches:
        for some in _slices(one.head):
            paragraph += [(begin + base, end + base, escaped) for begin, end, escaped in some]
            yield []
        if one.entry.prose and one.exit.prose and one.tail is None:
            yield []
            continue
        yield from _some(paired(paragraph))
        yield [(begin + base, end + base) for begin, end in one.zones]
        paragraph = []
        for some in _slices(one.tail or ()):
            paragraph += [(begin + base, end + base, escaped) for begin, end, escaped in some]
            yield []
    yield from _some(paired(paragraph))


def _slices(runs: tuple[Run, ...]) -> Iterator[tuple[Run, ...]]:
    return (runs[start : start + _AT_ONCE] for start in range(0, len(runs), _AT_ONCE))


def _some(zones: Iterator[Zone]) -> Iterator[list[Zone]]:
    while found := list(islice(zones, _AT_ONCE)):
        yield found


class _Scan:
    """The block structure, line by line. ``_fence`` is the beginning and the marks of an open fence,
    ``_prose`` the span of an open paragraph, as far as it lies in this stretch.
    """  # noqa: D205 - one thought

    def __init__(self, text: str, start: int, entry: Blocks) -> None:
        self._text = text
        self._start = start
        self._entry = entry
        self._zones: list[Zone] = []
        self._containers = list(entry.containers)
        self._fence = None if entry.fence is None else (start, entry.fence)
        self._prose: Zone | None = (start, start) if entry.prose else None
        self._empty_item = entry.empty_item
        self._head: tuple[Run, ...] | None = None

    def step(self, start: int, end: int) -> int:
        """Read the line at ``start``, or several that mean the same; returns where the next one begins."""
        if self._prose:
            # A line that begins with a letter goes on with a paragraph, whatever that stands in.
            if plain := _PLAIN.match(self._text, start, end):
                self._prose = (self._prose[0], plain.end())
                return plain.end()
        elif self._fence and not self._containers and (code := _CODE.match(self._text, start, end)):
            return code.end()
        match = _LINE.match(self._text, start, end)
        assert match is not None
        self._line(start, match.end(), match[1].expandtabs(4))
        return match.end()

    def finished(self, end: int) -> Stretch:
        """What was found, once every line was seen."""
        fence, prose = self._fence, self._prose
        tail: tuple[Run, ...] | None = None
        head = self._head
        if prose and self._entry.prose and head is None:
            head = self._runs(prose)
        elif prose:
            tail = self._runs(prose)
        self._end_fence(end)
        exit_ = Blocks(
            tuple(self._containers), fence[1] if fence else None, prose is not None, self._empty_item
        )
        return Stretch(self._entry, exit_, tuple(self._zones), head or (), tail)

    def _line(self, start: int, end: int, content: str) -> None:
        depth, column = self._matched(content)
        if self._fence:
            if depth == len(self._containers):
                self._inside_fence(content, column, end)
                return
            self._end_fence(start)
        if _BLANK.match(content, column):
            self._end_prose()
            # An item whose first line is empty does not outlive a second one.
            del self._containers[depth - (self._empty_item and depth == len(self._containers)) :]
            self._empty_item = False
            return
        opened, column = self._opened(content, column, depth)
        self._block(content, column, (start, end), depth, opened)

    def _matched(self, content: str) -> tuple[int, int]:
        """How many open containers go on in this line, and the column behind their marks."""
        column = 0
        for depth, container in enumerate(self._containers):
            if container == _QUOTE_MARK:
                quote = _QUOTE.match(content, column)
                if quote is None:
                    return depth, column
                column = quote.end()
            elif content.startswith(" " * container, column):
                column += container
            elif not _BLANK.match(content, column):
                return depth, column
        return len(self._containers), column

    def _opened(self, content: str, column: int, depth: int) -> tuple[list[int], int]:
        """The containers that begin in this line, and the column behind their marks."""
        opened: list[int] = []
        while depth + len(opened) < _DEPTH_LIMIT:
            quote = _QUOTE.match(content, column)
            if quote:
                opened.append(_QUOTE_MARK)
                column = quote.end()
                continue
            interrupts = self._prose is not None and not opened and depth == len(self._containers)
            indent = _item_indent(content, column, interrupts=interrupts)
            if not indent:
                break
            opened.append(indent)
            column += indent
        return opened, min(column, len(content))

    def _block(self, content: str, column: int, span: Zone, depth: int, opened: list[int]) -> None:
        fence = _FENCE.match(content, column)
        alone = _HEADING.match(content, column) or _RULE.match(content, column)
        if self._prose and not (opened or fence or alone):
            self._prose = (self._prose[0], span[1])
            if _UNDERLINE.match(content, column) and depth == len(self._containers):
                self._end_prose()  # the paragraph was a heading
            return  # a paragraph goes on even where its containers do not
        self._end_prose()
        self._containers[depth:] = opened
        blank = _BLANK.match(content, column) is not None
        self._empty_item = blank and bool(opened) and opened[-1] != _QUOTE_MARK
        if fence:
            self._fence = (span[0], fence[1])
        elif alone or not content.startswith(_INDENTED, column):
            self._prose = None if blank else span
            if alone:
                self._end_prose()

    def _inside_fence(self, content: str, column: int, end: int) -> None:
        marks = _FENCE_END.match(content, column)
        if marks and self._fence and marks[1].startswith(self._fence[1]):
            self._end_fence(end)

    def _end_fence(self, end: int) -> None:
        if self._fence and self._fence[0] < end:
            self._zones.append((self._fence[0] - self._start, end - self._start))
        self._fence = None

    def _end_prose(self) -> None:
        if self._prose is None:
            return
        if self._entry.prose and self._head is None:
            self._head = self._runs(self._prose)
        else:
            self._zones += paired(self._runs(self._prose))
        self._prose = None

    def _runs(self, prose: Zone) -> tuple[Run, ...]:
        return runs(self._text, *prose, self._start)


def _item_indent(content: str, column: int, *, interrupts: bool) -> int:
    """The indentation of the list item that begins at ``column``, 0 where none does."""
    item = _ITEM.match(content, column)
    if item is None or _RULE.match(content, column):
        return 0
    number, spaces, follows = item.groups()
    empty = not follows
    if not (spaces or empty) or (interrupts and (empty or (number is not None and int(number) != 1))):
        return 0
    width = item.end() - column
    return width + (len(spaces) if not empty and len(spaces) <= 4 else 1)

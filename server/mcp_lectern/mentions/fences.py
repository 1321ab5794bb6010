"""Where Markdown is code, so that mentions there are none; must not know what a mention resolves to.

CommonMark 0.31, sections 4.5 (fenced code blocks), 5 (containers) and 6.1 (code spans), as far as they decide
that. Indented code, HTML and link definitions are read as prose.

A text may be read in stretches, which may end inside a long line. What one stretch hands on to the next holds
no offsets, so an edit concerns later stretches only if it changes the structure that they stand in.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import chain

from mcp_lectern.mentions.code_spans import NONE, Runs, Zone, escapes, pairing, runs, spans
from mcp_lectern.mentions.long_lines import HEAD, end_of_line, shortened

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


class Rest(Enum):
    """What the rest of a line is: code of a fence, text that may hold code spans, or neither."""

    CODE = auto()
    TEXT = auto()
    NEITHER = auto()


@dataclass(frozen=True, slots=True)
class Blocks:
    """The block structure that is open between two lines; inside a line, what will be open behind it.

    ``containers`` holds the indentation of each open list item and ``_QUOTE_MARK`` for each block quote;
    ``fence`` the marks of an open fence; ``prose`` is whether a paragraph is open, ``empty_item`` whether the
    innermost item has had no content yet. Inside a line ``rest`` is what goes on there, and ``escape``
    whether a back slash takes the next character.
    """

    containers: tuple[int, ...] = ()
    fence: str | None = None
    prose: bool = False
    empty_item: bool = False
    rest: Rest | None = None
    escape: bool = False

    @property
    def text(self) -> bool:
        """Whether a paragraph or heading goes on, in which a code span may end."""
        return self.prose or self.rest is Rest.TEXT


@dataclass(frozen=True, slots=True)
class Stretch:
    """The code in one stretch; all offsets count from its beginning.

    ``zones`` lie wholly inside. ``head`` holds the back ticks of the paragraph that is open at its beginning,
    ``tail`` those of the one that is open at its end; where both are the same one, that has only a head.
    """

    entry: Blocks
    exit: Blocks
    zones: tuple[Zone, ...]
    head: Runs
    tail: Runs | None = None


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
    """Read ``text[start:end]`` on from the structure that what is before it leaves open.

    Where it ends inside a line, all of that line decides, and the end must not part a line end.
    """
    scan = _Scan(text, start, end, entry)
    if entry.rest:
        start = scan.rest_of_line(start, end)
    while start < end:
        start = scan.step(start, end)
    return scan.finished(end)


def zones_of(stretches: Iterable[tuple[int, Stretch]]) -> list[Zone]:
    """The zones of neighbouring stretches, each given with its offset."""
    return list(chain.from_iterable(zone_steps(stretches)))


def zone_steps(stretches: Iterable[tuple[int, Stretch]]) -> Iterator[list[Zone]]:
    """The same in order, some at a time."""
    paragraph = NONE
    for base, one in stretches:
        paragraph = _with(paragraph, one.head, base)
        yield []
        if one.entry.text and one.exit.text and one.tail is None:
            continue
        if paragraph.begins:
            yield from pairing(paragraph)
        yield [(begin + base, end + base) for begin, end in one.zones]
        paragraph = NONE if one.tail is None else _with(NONE, one.tail, base)
    yield from pairing(paragraph)


def _with(paragraph: Runs, more: Runs, base: int) -> Runs:
    """The paragraph with more of its back ticks."""
    if not more.begins:
        return paragraph
    if paragraph is NONE:
        paragraph = Runs()
    paragraph.add(more, base)
    return paragraph


class _Scan:
    """The block structure, line by line. ``_fence`` is the beginning and the marks of an open fence,
    ``_prose`` the span of an open paragraph, as far as it lies in this stretch, or that of a ``_heading``;
    ``_cut`` the end of the stretch, if it lies inside a line.
    """  # noqa: D205 - one thought

    def __init__(self, text: str, start: int, end: int, entry: Blocks) -> None:
        self._text = text
        self._start = start
        inside = start < end < len(text) and text[end - 1] not in "\r\n"
        self._cut = end if inside else None
        self._entry = entry
        self._zones: list[Zone] = []
        self._containers = list(entry.containers)
        self._fence = None if entry.fence is None else (start, entry.fence)
        self._prose: Zone | None = (start, start) if entry.text else None
        self._heading = entry.text and not entry.prose
        self._rest: Rest | None = None
        self._empty_item = entry.empty_item
        self._head: Runs | None = None

    def rest_of_line(self, start: int, end: int) -> int:
        """Read on in a line whose kind is known; returns where the next one begins."""
        match = _LINE.match(self._text, start, end)
        assert match is not None
        if self._prose:
            self._prose = (start, match.end())
        elif self._entry.rest is Rest.CODE and not self._fence:
            self._zones.append((0, match.end() - start))  # the line closes its fence
        self._ended(match.end(), self._entry.rest)
        return match.end()

    def step(self, start: int, end: int) -> int:
        """Read the line at ``start``, or several that mean the same; returns where the next one begins."""
        if self._prose:
            # A line that begins with a letter goes on with a paragraph, whatever that stands in.
            if plain := _PLAIN.match(self._text, start, end):
                self._prose = (self._prose[0], plain.end())
                self._ended(plain.end(), Rest.TEXT)
                return plain.end()
        elif self._fence and not self._containers and (code := _CODE.match(self._text, start, end)):
            return code.end()
        match = _LINE.match(self._text, start, end)
        assert match is not None
        line = match[1]
        if match.end() == self._cut:
            line = shortened(self._text, start, end_of_line(self._text, match.end()))
        elif len(line) > HEAD:
            line = shortened(self._text, start, match.end(1))
        self._ended(match.end(), self._line(start, match.end(), line.expandtabs(4)))
        return match.end()

    def finished(self, end: int) -> Stretch:
        """What was found, once every line was seen."""
        fence, prose = self._fence, self._prose
        tail: Runs | None = None
        head = self._head
        if prose and self._entry.text and head is None:
            head = self._runs(prose)
        elif prose:
            tail = self._runs(prose)
        self._end_fence(end)
        exit_ = Blocks(
            tuple(self._containers),
            fence[1] if fence else None,
            prose is not None and not self._heading,
            self._empty_item,
            self._rest,
            self._rest is Rest.TEXT and prose is not None and self._escapes(prose),
        )
        return Stretch(self._entry, exit_, tuple(self._zones), head or NONE, tail)

    def _ended(self, position: int, rest: Rest | None) -> None:
        """What is read up to ``position``: a whole line, or the beginning of one that goes on as ``rest``."""
        if position == self._cut:
            self._rest = rest
        elif self._heading:
            self._end_prose()
            self._heading = False

    def _line(self, start: int, end: int, content: str) -> Rest:
        """What a line is that is read up to ``end``, to which it may be longer."""
        depth, column = self._matched(content)
        if self._fence:
            if depth == len(self._containers):
                self._inside_fence(content, column, end)
                return Rest.CODE
            self._end_fence(start)
        if _BLANK.match(content, column):
            self._end_prose()
            # An item whose first line is empty does not outlive a second one.
            del self._containers[depth - (self._empty_item and depth == len(self._containers)) :]
            self._empty_item = False
            return Rest.NEITHER
        opened, column = self._opened(content, column, depth)
        return self._block(content, column, (start, end), depth, opened)

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

    def _block(self, content: str, column: int, span: Zone, depth: int, opened: list[int]) -> Rest:
        fence = _FENCE.match(content, column)
        alone = _HEADING.match(content, column) or _RULE.match(content, column)
        if self._prose and not (opened or fence or alone):
            self._prose = (self._prose[0], span[1])
            if _UNDERLINE.match(content, column) and depth == len(self._containers):
                self._end_prose()  # the paragraph was a heading
                return Rest.NEITHER
            return Rest.TEXT  # a paragraph goes on even where its containers do not
        self._end_prose()
        self._containers[depth:] = opened
        blank = _BLANK.match(content, column) is not None
        self._empty_item = blank and bool(opened) and opened[-1] != _QUOTE_MARK
        if fence:
            self._fence = (span[0], fence[1])
            return Rest.CODE
        if blank or (not alone and content.startswith(_INDENTED, column)):
            return Rest.NEITHER
        self._prose, self._heading = span, alone is not None
        return Rest.TEXT

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
        if self._entry.text and self._head is None:
            self._head = self._runs(self._prose)
        else:
            self._zones += spans(self._text, *self._prose, self._start)
        self._prose = None

    def _runs(self, prose: Zone) -> Runs:
        return runs(self._text, *prose, self._start, escape=prose[0] == self._start and self._entry.escape)

    def _escapes(self, prose: Zone) -> bool:
        return escapes(self._text, *prose, escape=prose[0] == self._start and self._entry.escape)


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

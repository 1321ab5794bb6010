"""Where Markdown is code, so that mentions there are none; must not know what a mention resolves to.

CommonMark 0.31, sections 4.5 (fenced code blocks), 5 (containers) and 6.1 (code spans), as far as they decide
that. Indented code, HTML and link definitions are read as prose.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from mcp_lectern.mentions.model import Mention

_LINE = re.compile(r"([^\r\n]*+)(?:\r\n?|\n|\Z)")
_BLANK = re.compile(r" *$")
_FENCE = re.compile(r" {0,3}(`{3,}+(?=[^`]*$)|~{3,}+)")
_FENCE_END = re.compile(r" {0,3}(`{3,}+|~{3,}+) *$")
_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r" {0,3}(?:[-+*]|(\d{1,9})[.)])(?=( *+)(.?))")
_RULE = re.compile(r" {0,3}(?:(?:\* *+){3,}+|(?:_ *+){3,}+|(?:- *+){3,}+)$")
_UNDERLINE = re.compile(r" {0,3}(?:=++|-++) *$")
_HEADING = re.compile(r" {0,3}#{1,6}(?: |$)")
_TICKS = re.compile("`+")
_INDENTED = "    "
_QUOTE_MARK = 0
# Deeper nesting is read as prose, so that the cost of a line stays bounded.
_DEPTH_LIMIT = 24


def dead_zones(text: str) -> list[tuple[int, int]]:
    """The fenced code blocks (whole lines) and code spans of a Markdown text, in order, without overlap."""
    if "`" not in text and "~~~" not in text:
        return []
    scan = _Scan(text)
    for match in _LINE.finditer(text):
        scan.line(match.start(), match.end(), match[1].expandtabs(4))
    return scan.finished()


def outside(mentions: Iterable[Mention], zones: list[tuple[int, int]]) -> list[Mention]:
    """The mentions that touch none of the zones."""
    ends = [end for _, end in zones]

    def alive(mention: Mention) -> bool:
        index = bisect_right(ends, mention.start)
        return index == len(zones) or zones[index][0] >= mention.end

    return [mention for mention in mentions if alive(mention)]


class _Scan:
    """The block structure, line by line.

    ``_containers`` holds the indentation of each open list item and ``_QUOTE_MARK`` for each block quote;
    ``_fence`` the beginning and the marks of an open fence; ``_prose`` the span of an open paragraph.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._zones: list[tuple[int, int]] = []
        self._containers: list[int] = []
        self._fence: tuple[int, str] | None = None
        self._prose: tuple[int, int] | None = None
        self._empty_item = False

    def line(self, start: int, end: int, content: str) -> None:
        if self._prose and not self._containers and content[:1].isalpha():
            self._prose = (self._prose[0], end)  # most lines of most texts
            return
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

    def finished(self) -> list[tuple[int, int]]:
        """The zones, once every line was seen."""
        self._end_prose()
        if self._fence:
            self._end_fence(len(self._text))
        return self._zones

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

    def _block(self, content: str, column: int, span: tuple[int, int], depth: int, opened: list[int]) -> None:
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
        if self._fence:
            self._zones.append((self._fence[0], end))
        self._fence = None

    def _end_prose(self) -> None:
        if self._prose:
            self._zones.extend(_code_spans(self._text, *self._prose))
        self._prose = None


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


def _code_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans between equally long runs of back ticks; a back slash takes the first one of an opener."""
    runs = [match.span() for match in _TICKS.finditer(text, start, end)]
    closers: dict[int, list[int]] = {}
    for begin, stop in runs:
        closers.setdefault(stop - begin, []).append(begin)
    position = start
    for begin, stop in runs:
        if begin < position:
            continue
        opener = begin + _escaped(text, begin, start)
        candidates = closers.get(stop - opener, [])
        index = bisect_right(candidates, begin)
        if opener < stop and index < len(candidates):
            position = candidates[index] + stop - opener
            yield opener, position


def _escaped(text: str, position: int, start: int) -> int:
    """1 where an odd number of back slashes stands before ``position``, else 0."""
    slashes = position
    while slashes > start and text[slashes - 1] == "\\":
        slashes -= 1
    return (position - slashes) % 2

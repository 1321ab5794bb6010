"""The text of an open document as the editor sees it; must not know the protocol's own types.

Offsets are code points of the Python string; positions are (line, character), zero-based, the character
in units of a position encoding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from mcp_lectern.text.encodings import Encoding, code_points, units
from mcp_lectern.text.lines import LineIndex

Position: TypeAlias = tuple[int, int]
Range: TypeAlias = tuple[Position, Position]
Change: TypeAlias = tuple[Range | None, str]
"""A range and the text that replaces it; the whole text where the range is None."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Document:
    """One open document: its text, kept equal to the editor's over full and incremental changes.

    ``version`` is the editor's own, None where it tells none; ``edition`` differs after every change.
    ``watch`` is told of each one: where the replaced text began and ended, and the whole text since.
    """

    __slots__ = ("_index", "_text", "edition", "language_id", "uri", "version", "watch")

    def __init__(self, uri: str, language_id: str, version: int | None, text: str) -> None:
        self.uri = uri
        self.language_id = language_id
        self.version = version
        self.edition = 0
        self.watch: Callable[[int, int, str], None] | None = None
        self._set(text)

    @property
    def text(self) -> str:
        """The whole text."""
        return self._text

    @property
    def line_count(self) -> int:
        """The number of lines, one at least; behind a final line end there is an empty line."""
        return len(self._index)

    def line(self, number: int) -> str:
        """The text of a line without its line end; empty outside the document."""
        if not 0 <= number < len(self._index):
            return ""
        start, end = self._bounds(number)
        return self._text[start:end]

    def offset(self, line: int, character: int, encoding: Encoding) -> int:
        """The offset of a position; clamps to the line, the document, and the beginning of a character."""
        if line < 0:
            return 0
        if line >= len(self._index):
            return len(self._text)
        start, end = self._bounds(line)
        # No more code points than units: a long line is never looked at as a whole.
        return start + code_points(
            self._text[start : min(end, start + max(character, 0))], character, encoding
        )

    def position(self, offset: int, encoding: Encoding) -> Position:
        """The position of an offset; one outside the text or inside a line end clamps."""
        line, start, end = self.line_around(offset)
        return line, units(self._text[start : max(min(offset, end), start)], encoding)

    def line_around(self, offset: int) -> tuple[int, int, int]:
        """The line that holds an offset, where it begins and where its line end begins."""
        line = self._index.line_at(min(max(offset, 0), len(self._text)))
        return line, *self._bounds(line)

    def apply(self, changes: Sequence[Change], version: int | None, encoding: Encoding) -> None:
        """Apply changes in order, each to the text that the one before it left."""
        for target, text in changes:
            if target is None:
                self._replace_all(text)
            else:
                first, second = (self.offset(*position, encoding) for position in target)
                self._splice(min(first, second), max(first, second), text)
        self.version = version

    def _bounds(self, line: int) -> tuple[int, int]:
        """Where a line begins and where its line end begins."""
        start = self._index.start(line)
        if line + 1 == len(self._index):
            return start, len(self._text)
        end = self._index.start(line + 1) - 1
        if end > start and self._text[end] == "\n" and self._text[end - 1] == "\r":
            end -= 1
        return start, end

    def _set(self, text: str) -> None:
        self._text = _joined(text)
        self._index = LineIndex(self._text)

    def _splice(self, start: int, end: int, text: str) -> None:
        before = self._text
        after = "".join((before[:start], text, before[end:]))
        # An editor that counts UTF-16 may complete a pair with two edits; here it is one character then.
        if _SURROGATE.search(after, max(start - 1, 0), start + len(text) + 1):
            self._replace_all(after)
            return
        self._text = after
        self._index.replace(before, start, end, after)
        self._tell(start, end)

    def _replace_all(self, text: str) -> None:
        length = len(self._text)
        self._set(text)
        self._tell(0, length)

    def _tell(self, start: int, end: int) -> None:
        self.edition += 1
        if self.watch is not None:
            self.watch(start, end, self._text)


def _joined(text: str) -> str:
    """The text with each high surrogate and the low one behind it made the character that they stand for."""
    try:
        text.encode()  # by far the fastest way to learn that there is none
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text

r"""Where the lines of a text begin, kept right over edits without looking at the rest; knows no encodings.

A line ends at ``\n``, ``\r\n`` or ``\r`` and at nothing else (LSP 3.17, "Text documents").
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

_LINE_END = re.compile(r"\r\n?|\n")


def line_starts(text: str) -> list[int]:
    """The offsets at which lines begin: 0 first, and one behind every line end."""
    if "\r" in text:
        return [0, *(match.end() for match in _LINE_END.finditer(text))]
    if "\n" not in text:
        return [0]
    # Twice as fast as matching, and most documents know no carriage return.
    starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
    starts.pop()
    return starts


class LineIndex:
    """The beginnings of all lines of one text.

    Entries from ``_gap`` on are stale by ``_shift``: an edit then costs what lies between it and the edit
    before, not the rest of the document, and people edit close to where they edited last.
    """

    __slots__ = ("_gap", "_shift", "_starts")

    def __init__(self, text: str) -> None:
        self._starts = line_starts(text)
        self._gap = len(self._starts)
        self._shift = 0

    def __len__(self) -> int:
        """The number of lines; a text that ends with a line end has an empty last line."""
        return len(self._starts)

    def start(self, line: int) -> int:
        """The offset at which ``line`` begins; raises IndexError outside the text."""
        return self._starts[line] + (self._shift if line >= self._gap else 0)

    def line_at(self, offset: int) -> int:
        """The line that holds ``offset``."""
        gap, starts = self._gap, self._starts
        if gap < len(starts) and offset >= starts[gap] + self._shift:
            return bisect_right(starts, offset - self._shift, gap) - 1
        return bisect_right(starts, offset, 0, gap) - 1

    def replace(self, before: str, start: int, end: int, after: str) -> None:
        """Follow an edit that replaced ``before[start:end]`` and led to ``after``."""
        delta = len(after) - len(before)
        first, last = self.line_at(start), self.line_at(end)
        if first and start == self.start(first) and before[start - 1] == "\r":
            first -= 1  # a line feed may now complete this carriage return
        window_start = self.start(first)
        window_end = self.start(last + 1) if last + 1 < len(self) else len(before)
        found = line_starts(after[window_start : window_end + delta])
        if last + 1 < len(self):
            found.pop()  # it is the line behind the window, which is in the index already
        self._move_gap(last + 1)
        self._starts[first : last + 1] = [window_start + offset for offset in found]
        self._gap = first + len(found)
        self._shift += delta

    def _move_gap(self, line: int) -> None:
        """Settle the entries between the old gap and ``line``."""
        starts, shift = self._starts, self._shift
        if shift and self._gap < line:
            starts[self._gap : line] = [start + shift for start in starts[self._gap : line]]
        elif shift and line < self._gap:
            starts[line : self._gap] = [start - shift for start in starts[line : self._gap]]
        self._gap = line

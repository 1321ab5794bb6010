"""Cuts a text into pieces that can be read one by one; must not know what is configured or listed.

A piece ends where a line ends or, in a long line, behind something that no bare URI holds. So only a quoted
mention, or a server's name that holds a "<", can be in two of them.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from mcp_lectern.mentions.fences import Stretch, may_hold_code
from mcp_lectern.mentions.grammar import HARD_STOP, SOFT, STOP
from mcp_lectern.mentions.model import Mention

PIECE = 4096
"""Code points of a piece; some more, where lines or the words of a line are long."""

_LINE_END = re.compile(r"\r\n?|\n")


class Ending(Enum):
    """Whether a mention that begins in a piece or before it may go on behind it, by the piece alone.

    ``QUOTELESS``: if it began before; ``CLOSED``: none does; ``OPEN``: it may.
    """

    QUOTELESS = auto()
    CLOSED = auto()
    OPEN = auto()


QUOTELESS, CLOSED, OPEN = Ending.QUOTELESS, Ending.CLOSED, Ending.OPEN


class Piece:
    """A stretch of text. ``mentions`` holds what was found when it began at ``base``, None if not yet.

    They are those that begin from ``entry`` on, which is where one ends that began before; ``exit`` is how
    far behind the piece its last one reaches, ``looked_at`` how far from its beginning the text decides about
    them. About the ``code`` of a piece that begins a line the whole line decides.
    """

    __slots__ = (
        "base",
        "begins_line",
        "code",
        "ending",
        "entry",
        "exit",
        "length",
        "looked_at",
        "marks",
        "mentions",
    )

    def __init__(self, text: str, start: int, stop: int, *, begins_line: bool) -> None:
        self.length = stop - start
        self.marks = may_hold_code(text, start, stop)
        self.begins_line = begins_line
        self.ending = _ending(text, start, stop)
        self.base = self.entry = self.exit = self.looked_at = 0
        self.mentions: list[Mention] | None = None
        self.code: Stretch | None = None

    def found(self, start: int, entry: int, mentions: list[Mention], looked_at: int) -> None:
        """What was read when the piece began at ``start``."""
        last = mentions[-1].end - start if mentions else entry
        self.base, self.entry, self.mentions = start, entry, mentions
        self.exit, self.looked_at = max(0, last - self.length), looked_at - start

    def placed(self, start: int) -> list[Mention]:
        """The mentions, now that the piece begins at ``start``."""
        found = self.mentions or []
        if self.base != start:
            by, self.base = start - self.base, start
            found = self.mentions = [mention.moved(by) for mention in found]
        return found


def cut(text: str, start: int, end: int, *, begins_line: bool) -> list[Piece]:
    """Pieces of ``text[start:end]``; one at least. ``begins_line``: whether the first one does."""
    pieces: list[Piece] = []
    while start < end or not pieces:
        stop = _stop(text, start, end, begins_line=begins_line)
        pieces.append(Piece(text, start, stop, begins_line=begins_line))
        begins_line = text[stop - 1 : stop] in ("\n", "\r")
        start = stop
    return pieces


def _stop(text: str, start: int, end: int, *, begins_line: bool) -> int:
    """Where the piece ends that begins at ``start``: a long line has pieces of its own."""
    near, far = start + PIECE, min(end, start + 2 * PIECE)
    if not begins_line or near < end:
        line_end = _LINE_END.search(text, near if begins_line else start, far)
        if line_end:
            # The whole of it: the bound of the search may have parted it.
            return line_end.end() if line_end.end() < far else _line_end(text, line_end.start(), end)
    if near >= end:
        return end
    before = max(text.rfind("\n", start, near), text.rfind("\r", start, near))
    if before >= 0:
        return before + 1
    found = HARD_STOP.search(text, near, far) or STOP.search(text, near, end)
    return end if found is None else _line_end(text, found.start(), end)


def _line_end(text: str, start: int, end: int) -> int:
    """The end of the line end at ``start``, or of the one character."""
    match = _LINE_END.match(text, start, end)
    return match.end() if match else start + 1


def _ending(text: str, start: int, stop: int) -> Ending:
    if text[stop - 1 : stop] in SOFT:
        return OPEN
    quote = text.rfind('"', start, stop)
    if quote < 0:
        return QUOTELESS
    # One behind a back slash may belong to what is quoted, one behind an "@" may begin it.
    return OPEN if quote > start and text[quote - 1] in "@\\" else CLOSED

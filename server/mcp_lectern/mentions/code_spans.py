"""The code spans of one paragraph (CommonMark 0.31, section 6.1); must not know where paragraphs end."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

Run = tuple[int, int, bool]
"""Where back ticks begin and end, and whether a back slash takes the first one if they open a span."""

_TICKS = re.compile("`+")


def runs(text: str, start: int, end: int, origin: int = 0) -> tuple[Run, ...]:
    """The runs of back ticks in ``text[start:end]``, lines of one paragraph; counted from ``origin``."""
    return tuple(
        (match.start() - origin, match.end() - origin, _escaped(text, match.start(), start))
        for match in _TICKS.finditer(text, start, end)
    )


def paired(found: Sequence[Run]) -> Iterator[tuple[int, int]]:
    """The spans between equally long runs of one paragraph, in order."""
    closers: dict[int, list[int]] = {}
    for begin, stop, _ in found:
        closers.setdefault(stop - begin, []).append(begin)
    position = -1
    for begin, stop, escaped in found:
        if begin < position:
            continue
        opener = begin + escaped
        candidates = closers.get(stop - opener, [])
        index = bisect_right(candidates, begin)
        if opener < stop and index < len(candidates):
            position = candidates[index] + stop - opener
            yield opener, position


def _escaped(text: str, position: int, start: int) -> bool:
    """Whether an odd number of back slashes stands before ``position``."""
    slashes = position
    while slashes > start and text[slashes - 1] == "\\":
        slashes -= 1
    return (position - slashes) % 2 == 1

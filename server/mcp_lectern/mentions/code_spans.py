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
    spans = [match.span() for match in _TICKS.finditer(text, start, end)]
    if text.find("\\`", start, end) < 0:
        # A long line of a machine's may have very many, and hardly any has escapes.
        return tuple([(begin - origin, stop - origin, False) for begin, stop in spans])
    return tuple(
        (
            begin - origin,
            stop - origin,
            begin > start and text[begin - 1] == "\\" and _odd(text, begin, start),
        )
        for begin, stop in spans
    )


def paired(found: Sequence[Run]) -> Iterator[tuple[int, int]]:
    """The spans between equally long runs of one paragraph, in order."""
    closers: dict[int, list[int]] | None = None
    number, count = 0, len(found)
    while number < count:
        begin, stop, escaped = found[number]
        opener, number = begin + escaped, number + 1
        length = stop - opener
        if not length or number == count:
            continue
        closing = number
        if found[number][1] - found[number][0] != length:
            closers = _by_length(found) if closers is None else closers
            same = closers.get(length, [])
            index = bisect_right(same, number)
            if index == len(same):
                continue
            closing = same[index]
        number = closing + 1
        yield opener, found[closing][1]


def _by_length(found: Sequence[Run]) -> dict[int, list[int]]:
    """The numbers of the runs of each length."""
    numbers: dict[int, list[int]] = {}
    for number, (begin, stop, _) in enumerate(found):
        numbers.setdefault(stop - begin, []).append(number)
    return numbers


def _odd(text: str, position: int, start: int) -> bool:
    """Whether an odd number of back slashes stands before ``position``."""
    slashes = position
    while slashes > start and text[slashes - 1] == "\\":
        slashes -= 1
    return (position - slashes) % 2 == 1

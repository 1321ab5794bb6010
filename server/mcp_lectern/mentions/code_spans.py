"""The code spans of one paragraph (CommonMark 0.31, section 6.1); must not know where paragraphs end.

Hostile text is all back ticks: they are kept as plain numbers, which cost little to keep and to let go of,
and what looks at all of them can pause.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain

Zone = tuple[int, int]

_TICKS_OR_NOT = re.compile("`+|[^`]+")
_AT_ONCE = 2_000
"""Runs that are looked at between two pauses."""


class Runs:
    """The runs of back ticks in a part of a paragraph: where they begin, and how long they are.

    ``escaped`` holds the numbers of those whose first one a back slash takes if they open a span.
    """

    __slots__ = ("begins", "escaped", "lengths")

    def __init__(self, begins: Iterable[int] = (), lengths: Iterable[int] = ()) -> None:
        self.begins = array("q", begins)
        self.lengths = array("q", lengths)
        self.escaped: set[int] = set()

    def add(self, more: Runs, base: int) -> None:
        """Append those of the next part, which count from ``base``; one that was cut in two is one again."""
        if not more.begins:
            return
        joined = bool(self.begins) and self.begins[-1] + self.lengths[-1] == base + more.begins[0]
        if joined:
            self.lengths[-1] += more.lengths[0]
        first = len(self.begins) - joined
        self.begins.extend(begin + base for begin in more.begins[joined:])
        self.lengths.extend(more.lengths[joined:])
        if more.escaped:
            self.escaped.update(first + number for number in more.escaped if number >= joined)


NONE = Runs()
"""Nobody adds to this one: most paragraphs have no back ticks, and it costs nothing."""


def runs(text: str, start: int, end: int, origin: int = 0, *, escape: bool = False) -> Runs:
    """The runs of back ticks in ``text[start:end]``, a part of one paragraph; counted from ``origin``.

    ``escape``: an odd number of back slashes stands before the part.
    """
    first = text.find("`", start, end)
    if first < 0:
        return NONE
    lengths = list(map(len, _TICKS_OR_NOT.findall(text, first, end)))
    begins = list(accumulate(lengths, initial=first - origin))
    found = Runs(begins[:-1:2], lengths[::2])
    if escape or text.find("\\`", start, end) >= 0:
        behind = start
        for number, (begin, length) in enumerate(zip(found.begins, found.lengths, strict=True)):
            if escapes(text, behind, begin + origin, escape=escape and not number):
                found.escaped.add(number)
            behind = begin + origin + length
    return found


def escapes(text: str, start: int, end: int, *, escape: bool = False) -> bool:
    """Whether an odd number of back slashes stands at the end of ``text[start:end]``.

    ``escape``: so it is before it; that counts where nothing else stands between.
    """
    if start == end or text[end - 1] != "\\":
        return escape and start == end
    part = text[start:end]
    slashes = len(part) - len(part.rstrip("\\"))
    return (slashes + (escape and slashes == len(part))) % 2 == 1


def spans(text: str, start: int, end: int, origin: int = 0) -> list[Zone]:
    """The code spans of the paragraph ``text[start:end]``, in order; counted from ``origin``."""
    first = text.find("`", start, end)
    second = text.find("`", first + 1, end) if first >= 0 else -1
    if second < 0:
        return []
    if text.find("`", second + 1, end) < 0 and text[first - 1 : first] != "\\":
        # By far the most paragraphs with any hold one short span.
        return [(first - origin, second + 1 - origin)] if second > first + 1 else []
    return list(chain.from_iterable(pairing(runs(text, start, end, origin))))


def pairing(found: Runs) -> Iterator[list[Zone]]:
    """The spans between equally long runs of one paragraph, in order, some at a time."""
    begins, lengths, escaped = found.begins, found.lengths, found.escaped
    numbers: dict[int, array[int]] = {}
    some: list[Zone] = []
    number, count, pause = 0, len(begins), _AT_ONCE
    while number < count:
        if number >= pause:
            yield some
            some, pause = [], number + _AT_ONCE
        taken = number in escaped
        opener, length = begins[number] + taken, lengths[number] - taken
        number += 1
        if not length or number == count:
            continue
        closing = number
        if lengths[number] != length:
            if not numbers:
                for _ in _by_length(lengths, numbers):
                    yield []
            same = numbers.get(length, ())
            index = bisect_right(same, number)
            if index == len(same):
                continue
            closing = same[index]
        number = closing + 1
        some.append((opener, begins[closing] + lengths[closing]))
    yield some


def _by_length(lengths: array[int], numbers: dict[int, array[int]]) -> Iterator[None]:
    """Find the numbers of the runs of each length, some at a time."""
    for number, length in enumerate(lengths):
        if length not in numbers:
            numbers[length] = array("q")
        numbers[length].append(number)
        if not number % _AT_ONCE:
            yield

"""The words of an index in sorted order, each with its records; must not know where a word stands.

It is built in slices, each sorted by itself and then merged: sorting all at once would hold the interpreter,
and with it whoever types, for as long as that takes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from operator import itemgetter
from typing import Any

WORD_END = b"\n"
SLICE = 8_192
"""Numbers, or different words, that are sorted in one go: some milliseconds."""

_Run = tuple[bytes, "array[int]", "array[int]"]
"""Sorted words, how many records each has, and all records in a row."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All words of an index in order, one a line, and for each the ascending numbers of its records."""

    text: bytes
    starts: array[int]
    offsets: array[int]
    postings: array[int]

    def __len__(self) -> int:
        return len(self.starts)

    def word(self, number: int) -> bytes:
        """The word of this number, in sorted order."""
        start = self.starts[number]
        return self.text[start : self.text.index(WORD_END, start)]

    def prefixed(self, prefix: bytes) -> range:
        """The numbers of the words that begin so."""
        low = bisect_left(range(len(self)), prefix, key=self.word)
        # 0xff is in no UTF-8 text, so this is behind every word with the prefix.
        high = bisect_left(range(len(self)), prefix + b"\xff", low, key=self.word)
        return range(low, high)

    def exactly(self, word: bytes) -> range:
        """The number of this word, as a range of one, or an empty one."""
        low = bisect_left(range(len(self)), word, key=self.word)
        return range(low, low + (low < len(self) and self.word(low) == word))

    def containing(self, part: bytes, most: int) -> Iterator[range]:
        """Words in which this stands (``part`` may end with the line's end), ``most`` at most."""
        position = self.text.find(part)
        while position >= 0 and most > 0:
            number = bisect_right(self.starts, position) - 1
            yield range(number, number + 1)
            most -= 1
            following = number + 1
            position = self.text.find(part, self.starts[following]) if following < len(self) else -1

    def count(self, words: range) -> int:
        """How many postings these neighbouring words have."""
        return self.offsets[words.stop] - self.offsets[words.start] if words else 0

    def records(self, words: range) -> array[int]:
        """The record numbers of neighbouring words; ascending only where it is a single word."""
        return self.postings[self.offsets[words.start] : self.offsets[words.stop]]


def vocabulary_of(records: Iterable[Collection[bytes]]) -> Vocabulary:
    """All words of these records, each of which has any word once."""
    text, starts, offsets, postings = bytearray(), array("I"), array("I"), array("I")
    last: bytes | None = None
    for word, numbers in merge(*map(_words, [*_runs(records)]), key=itemgetter(0)):
        if word != last:
            starts.append(len(text))
            offsets.append(len(postings))
            text += word + WORD_END
            last = word
        postings.extend(numbers)
    offsets.append(len(postings))
    return Vocabulary(bytes(text), starts[:], offsets[:], postings[:])


def sorted_in_slices(numbers: Sequence[int], key: Callable[[int], Any]) -> Iterator[int]:
    """As ``sorted``, stable too, but in steps that are short for any number of them."""
    slices = (numbers[first : first + SLICE] for first in range(0, len(numbers), SLICE))
    return merge(*[array("I", sorted(each, key=key)) for each in slices], key=key)


def _runs(records: Iterable[Collection[bytes]]) -> Iterator[_Run]:
    by_word: defaultdict[bytes, list[int]] = defaultdict(list)
    for number, found in enumerate(records):
        for word in found:
            by_word[word].append(number)
        if len(by_word) >= SLICE:
            yield _run(by_word)
            by_word.clear()
    yield _run(by_word)


def _run(by_word: dict[bytes, list[int]]) -> _Run:
    ordered = sorted(by_word)
    postings = array("I")
    for word in ordered:
        postings.extend(by_word[word])
    counts = array("I", [len(by_word[word]) for word in ordered])
    return b"".join(word + WORD_END for word in ordered), counts, postings


def _words(run: _Run) -> Iterator[tuple[bytes, array[int]]]:
    text, counts, postings = run
    position = posting = 0
    for count in counts:
        end = text.index(WORD_END, position)
        yield text[position:end], postings[posting : posting + count]
        position, posting = end + 1, posting + count

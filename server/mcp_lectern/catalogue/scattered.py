"""The weakest matches: a query as pieces that each begin a word; must not know how hits are ordered.

Bounded work on a list of any length: in a long one only records that hold a rare piece are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from mcp_lectern.catalogue.candidates import substring_hits
from mcp_lectern.catalogue.fold import WORD_BYTES, humps, words
from mcp_lectern.catalogue.index import NAME_END, TITLE_END, TextIndex
from mcp_lectern.mcp.wire.packed import Entry

DIGITS = frozenset(b"0123456789")
MOST_RECORDS = 1_000
MOST_WORDS = 40
LONGEST_QUERY = 24
_FIELD_ENDS = re.compile(NAME_END + b"|" + TITLE_END)


def scattered_hits(index: TextIndex[Entry], query: bytes, most: int) -> list[int]:
    """The best records that hold all terms (where the query has spaces) or its pieces in order, ascending."""
    terms = query.split()
    if len(terms) > 1:
        numbers: Iterable[int] = substring_hits(index, max(terms, key=len), MOST_RECORDS)
        for term in terms:
            numbers = index.holding(numbers, term)
        return list(islice(numbers, most))
    if not _can_be_scattered(query):
        return []
    return list(islice((n for n in _candidates(index, query) if _is(index, n, query)), most))


def is_scattered(index: TextIndex[Entry], number: int, query: bytes) -> bool:
    """Whether one record is such a match."""
    terms = query.split()
    if len(terms) > 1:
        record = index.record(number)
        return all(term in record for term in terms)
    return _can_be_scattered(query) and _is(index, number, query)


def _can_be_scattered(query: bytes) -> bool:
    return 2 <= len(query) <= LONGEST_QUERY and query[0] not in DIGITS and WORD_BYTES.issuperset(query)


def _is(index: TextIndex[Entry], number: int, query: bytes) -> bool:
    return _in_order(index.record(number), query) and _begins_words(index, number, query)


def _candidates(index: TextIndex[Entry], query: bytes) -> list[int]:
    if len(index.entries) <= MOST_RECORDS:
        return list(range(len(index.entries)))
    vocabulary = index.vocabulary
    pieces = {query[:cut] for cut in range(1, len(query))} | {query[cut:] for cut in range(1, len(query))}
    ranges = sorted((vocabulary.prefixed(piece) for piece in pieces), key=vocabulary.count)
    numbers: set[int] = set()
    for found in ranges:
        if len(numbers) + vocabulary.count(found) > MOST_RECORDS:
            break
        numbers.update(vocabulary.records(found))
    return sorted(numbers)


def _in_order(record: bytes, query: bytes) -> bool:
    """Whether the query's bytes stand in this order: cheap, and false for nearly all records."""
    position = -1
    for byte in query:
        position = record.find(byte, position + 1)
        if position < 0:
            return False
    return True


def _begins_words(index: TextIndex[Entry], number: int, query: bytes) -> bool:
    """Whether in one field the query falls into pieces that begin words, in order."""
    name, title, uri = map(words, _FIELD_ENDS.split(index.record(number), 2))
    return any(_covers(field, query) for field in (name + humps(index.written_name(number)), title, uri))


def _covers(starting: list[bytes], query: bytes) -> bool:
    """Linear in the number of words times the query's length."""
    reached = {0}
    for word in starting[:MOST_WORDS]:
        if word[0] in query:
            for begun in tuple(reached):
                reached.update(_reached(query, begun, word))
        if len(query) in reached:
            return True
    return False


def _reached(query: bytes, begun: int, word: bytes) -> Iterator[int]:
    """How far the query gets from here with the first, the first two, ... letters of the word."""
    for place, (ours, theirs) in enumerate(zip(query[begun:], word, strict=False), begun + 1):
        if ours != theirs:
            return
        yield place

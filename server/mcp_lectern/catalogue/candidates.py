"""Which records of an index hold a query, found by its rarest word; must not know how hits are ordered.

A query is cut at its delimiters. In any record that holds it an inner piece is a whole word, the last one
begins a word, and the first one ends a word (where the hit is to start at a word start, it is a whole word).
All functions answer with the best records, ascending, at most ``most`` of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from itertools import chain, islice

from mcp_lectern.catalogue.fold import WORD_BYTES, humps, words
from mcp_lectern.catalogue.index import NAME_END, RECORD_END, TITLE_END, TextIndex
from mcp_lectern.mcp.wire.packed import Entry

SCAN_BYTES = 400_000
"""So much text is scanned, best records first, before a search inside words goes through the vocabulary."""

MOST_WORDS = 20_000
"""So many words of the vocabulary are looked at when a piece may stand anywhere in a word."""

FEW = 250
"""Records that are compared field by field."""


def whole_hits(index: TextIndex[Entry], query: bytes, most: int) -> list[int]:
    """Where the query is the whole name; or the whole title or URI, unless each of its words is common."""
    found = set(index.exactly_named(query)[: most + FEW])
    pieces = words(query)
    if pieces:
        rarest = min(map(index.vocabulary.exactly, pieces), key=index.vocabulary.count)
        if index.vocabulary.count(rarest) <= FEW:
            numbers = index.vocabulary.records(rarest)
            found.update(index.holding(numbers, NAME_END + query + TITLE_END))
            found.update(index.holding(numbers, TITLE_END + query + RECORD_END))
    return sorted(found)[:most]


def name_prefix_hits(index: TextIndex[Entry], query: bytes, most: int) -> list[int]:
    """Where the name begins with the query."""
    named = index.named(query)
    if len(named) <= max(500, len(index.entries) // 32):
        return sorted(named)[:most]
    text, starts = index.text, index.starts
    return list(islice((n for n, start in enumerate(starts) if text.startswith(query, start)), most))


def word_start_hits(index: TextIndex[Entry], query: bytes, most: int) -> list[int]:
    """Where the query stands at a word start."""
    pieces = words(query)
    if not pieces or query[0] not in WORD_BYTES:
        return substring_hits(index, query, most) if pieces else []
    vocabulary = index.vocabulary
    if pieces == [query]:
        found = vocabulary.prefixed(query)
        if vocabulary.count(found) > _dense(index):
            return _dense_word_starts(index, query, found, most)
        return sorted(set(vocabulary.records(found)))[:most]
    first = vocabulary.records(vocabulary.exactly(pieces[0]))
    rarest = _rarest(index, query, pieces, first=vocabulary.exactly(pieces[0]))
    return list(islice((n for n in _holding(index, query, rarest) if _among(n, first)), most))


def begins_word(index: TextIndex[Entry], number: int, query: bytes) -> bool:
    """Whether the query stands at a word start of one record: what ``word_start_hits`` finds."""
    record, pieces = index.record(number), words(query)
    if not pieces or query[0] not in WORD_BYTES:
        return bool(pieces) and query in record
    return starts_word(record, query) or (pieces == [query] and _begins_hump(index, number, query))


def starts_word(text: bytes, query: bytes) -> bool:
    """Whether the query (both folded) stands in the text behind a delimiter or at its start."""
    position = text.find(query)
    while position > 0 and text[position - 1] in WORD_BYTES:
        position = text.find(query, position + 1)
    return position >= 0


def _begins_hump(index: TextIndex[Entry], number: int, query: bytes) -> bool:
    return any(hump.startswith(query) for hump in humps(index.written(number)))


def _dense_word_starts(index: TextIndex[Entry], query: bytes, found: range, most: int) -> list[int]:
    """The best records of words that very many have, read off the text: no postings need to be sorted.

    The text shows word starts at delimiters. Those inside a run of letters are looked for in the first
    records that hold the query, and in the postings where there are too few others.
    """
    hits: list[int] = []
    looks = FEW
    for number, delimited in _begun(index, query):
        looks -= not delimited
        if delimited or (looks >= 0 and _begins_hump(index, number, query)):
            hits.append(number)
            if len(hits) == most:
                return hits
    return nsmallest(most, set(index.vocabulary.records(found)))


def _begun(index: TextIndex[Entry], query: bytes) -> Iterator[tuple[int, bool]]:
    """The records that hold the query, in order, and whether it stands behind a delimiter in them."""
    text, starts = index.text, index.starts
    position = text.find(query)
    while position >= 0:
        number = index.number_at(position)
        end = starts[number + 1]
        while position >= 0 and position > starts[number] and text[position - 1] in WORD_BYTES:
            position = text.find(query, position + 1, end)
        yield number, position >= 0
        position = text.find(query, end)


def substring_hits(index: TextIndex[Entry], query: bytes, most: int) -> list[int]:
    """Where the query stands anywhere."""
    pieces = words(query)
    if not pieces or len(index.text) <= SCAN_BYTES:
        return list(islice(_scan(index, query), most))
    scanned = list(islice(_scan(index, query, until=SCAN_BYTES), most))
    if len(scanned) == most:
        return scanned
    if len(pieces) > 1 or query[0] not in WORD_BYTES:
        rarest = _rarest(index, query, pieces, first=None)
        return list(islice(_holding(index, query, rarest), most))
    part = pieces[0] if query[-1] in WORD_BYTES else pieces[0] + RECORD_END
    found = index.vocabulary.containing(part, MOST_WORDS)
    numbers = set(chain.from_iterable(map(index.vocabulary.records, found)))
    return list(islice(index.holding(sorted(numbers), query), most))


def _dense(index: TextIndex[Entry]) -> int:
    """Above so many postings a scan of the text meets enough hits sooner than the postings are sorted."""
    return max(2_000, len(index.entries) // 8)


def _rarest(index: TextIndex[Entry], query: bytes, pieces: list[bytes], first: range | None) -> range:
    """The words of that piece which the fewest records hold. ``first``: the first piece, as a whole word."""
    vocabulary = index.vocabulary
    found = [vocabulary.exactly(piece) for piece in pieces[1:-1]]
    if first is None and query[0] not in WORD_BYTES and len(pieces) > 1:
        first = vocabulary.exactly(pieces[0])
    if first is not None:
        found.append(first)
    if len(pieces) > 1 or first is None:
        begins = query[-1] in WORD_BYTES
        found.append(vocabulary.prefixed(pieces[-1]) if begins else vocabulary.exactly(pieces[-1]))
    return min(found, key=vocabulary.count)


def _holding(index: TextIndex[Entry], query: bytes, found: range) -> Iterator[int]:
    """The records of these words in which the query stands."""
    if index.vocabulary.count(found) > _dense(index):
        return _scan(index, query)
    return index.holding(sorted(set(index.vocabulary.records(found))), query)


def _among(number: int, ascending: Sequence[int]) -> bool:
    place = bisect_left(ascending, number)
    return place < len(ascending) and ascending[place] == number


def _scan(index: TextIndex[Entry], query: bytes, *, until: int | None = None) -> Iterator[int]:
    """The records that hold the query, read off the text from its start."""
    text, end = index.text, len(index.text) if until is None else until
    position = text.find(query, 0, end)
    while position >= 0:
        number = index.number_at(position)
        yield number
        position = text.find(query, index.starts[number + 1], end)

"""The search index of one server's listing: built once, never changed; must not know how hits are ranked.

Every entry is one record of folded text, ``name 0x01 title 0x02 uri 0x0a``, and all records are one byte
string, best entry first (priority, then last modified, then the server's order): a scan from the start meets
the better hits first and may stop early. Rare words are found through a sorted vocabulary instead.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Generic, TypeVar

from mcp_lectern.catalogue.fold import encoded, fold, humps, words
from mcp_lectern.catalogue.model import Catalogue, ServerListing
from mcp_lectern.mcp.wire.resources import Annotations, Resource, ResourceTemplate

Entry = TypeVar("Entry", bound=Resource | ResourceTemplate)

NAME_END, TITLE_END, RECORD_END = b"\x01", b"\x02", b"\n"
FIRST_MODIFIED = float("-inf")


def standing(annotations: Annotations | None) -> tuple[float, float]:
    """The sort key among equally good hits: higher priority first, then later modified; absent is last."""
    if annotations is None:
        return (0.0, -FIRST_MODIFIED)
    return (-(annotations.priority or 0.0), -_seconds(annotations.last_modified))


def _seconds(last_modified: str | None) -> float:
    if not last_modified:
        return FIRST_MODIFIED
    try:
        moment = datetime.fromisoformat(last_modified)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return FIRST_MODIFIED


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
        return self.text[start : self.text.index(RECORD_END, start)]

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


@dataclass(frozen=True)
class TextIndex(Generic[Entry]):
    """The entries of one list, best first, with their folded text and its words.

    ``starts`` holds the offset of every record and, last, the end of the text; ``by_name`` the record numbers
    in the order of their folded names.
    """

    entries: Sequence[Entry]
    text: bytes
    starts: array[int]
    vocabulary: Vocabulary

    by_name: array[int]

    def record(self, number: int) -> bytes:
        """The folded text of one entry."""
        return self.text[self.starts[number] : self.starts[number + 1]]

    def name(self, number: int) -> bytes:
        """The folded name of one entry."""
        start = self.starts[number]
        return self.text[start : self.text.index(NAME_END, start)]

    def number_at(self, position: int) -> int:
        """The record in which this offset of the text lies."""
        return bisect_right(self.starts, position) - 1

    def holding(self, numbers: Iterable[int], part: bytes) -> Iterator[int]:
        """Those of the records in which this stands."""
        find, starts = self.text.find, self.starts
        return (n for n in numbers if find(part, starts[n], starts[n + 1]) >= 0)

    def named(self, prefix: bytes) -> Sequence[int]:
        """The records whose name begins so, in the order of their names."""
        low = bisect_left(self.by_name, prefix, key=self.name)
        return self.by_name[low : bisect_left(self.by_name, prefix + b"\xff", low, key=self.name)]

    def exactly_named(self, name: bytes) -> Sequence[int]:
        """The records of this name."""
        low = bisect_left(self.by_name, name, key=self.name)
        return self.by_name[low : bisect_right(self.by_name, name, low, key=self.name)]


@dataclass(frozen=True)
class ServerIndex:
    """What can be found of one server. Valid exactly for the ``listing`` object that it was built from."""

    server: str
    listing: ServerListing
    resources: TextIndex[Resource]
    templates: TextIndex[ResourceTemplate]

    @classmethod
    def of(cls, listing: ServerListing) -> ServerIndex:
        """Build it: pure, about a second per 100,000 entries, so a big one belongs in a thread."""
        resources = _index(listing.resources, [resource.uri for resource in listing.resources])
        templates = _index(listing.templates, [template.uri_template for template in listing.templates])
        return cls(listing.server, listing, resources, templates)


def indexes_of(catalogue: Catalogue, known: Iterable[ServerIndex] = ()) -> tuple[ServerIndex, ...]:
    """One index per server in the catalogue's order; of ``known``, those with the same listing are kept."""
    kept = {id(index.listing): index for index in known}
    return tuple(kept.get(id(listing)) or ServerIndex.of(listing) for listing in catalogue.listings.values())


def _index(entries: tuple[Entry, ...], uris: list[str]) -> TextIndex[Entry]:
    if any(entry.annotations is not None for entry in entries):
        ranks = [standing(entry.annotations) for entry in entries]
        order = sorted(range(len(entries)), key=ranks.__getitem__)
        entries, uris = tuple(entries[n] for n in order), [uris[n] for n in order]
    text, starts, names = bytearray(), array("I", [0]), []
    postings: defaultdict[bytes, array[int]] = defaultdict(partial(array, "I"))
    for number, (entry, uri) in enumerate(zip(entries, uris, strict=True)):
        title = entry.title or ""
        name = fold(entry.name)
        record = encoded(_record(name, fold(title), fold(uri)))
        text += record
        starts.append(len(text))
        names.append(encoded(name))
        for word in {*words(record), *humps(f"{entry.name} {title} {uri}")}:
            postings[word].append(number)
    by_name = array("I", sorted(range(len(names)), key=names.__getitem__))
    return TextIndex(entries, bytes(text), starts, _vocabulary(postings), by_name)


def _record(name: str, title: str, uri: str) -> str:
    """The text of a record, each field once."""
    return f"{name}\x01{'' if title == name else title}\x02{'' if uri == name else uri}\n"


def _vocabulary(by_word: dict[bytes, array[int]]) -> Vocabulary:
    ordered = sorted(by_word)
    text, starts, offsets, postings = bytearray(), array("I"), array("I", [0]), array("I")
    for word in ordered:
        starts.append(len(text))
        text += word + RECORD_END
        postings.extend(by_word[word])
        offsets.append(len(postings))
    return Vocabulary(bytes(text), starts, offsets, postings)

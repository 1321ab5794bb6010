"""The search index of one server's listing: built once, never changed; must not know how hits are ranked.

Every entry is one record of folded text, ``name 0x01 title 0x02 uri 0x0a``, and all records are one byte
string, best entry first (priority, then last modified, then the server's order): a scan from the start meets
the better hits first and may stop early. Rare words are found through a sorted vocabulary instead.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

from mcp_lectern.catalogue.fold import encoded, fold, humps, words
from mcp_lectern.catalogue.model import Catalogue, ServerListing
from mcp_lectern.catalogue.order import Ordered
from mcp_lectern.catalogue.vocabulary import Vocabulary, sorted_in_slices, vocabulary_of
from mcp_lectern.mcp.wire.packed import Entry, Packed
from mcp_lectern.mcp.wire.resources import Resource, ResourceTemplate

NAME_END, TITLE_END, RECORD_END = b"\x01", b"\x02", b"\n"


@dataclass(frozen=True)
class TextIndex(Generic[Entry]):
    """The entries of one list, best first, with their folded text and its words.

    ``starts`` holds the offset of every record and, last, the end of the text; ``by_name`` the record numbers
    in the order of their folded names.
    """

    entries: Ordered[Entry]
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

    def written(self, number: int) -> str:
        """What of one entry is searched, as it was listed."""
        uri, name, title, *_ = self.entries.listed.fields(self.entries.place(number))
        return f"{name} {title or ''} {uri}"

    def written_name(self, number: int) -> str:
        """The name of one entry as it was listed."""
        return self.entries.listed.fields(self.entries.place(number))[1]

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
        """Build it: pure, about a second per 100,000 entries, so a big one belongs in a thread.

        The list's own lookup is made as well, where it is not there yet.
        """
        templates = _index(Packed.of(ResourceTemplate, listing.templates))
        _ = listing.by_uri
        return cls(listing.server, listing, _index(listing.resources), templates)

    def holds(self, listing: ServerListing) -> bool:
        """Whether it would be built from this listing just as it is."""
        templates = Packed.of(ResourceTemplate, listing.templates)
        same = self.resources.entries.listed == listing.resources
        return same and self.templates.entries.listed == templates

    def number_of(self, uri: str) -> int | None:
        """The record of the resource of exactly this URI; None also while its lookup is still to come."""
        return self.resources.entries.number(uri) if self.listing.resources else None


def indexes_of(catalogue: Catalogue, known: Iterable[ServerIndex] = ()) -> tuple[ServerIndex, ...]:
    """One index per server in the catalogue's order; of ``known``, those with the same listing are kept."""
    kept = {id(index.listing): index for index in known}
    return tuple(kept.get(id(listing)) or ServerIndex.of(listing) for listing in catalogue.listings.values())


def _index(listed: Packed[Entry]) -> TextIndex[Entry]:
    entries = Ordered.of(listed)
    text, starts = bytearray(), array("I", [0])

    def found() -> Iterator[set[bytes]]:
        for number in range(len(entries)):
            uri, name, title, *_ = listed.fields(entries.place(number))
            record = encoded(_record(fold(name), fold(title or ""), fold(uri)))
            text.extend(record)
            starts.append(len(text))
            yield {*words(record), *humps(f"{name} {title or ''} {uri}")}

    vocabulary = vocabulary_of(found())
    index = TextIndex(entries, bytes(text), starts[:], vocabulary, array("I"))
    index.by_name.extend(sorted_in_slices(range(len(entries)), index.name))
    return index


def _record(name: str, title: str, uri: str) -> str:
    """The text of a record, each field once."""
    return f"{name}\x01{'' if title == name else title}\x02{'' if uri == name else uri}\n"

"""A server's search index as plain bytes and back, for whoever keeps them; must not know where they are kept.

An index that comes back answers at once, since it is made of the same bytes. Only the list with its lookup is
made later, by :func:`complete`, since it takes its time and nobody who types waits for it.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from dataclasses import replace

from mcp_lectern.catalogue.index import ServerIndex, TextIndex
from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.order import Ordered
from mcp_lectern.catalogue.vocabulary import Vocabulary
from mcp_lectern.mcp.wire.packed import Entry, Packed
from mcp_lectern.mcp.wire.resources import Resource, ResourceTemplate

FORMAT = 2
"""To be raised whenever an index, or what is written here, changes its form or its meaning."""
LAYOUT = f"{FORMAT} {sys.byteorder} {array('I').itemsize}"
"""Parts of another layout cannot be read."""

_PARTS = 13

Parts = tuple[bytes, ...]


def pack(index: ServerIndex) -> Parts:
    """Everything that there is to know about a listing and its index."""
    return (*_text_parts(index.resources), *_text_parts(index.templates))


def unpack(server: str, parts: Parts) -> ServerIndex:
    """The index without its listing. Raises ValueError where these are no such parts."""
    if len(parts) != 2 * _PARTS:
        raise ValueError(f"{len(parts)} parts")
    resources = _text_index(Resource, parts[:_PARTS])
    return ServerIndex(
        server, ServerListing(server), resources, _text_index(ResourceTemplate, parts[_PARTS:])
    )


def complete(index: ServerIndex) -> ServerIndex:
    """The same index with its listing, which counts as not listed yet: it is what an earlier walk found."""
    listing = ServerListing.of(
        index.server, index.resources.entries.listed, index.templates.entries.listed, listed=False
    )
    _ = listing.by_uri
    return replace(index, listing=listing)


def _text_parts(index: TextIndex[Entry]) -> Iterator[bytes]:
    entries, words = index.entries, index.vocabulary
    yield from (entries.listed.text, index.text, words.text)
    numbers = (entries.listed.starts, entries.places, entries.runs, entries.priorities, entries.moments)
    columns = (index.starts, words.starts, words.offsets, words.postings, index.by_name)
    yield from (column.tobytes() for column in (*numbers, *columns))


def _text_index(kind: type[Entry], parts: Parts) -> TextIndex[Entry]:
    listed, text, words, *columns = parts
    starts, places, runs = map(_numbers, columns[:3])
    priorities, moments = map(_floats, columns[3:5])
    record_starts, word_starts, offsets, postings, by_name = map(_numbers, columns[5:])
    entries = Ordered(Packed(kind, listed, starts), places, runs, priorities, moments)
    return TextIndex(entries, text, record_starts, Vocabulary(words, word_starts, offsets, postings), by_name)


def _numbers(part: bytes) -> array[int]:
    numbers = array("I")
    numbers.frombytes(part)
    return numbers


def _floats(part: bytes) -> array[float]:
    numbers = array("d")
    numbers.frombytes(part)
    return numbers

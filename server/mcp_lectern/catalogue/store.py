"""A server's search index as plain bytes and back, for whoever keeps them; must not know where they are kept.

An index that comes back answers at once: its entries are decoded when somebody looks at them. The rest, the
list with its lookup, is made later by :func:`complete`, piece by piece, since it takes its time.
"""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Generic, cast, overload

from mcp_lectern.catalogue.index import Entry, ServerIndex, TextIndex, Vocabulary
from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.mcp.wire.resources import Annotations, Resource, ResourceTemplate

FORMAT = 1
"""To be raised whenever an index, or what is written here, changes its form or its meaning."""
LAYOUT = f"{FORMAT} {sys.byteorder} {array('I').itemsize}"
"""Parts of another layout cannot be read."""

_PIECE = 32
"""Entries that are decompressed for one: few, since hits may be anywhere."""
_PARTS = 9
_FAST = 1

Parts = tuple[bytes, ...]
Json = Any


class Packed(Sequence[Entry], Generic[Entry]):
    """The entries of an index, each decoded when it is first asked for, and kept from then on.

    ``pieces`` are compressed JSON, some entries each; ``starts`` their offsets and, last, their end.
    """

    def __init__(
        self, pieces: bytes, starts: array[int], count: int, decode: Callable[[Json], Entry]
    ) -> None:
        self._pieces = pieces
        self._starts = starts
        self._count = count
        self._decode = decode
        self._known: dict[int, Entry] = {}

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Entry, ...]: ...
    def __getitem__(self, place: int | slice) -> Entry | tuple[Entry, ...]:
        """Always the same object for the same place."""
        numbers = range(self._count)[place]
        if isinstance(numbers, range):
            return tuple(self[number] for number in numbers)
        if numbers not in self._known:
            piece, offset = divmod(numbers, _PIECE)
            self._known[numbers] = self._decode(self._piece(piece)[offset])
        return self._known[numbers]

    def __iter__(self) -> Iterator[Entry]:
        """All of them in order, kept by nobody."""
        for piece in range(len(self._starts) - 1):
            yield from map(self._decode, self._piece(piece))

    def _piece(self, number: int) -> list[Json]:
        packed = self._pieces[self._starts[number] : self._starts[number + 1]]
        return cast("list[Json]", json.loads(zlib.decompress(packed)))


def pack(index: ServerIndex) -> Parts:
    """Everything that there is to know about a listing and its index."""
    return (*_text_parts(index.resources, _resource_json), *_text_parts(index.templates, _template_json))


def unpack(server: str, parts: Parts) -> ServerIndex:
    """The index without its listing. Raises ValueError where these are no such parts."""
    if len(parts) != 2 * _PARTS:
        raise ValueError(f"{len(parts)} parts")
    resources = _text_index(parts[:_PARTS], _resource)
    return ServerIndex(server, ServerListing(server), resources, _text_index(parts[_PARTS:], _template))


def complete(index: ServerIndex) -> ServerIndex:
    """The same index with its listing, which counts as not listed yet: it is what an earlier walk found."""
    resources, templates = tuple(index.resources.entries), tuple(index.templates.entries)
    listing = ServerListing.of(index.server, resources, templates, listed=False)
    return ServerIndex(
        index.server,
        listing,
        replace(index.resources, entries=resources),
        replace(index.templates, entries=templates),
    )


def _text_parts(index: TextIndex[Entry], encode: Callable[[Entry], Json]) -> Iterator[bytes]:
    pieces, starts = bytearray(), array("I", [0])
    entries = index.entries
    for first in range(0, len(entries), _PIECE):
        piece = [encode(entry) for entry in entries[first : first + _PIECE]]
        pieces += zlib.compress(json.dumps(piece, separators=(",", ":")).encode("ascii"), _FAST)
        starts.append(len(pieces))
    words = index.vocabulary
    yield from (bytes(pieces), starts.tobytes(), index.text, index.starts.tobytes(), words.text)
    yield from (words.starts.tobytes(), words.offsets.tobytes(), words.postings.tobytes())
    yield index.by_name.tobytes()


def _text_index(parts: Parts, decode: Callable[[Json], Entry]) -> TextIndex[Entry]:
    pieces, piece_starts, text, record_starts, words, *numbers = parts
    word_starts, offsets, postings, by_name = map(_numbers, numbers)
    starts = _numbers(record_starts)
    entries = Packed(pieces, _numbers(piece_starts), len(starts) - 1, decode)
    return TextIndex(entries, text, starts, Vocabulary(words, word_starts, offsets, postings), by_name)


def _numbers(part: bytes) -> array[int]:
    numbers = array("I")
    numbers.frombytes(part)
    return numbers


def _resource_json(entry: Resource) -> Json:
    notes = _notes_json(entry.annotations)
    return [entry.uri, entry.name, entry.title, entry.description, entry.mime_type, entry.size, notes]


def _template_json(entry: ResourceTemplate) -> Json:
    notes = _notes_json(entry.annotations)
    return [entry.uri_template, entry.name, entry.title, entry.description, entry.mime_type, notes]


def _notes_json(notes: Annotations | None) -> Json:
    return notes and [notes.audience, notes.priority, notes.last_modified]


def _resource(fields: Json) -> Resource:
    uri, name, title, description, mime_type, size, notes = fields
    return Resource(uri, name, title, description, mime_type, size, _notes(notes))


def _template(fields: Json) -> ResourceTemplate:
    uri_template, name, title, description, mime_type, notes = fields
    return ResourceTemplate(uri_template, name, title, description, mime_type, _notes(notes))


def _notes(fields: Json) -> Annotations | None:
    return Annotations(tuple(fields[0]), fields[1], fields[2]) if fields else None

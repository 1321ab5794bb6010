"""The order in which hits are offered; must not know who asks.

Quality of the match first (``Quality``), then the server's priority, then recently used, then last modified,
then the order of configuration and of the list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Generic

from mcp_lectern.catalogue.candidates import (
    begins_word,
    name_prefix_hits,
    starts_word,
    substring_hits,
    whole_hits,
    word_start_hits,
)
from mcp_lectern.catalogue.fold import encoded, fold
from mcp_lectern.catalogue.index import ServerIndex, TextIndex
from mcp_lectern.catalogue.recency import NEVER, Recency
from mcp_lectern.catalogue.scattered import is_scattered, scattered_hits
from mcp_lectern.mcp.wire.packed import Entry
from mcp_lectern.mcp.wire.resources import Resource, ResourceTemplate

# Punctuation beyond ASCII is prose: "@bob’s" and "@bob—thanks" begin with a handle as much as "@bob's" does.
_HANDLE = re.compile("[\\w.'\x80-\U0010ffff-]*+[.,;:!?'\")\\]}\x80-\U0010ffff]*+")


class Quality(IntEnum):
    """How well an entry matches; smaller is better."""

    EXACT = 0
    """The query is the URI, character by character, or the whole name."""
    NAME_PREFIX = 1
    WORD_START = 2
    SERVER = 3
    """The name of the server matches at a word start; so each of its entries does."""
    SUBSTRING = 4
    SCATTERED = 5
    """Pieces of the query in order, each at a word start."""


WEAK = Quality.SUBSTRING
"""From here on a hit may be chance."""


@dataclass(frozen=True, slots=True)
class Hit(Generic[Entry]):
    """One entry that was found, of one server."""

    server: str
    entry: Entry
    quality: Quality


@dataclass(frozen=True, slots=True)
class Ranked(Generic[Entry]):
    """The best hits in order. ``more`` is whether the limit left any out."""

    items: tuple[Hit[Entry], ...]
    more: bool


def could_be_handle(query: str) -> bool:
    """Whether prose may hold this after an at-sign: a handle, and punctuation behind it (``all,``)."""
    return _HANDLE.fullmatch(query) is not None


def search(
    indexes: Sequence[ServerIndex],
    query: str,
    limit: int,
    *,
    server: str | None = None,
    handle_like: bool = False,
    recency: Recency | None = None,
) -> Ranked[Resource]:
    """The best ``limit`` resources for what was typed, of one server or of all.

    The query may also be a URI or the whole ``server:uri``. ``handle_like``: it could be an at-handle in
    prose (see ``could_be_handle``), so nothing is offered but what matches at a word start, as far as its
    script shows them.
    """
    sources = [
        _Source(
            index.server,
            index.resources,
            rest,
            named,
            exact=index.number_of(rest),
            recent=recency.of(index) if recency is not None else None,
        )
        for index in _asked(indexes, server)
        for rest, named in [_reading(index.server, query, server)]
    ]
    return _ranked(sources, limit, handle_like)


def search_templates(
    indexes: Sequence[ServerIndex],
    query: str,
    limit: int,
    *,
    server: str | None = None,
    handle_like: bool = False,
) -> Ranked[ResourceTemplate]:
    """The same for templates, by name, title and the template's text."""
    sources = [
        _Source(index.server, index.templates, rest, named)
        for index in _asked(indexes, server)
        for rest, named in [_reading(index.server, query, server)]
    ]
    return _ranked(sources, limit, handle_like)


def _asked(indexes: Sequence[ServerIndex], server: str | None) -> list[ServerIndex]:
    return [index for index in indexes if server is None or index.server == server]


def _reading(name: str, query: str, server: str | None) -> tuple[str, bool]:
    """What is looked for in the server of this name, and whether it may also be the server's own name."""
    beginning, rest = query[: len(name) + 1], query[len(name) + 1 :]
    # As in a mention: "file:///a" is a URI even where a server is named "file".
    if server is None and name and fold(beginning) == fold(name + ":") and not rest.startswith("//"):
        return rest, False
    return query, server is None


def _ranked(sources: list[_Source[Entry]], limit: int, handle_like: bool) -> Ranked[Entry]:
    last = Quality.SCATTERED
    if handle_like:
        # What is written without spaces has no word starts inside.
        last = Quality.SERVER if all(source.is_ascii for source in sources) else Quality.SUBSTRING
    found: list[tuple[_Source[Entry], int, Quality]] = []
    for quality in Quality:
        if quality <= last and len(found) <= limit:
            found += _merged(sources, quality, limit + 1 - len(found))
    items = (Hit(source.server, source.entry(number), quality) for source, number, quality in found[:limit])
    return Ranked(tuple(items), len(found) > limit)


def _merged(
    sources: list[_Source[Entry]], quality: Quality, most: int
) -> list[tuple[_Source[Entry], int, Quality]]:
    """The best hits of this quality over all servers."""
    hits = [(source, number, quality) for source in sources for number in source.hits(quality, most)]
    if len(sources) > 1 or any(source.recent for source in sources):
        hits.sort(key=lambda hit: hit[0].standing(hit[1]))
    return hits[:most]


class _Source(Generic[Entry]):
    """One server's index, what is looked for in it, and what of it was handed out already."""

    def __init__(
        self,
        server: str,
        index: TextIndex[Entry],
        query: str,
        named: bool,
        *,
        exact: int | None = None,
        recent: Mapping[int, int] | None = None,
    ) -> None:
        self.server = server
        self.recent = recent or {}
        self._index: TextIndex[Entry] = index
        self._query = encoded(fold(query))
        self._named = named
        self._exact = exact
        self._given: set[int] = set()

    @property
    def is_ascii(self) -> bool:
        """Whether the query is letters that are written with spaces between words, as far as bytes tell."""
        return self._query.isascii()

    def entry(self, number: int) -> Entry:
        """One of its hits."""
        return self._index.entries[number]

    def hits(self, quality: Quality, most: int) -> list[int]:
        """The best entries of this quality that no better quality has, by their records' numbers."""
        numbers = self._numbers(quality, most + len(self._given) + 1)
        if self.recent:
            # What was used lately may stand far behind the best of a long list, and counts all the same.
            numbers = list(dict.fromkeys([*self._recent(quality), *numbers]))
        new = [number for number in numbers if number not in self._given]
        self._given.update(new)
        if self._exact is None:
            return new
        others = [number for number in new if number != self._exact]
        return [self._exact, *others] if quality is Quality.EXACT else others

    def standing(self, number: int) -> tuple[float, int, float]:
        """The sort key of one of its hits among equally good ones."""
        priority, modified = self._index.entries.standing(number)
        return priority, self.recent.get(number, NEVER), modified

    def _recent(self, quality: Quality) -> list[int]:
        return [number for number in self.recent if self._is(number, quality)]

    def _is(self, number: int, quality: Quality) -> bool:
        """Whether an entry surely matches this well."""
        query, index = self._query, self._index
        if not query:
            return quality is Quality.EXACT
        if quality is Quality.EXACT:
            return index.name(number) == query
        if quality is Quality.NAME_PREFIX:
            return index.name(number).startswith(query)
        if quality is Quality.WORD_START:
            return begins_word(index, number, query)
        if quality is Quality.SERVER:
            return self._is_named
        if quality is Quality.SUBSTRING:
            return query in index.record(number)
        return is_scattered(index, number, query)

    @property
    def _is_named(self) -> bool:
        """Whether the query means the server, and so each of its entries."""
        return self._named and starts_word(encoded(fold(self.server)), self._query)

    def _numbers(self, quality: Quality, most: int) -> Sequence[int]:
        if not self._query:
            return range(min(most, len(self._index.entries))) if quality is Quality.EXACT else ()
        if quality is Quality.SERVER:
            return range(min(most, len(self._index.entries))) if self._is_named else ()
        return _FINDERS[quality](self._index, self._query, most)


_FINDERS = {
    Quality.EXACT: whole_hits,
    Quality.NAME_PREFIX: name_prefix_hits,
    Quality.WORD_START: word_start_hits,
    Quality.SUBSTRING: substring_hits,
    Quality.SCATTERED: scattered_hits,
}

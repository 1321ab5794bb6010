"""The ranked search against one that looks at every entry in turn and keeps nothing ready."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mcp_lectern.catalogue import candidates, vocabulary
from mcp_lectern.catalogue.fold import encoded, fold, humps, words
from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.order import standing
from mcp_lectern.catalogue.rank import Quality, search
from mcp_lectern.catalogue.recency import NEVER, Recency
from mcp_lectern.catalogue.store import complete, pack, unpack
from mcp_lectern.mcp.wire.resources import Annotations, Resource

SERVERS = ("zz1", "zz2")
"""No query is part of these names."""
TEXT = st.text(alphabet="abAB/-. é日", max_size=8)
NOTES = st.none() | st.builds(
    Annotations, st.just(()), st.sampled_from([None, 0.5, 1.0]), st.sampled_from([None, "2026-01-01"])
)
RESOURCES = st.lists(
    st.builds(
        Resource,
        st.text("ab/-", min_size=1, max_size=9),
        TEXT,
        st.none() | TEXT,
        st.none(),
        st.none(),
        st.none(),
        NOTES,
    ),
    max_size=9,
    unique_by=lambda entry: entry.uri,
)


def naive(entry: Resource, query: bytes) -> Quality | None:
    """How well one entry matches, weaker than ``SUBSTRING`` left out."""
    name, title, uri = (encoded(fold(text)) for text in (entry.name, entry.title or "", entry.uri))
    record = name + b"\x01" + (b"" if title == name else title) + b"\x02" + (b"" if uri == name else uri)
    pieces = words(query)
    begun = {*words(record), *humps(f"{entry.name} {entry.title or ''} {entry.uri}")}
    if query == name or (pieces and query in (title, uri)):
        return Quality.EXACT
    if name.startswith(query):
        return Quality.NAME_PREFIX
    if pieces == [query] and any(word.startswith(query) for word in begun):
        return Quality.WORD_START
    # A query of several words begins at a word start if its first word is one anywhere in the entry.
    if (
        pieces
        and pieces != [query]
        and query in record
        and (not query.startswith(pieces[0]) or pieces[0] in begun)
    ):
        return Quality.WORD_START
    return Quality.SUBSTRING if query in record else None


@given(
    st.tuples(RESOURCES, RESOURCES),
    st.text("abé/-. ", min_size=1, max_size=4),
    st.lists(st.tuples(st.sampled_from(SERVERS), st.text("ab/-", max_size=2)), max_size=3),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
)
def test_every_entry_is_found_as_well_and_as_early_as_by_looking_at_all(
    lists: tuple[list[Resource], list[Resource]],
    query: str,
    latest: list[tuple[str, str]],
    size: int,
    remembered: bool,
    dense: bool,
) -> None:
    entries = [(server, entry) for server, listed in zip(SERVERS, lists, strict=True) for entry in listed]
    assume(all(entry.uri != query for _, entry in entries))
    recency = Recency(latest)
    ranks = {key: rank for rank, key in enumerate(recency.latest)}
    folded = encoded(fold(query))
    rated = [(naive(entry, folded), server, entry) for server, entry in entries]
    hits = [(quality, server, entry) for quality, server, entry in rated if quality is not None]

    def place(hit: tuple[Quality, str, Resource]) -> tuple[int, float, int, float]:
        quality, server, entry = hit
        priority, modified = standing(entry.annotations)
        return quality, priority, ranks.get((server, entry.uri), NEVER), modified

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "SLICE", size)
        patch.setattr(candidates, "SCAN_BYTES", 0)
        patch.setattr(candidates, "_dense", lambda _index: 0 if dense else 10_000)
        indexes = [ServerIndex.of(ServerListing.of(*pair)) for pair in zip(SERVERS, lists, strict=True)]
        if remembered:
            indexes = [complete(unpack(index.server, pack(index))) for index in indexes]
        found = search(indexes, query, 100, recency=recency).items
    strong = [(hit.quality, hit.server, hit.entry) for hit in found if hit.quality <= Quality.SUBSTRING]
    assert strong == sorted(hits, key=place)

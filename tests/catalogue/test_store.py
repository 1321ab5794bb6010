"""An index comes back from bytes as it was, and answers before its entries are decoded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.rank import search
from mcp_lectern.catalogue.store import complete, pack, unpack
from mcp_lectern.mcp.wire.resources import Annotations, Resource, ResourceTemplate

TEXT = st.text(st.characters(), max_size=12)
OPTIONAL = st.none() | TEXT
NOTES = st.none() | st.builds(
    Annotations,
    st.lists(TEXT, max_size=2).map(tuple),
    st.none() | st.floats(0, 1),
    OPTIONAL,
)
RESOURCES = st.lists(
    st.builds(Resource, TEXT, TEXT, OPTIONAL, OPTIONAL, OPTIONAL, st.none() | st.integers(), NOTES),
    max_size=8,
)
TEMPLATES = st.lists(
    st.builds(ResourceTemplate, TEXT, TEXT, OPTIONAL, OPTIONAL, OPTIONAL, NOTES),
    max_size=3,
    unique_by=lambda entry: entry.uri_template,
)


@given(RESOURCES, TEMPLATES)
def test_what_was_packed_comes_back(resources: list[Resource], templates: list[ResourceTemplate]) -> None:
    before = ServerIndex.of(ServerListing.of("a", resources, templates))
    packed = unpack("a", pack(before))
    assert tuple(packed.resources.entries) == tuple(before.resources.entries)
    assert [packed.templates.entries[n] for n in range(len(templates))] == list(before.templates.entries)
    after = complete(packed)
    assert after.resources == before.resources
    assert after.templates == before.templates
    assert after.listing.by_uri == before.listing.by_uri
    assert sorted(map(repr, after.listing.templates)) == sorted(map(repr, templates))


def test_more_than_a_piece_comes_back_in_order() -> None:
    many = [Resource(f"a://{number}", f"\ud800 {number}") for number in range(1203)]
    before = ServerIndex.of(ServerListing.of("a", many))
    assert complete(unpack("a", pack(before))).listing.resources == before.listing.resources


def test_a_search_answers_before_the_list_is_there() -> None:
    before = ServerIndex.of(ServerListing.of("a", [Resource(f"a://{n}", f"plan {n}") for n in range(100)]))
    packed = unpack("a", pack(before))
    assert not packed.listing.resources
    for query in ("plan 7", "a://9", ""):
        found = search([packed], query, 3, server=None, handle_like=False).items
        expected = search([before], query, 3, server=None, handle_like=False).items
        assert [hit.entry for hit in found] == [hit.entry for hit in expected]
    entries = packed.resources.entries
    assert entries[7] == entries[-93]
    assert entries[2:4] == (before.resources.entries[2], before.resources.entries[3])


def test_it_counts_as_not_listed_before_its_server_has_spoken() -> None:
    before = ServerIndex.of(ServerListing.of("a", [Resource("a://1", "one")]))
    assert before.listing.listed
    packed = unpack("a", pack(before))
    assert not packed.listing.listed
    assert not complete(packed).listing.listed


@pytest.mark.parametrize("parts", [(), (b"",) * 25])
def test_something_else_is_refused(parts: tuple[bytes, ...]) -> None:
    with pytest.raises(ValueError, match="parts"):
        unpack("a", parts)

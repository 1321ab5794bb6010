"""The index holds what it was built from, cheaply, and is rebuilt for one server only."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.catalogues import big_index, catalogue, listing, named

from mcp_lectern.catalogue import candidates
from mcp_lectern.catalogue.candidates import substring_hits, word_start_hits
from mcp_lectern.catalogue.fold import FIELD_LIMIT, encoded, fold, humps, words
from mcp_lectern.catalogue.index import ServerIndex, TextIndex, indexes_of
from mcp_lectern.mcp.wire.resources import Resource


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("README", "readme"),
        ("Crème_Brûlée", "creme_brulee"),
        ("STRASSE Straße", "strasse strasse"),
        ("a\x00b\nc\x01d", "a b c d"),
        ("日本—語", "日本 語"),
        ("ﬁle", "file"),
    ],
)
def test_folding(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_a_lone_surrogate_is_kept() -> None:
    index = ServerIndex.of(listing("s", ["res://\ud800a"])).resources
    assert substring_hits(index, encoded(fold("\ud800a")), 5) == [0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("getStarted", [b"started"]),
        ("HTMLParser", [b"parser"]),
        ("parseURL now", [b"url"]),
        ("plain words", []),
        ("aB" * 50, [b"bababababababababababababababab"] * 8),
    ],
)
def test_word_starts_inside_words(text: str, found: list[bytes]) -> None:
    assert humps(text) == found


def test_only_the_changed_server_is_indexed_again() -> None:
    before = catalogue(listing("a", ["x://1"]), listing("b", ["y://1"]))
    indexes = indexes_of(before)
    after = indexes_of(before.with_listing(listing("b", ["y://2"])), indexes)
    assert after[0] is indexes[0]
    assert after[1] is not indexes[1]
    assert [index.server for index in after] == ["a", "b"]


def test_the_best_entries_stand_first() -> None:
    from mcp_lectern.mcp.wire.resources import Annotations

    def resource(uri: str, priority: float | None = None, modified: str | None = None) -> Resource:
        return Resource(uri, uri, annotations=Annotations((), priority, modified))

    entries = [
        Resource("x://plain", "plain"),
        resource("x://old", 0.5, "2020-01-01T00:00:00Z"),
        resource("x://new", 0.5, "2026-01-01"),
        resource("x://unreadable", 0.5, "yesterday"),
        resource("x://top", 1.0),
    ]
    index = ServerIndex.of(listing("s", entries)).resources
    order = [entry.uri.removeprefix("x://") for entry in index.entries]
    assert order == ["top", "new", "old", "unreadable", "plain"]


ALPHABET = st.text(alphabet="abAB/-._ é日", max_size=8)
RESOURCES = st.lists(
    st.builds(Resource, st.text("ab/:-", min_size=1, max_size=10), ALPHABET, ALPHABET), max_size=12
)


def _brute_force(index: TextIndex[Resource], query: bytes) -> list[int]:
    return [number for number in range(len(index.entries)) if query in index.record(number)]


@given(RESOURCES, st.text("abé/-. :", min_size=1, max_size=6), st.booleans())
def test_every_way_to_search_finds_what_a_plain_search_finds(
    entries: list[Resource], typed: str, dense: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "SCAN_BYTES", 0)
        patch.setattr(candidates, "_dense", lambda _index: 0 if dense else 10_000)
        index = ServerIndex.of(listing("s", entries)).resources
        query = encoded(fold(typed))
        assert substring_hits(index, query, 100) == _brute_force(index, query)
        starts = word_start_hits(index, query, 100)
        assert starts == sorted(set(starts) & set(_brute_force(index, query)))


@given(RESOURCES, st.data())
def test_every_word_start_is_found(entries: list[Resource], data: st.DataObject) -> None:
    index = ServerIndex.of(listing("s", entries)).resources
    for number in range(len(index.entries)):
        for word in words(index.record(number)):
            cut = data.draw(st.integers(1, len(word)))
            # A cut inside a character of several bytes is no query.
            query = word[:cut].decode("utf-8", "ignore").encode()
            assert not query or number in word_start_hits(index, query, 100)


def test_endless_fields_are_cut() -> None:
    index = ServerIndex.of(listing("s", [Resource("x://" + "a" * 1_000_000, "aB" * 500_000)])).resources
    assert len(index.text) < 3 * FIELD_LIMIT
    assert len(index.vocabulary.text) < 3 * FIELD_LIMIT


@pytest.mark.case("PAG-06")
def test_pag_06_an_index_costs_little() -> None:
    index = big_index(100_000).resources
    arrays = (
        index.starts,
        index.by_name,
        index.vocabulary.starts,
        index.vocabulary.offsets,
        index.vocabulary.postings,
    )
    size = len(index.text) + len(index.vocabulary.text) + sum(len(one) * one.itemsize for one in arrays)
    assert size / 100_000 < 300


@pytest.mark.case("PAG-06")
def test_pag_06_building_grows_with_the_list_and_no_faster() -> None:
    def seconds(count: int) -> float:
        made = listing("s", named(*(f"some-name-{number}" for number in range(count))))
        begun = time.perf_counter()
        ServerIndex.of(made)
        return time.perf_counter() - begun

    assert min(seconds(40_000) for _ in range(3)) < 25 * min(seconds(4_000) for _ in range(3))

"""What was used last comes first among equally good hits, and nothing else changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.catalogues import big_index, listing, named

from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.rank import search
from mcp_lectern.catalogue.recency import Recency
from mcp_lectern.mcp.wire.resources import Annotations, Resource

NAMES = ("plan", "plan b", "the plan", "plane", "other", "explant", "PlanC", "plan")
SMALL = ServerIndex.of(listing("s", named(*NAMES)))
TWIN = ServerIndex.of(listing("t", named(*NAMES)))


def check(query: str, *expected: str, latest: list[str], limit: int = 3) -> None:
    """The first names that are found in one server, after these URIs were used (the last one first)."""
    hits = search([SMALL], query, limit, recency=Recency([("s", uri) for uri in latest])).items
    assert [hit.entry.uri for hit in hits] == list(expected)


def test_what_was_used_comes_first_among_its_equals() -> None:
    check("plan", "res://0", "res://7", "res://1", latest=[])
    check("plan", "res://7", "res://0", "res://1", latest=["res://7"])
    check("plan", "res://0", "res://7", "res://3", latest=["res://3", "res://4"])
    check("", "res://4", "res://2", "res://0", latest=["res://4", "res://2"])


def test_priority_counts_more() -> None:
    entries = [
        Resource("a:1", "plan a", annotations=Annotations((), 0.9)),
        Resource("a:2", "plan b", annotations=Annotations((), 0.1, "2026-01-01")),
        Resource("a:3", "plan c", annotations=Annotations((), 0.1)),
    ]
    index = ServerIndex.of(listing("s", entries))
    hits = search([index], "plan", 3, recency=Recency([("s", "a:3"), ("other", "a:2")])).items
    assert [hit.entry.uri for hit in hits] == ["a:1", "a:3", "a:2"]


def test_it_is_found_behind_any_number_of_others() -> None:
    index = big_index(100_000)
    last = index.resources.entries[-1]
    recency = Recency([("files", last.uri)])
    assert search([index], "", 5, recency=recency).items[0].entry == last
    word = last.name.split()[-1][:2]
    assert last in [hit.entry for hit in search([index], word, 5, recency=recency).items]


@pytest.mark.parametrize("query", ["docs", "rge", "user", "lg", "large one"])
def test_it_is_found_behind_others_however_it_matches(query: str) -> None:
    """As the server's name, inside a word, at a hump, by pieces of words, by several words."""
    entries = [Resource(f"res://{number}", f"largeUserMap getOne {number}") for number in range(3000)]
    index = ServerIndex.of(listing("docs", entries))
    recency = Recency([("docs", "res://2999")])
    assert search([index], query, 5, recency=recency).items[0].entry.uri == "res://2999"


def test_what_is_not_listed_any_more_does_no_harm() -> None:
    check("plan", "res://0", "res://7", "res://1", latest=["res://99", "res://4"])


@given(
    st.text(st.sampled_from("planbe cxthor/:"), max_size=6),
    st.lists(st.tuples(st.sampled_from("stu"), st.integers(0, 9).map("res://{}".format)), max_size=6),
)
def test_only_the_order_among_equals_changes(query: str, latest: list[tuple[str, str]]) -> None:
    indexes = [SMALL, TWIN]
    plain = search(indexes, query, 100).items
    ranked = search(indexes, query, 100, recency=Recency(latest)).items
    assert sorted(map(str, ranked)) == sorted(map(str, plain))
    assert [hit.quality for hit in ranked] == [hit.quality for hit in plain]

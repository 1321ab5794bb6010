"""Resources as symbols of a workspace."""

from __future__ import annotations

import pytest
from tests.support.catalogues import big_index, listing
from tests.support.marked import fixture

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.features.symbols import Symbol, symbols
from mcp_lectern.mcp.wire.resources import Resource


def check(query: str, *expected: Symbol, among: tuple[ServerListing, ...], limit: int = 100) -> None:
    given = fixture("", *among)
    assert symbols(given.catalogue, given.indexes, query, limit) == list(expected)


def test_ranked_matches_with_their_server() -> None:
    among = (
        listing("a", [Resource("x://1", "the-plan"), Resource("x://2", "p", title="Plan\nof it")]),
        listing("b", [Resource("x://3", "plan")]),
    )
    check(
        " plan ",
        Symbol("plan", "b", "b", "x://3"),
        Symbol("the-plan", "a", "a", "x://1"),
        Symbol("Plan of it", "a", "a", "x://2"),
        among=among,
    )


def test_what_has_no_name_is_called_by_its_uri() -> None:
    check("x", Symbol("x://1", "a b", "a\nb", "x://1"), among=(listing("a\nb", [Resource("x://1", " ")]),))


@pytest.mark.parametrize("query", ["", " ", "\t\n"])
def test_nothing_for_an_empty_query(query: str) -> None:
    check(query, among=(listing("a", ["x://1"]),))


def test_no_more_than_the_limit() -> None:
    given = fixture("", big_index(100_000))
    assert len(symbols(given.catalogue, given.indexes, "readme", 7)) == 7

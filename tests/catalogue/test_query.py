"""What a query keeps: entries that meet every condition, in the order of completion."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.support.catalogues import listing

from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.query import Query, find
from mcp_lectern.mcp.wire.resources import Annotations, Resource

ENTRIES = [
    Resource("r://none", "none"),
    Resource("r://zero", "zero", mime_type="text/plain", annotations=Annotations(("user",), 0.0)),
    Resource("r://low", "low", mime_type="text/markdown", annotations=Annotations(("assistant",), 0.1)),
    Resource(
        "r://high",
        "high",
        mime_type="TEXT/Plain; charset=utf-8",
        annotations=Annotations(("user", "assistant"), 1.0, "2026-05-01T10:00:00Z"),
    ),
    Resource("r://old", "old", mime_type="image/png", annotations=Annotations((), None, "2020-01-01")),
]
INDEX = ServerIndex.of(listing("s", ENTRIES))


def check(expected: set[str], **conditions: Any) -> None:
    found = find([INDEX], Query("", **conditions))
    assert {hit.entry.name for hit in found.items} == expected


def test_without_conditions_everything_is_kept() -> None:
    check({"none", "zero", "low", "high", "old"})


@pytest.mark.parametrize(
    ("least", "expected"),
    [
        (0, {"zero", "low", "high"}),
        (0.1, {"low", "high"}),
        (0.11, {"high"}),
        (1, {"high"}),
        (1.1, set()),
    ],
)
def test_a_priority_is_met_by_itself_and_by_no_entry_without_one(least: float, expected: set[str]) -> None:
    check(expected, min_priority=least)


def test_an_audience_is_one_of_those_that_are_named() -> None:
    check({"zero", "high"}, audience="user")
    check({"low", "high"}, audience="assistant")


def test_a_type_is_compared_without_case_and_parameters() -> None:
    check({"zero", "high"}, mime_type="text/plain")
    check({"old"}, mime_type="image/png")


def test_a_moment_counts_for_what_was_modified_then_or_later() -> None:
    moment = datetime(2026, 5, 1, 10, tzinfo=UTC)
    check({"high"}, modified_since=moment)
    check(set(), modified_since=moment.replace(minute=1))
    check({"high", "old"}, modified_since=datetime(2019, 1, 1, tzinfo=UTC))


def test_all_conditions_count_together_and_the_limit_says_that_there_is_more() -> None:
    check({"high"}, audience="user", min_priority=0.5)
    found = find([INDEX], Query("", min_priority=0, limit=2))
    assert ([hit.entry.name for hit in found.items], found.truncated) == (["high", "low"], True)
    assert not find([INDEX], Query("", min_priority=0, limit=3)).truncated

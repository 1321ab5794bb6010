"""What the user's filters leave of a list."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.catalogues import listing

from mcp_lectern.catalogue.filter import offered
from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.mcp.wire.resources import Annotations, Resource
from mcp_lectern.settings import Filter

URIS = ["file:///docs/a.md", "file:///docs/old/b.md", "file:///src/c.py", "memo://d"]
ALL = listing("s", URIS, ["file:///docs/{name}", "echo://{x}"])


def check(chosen: Filter | None, *expected: str, among: ServerListing = ALL) -> None:
    left = offered(among, chosen)
    shown = [entry.uri for entry in left.resources] + [entry.uri_template for entry in left.templates]
    assert shown == list(expected)
    assert (left.server, left.listed, left.partial) == (among.server, among.listed, among.partial)


def test_include_exclude_and_hide() -> None:
    check(Filter(include=("file:///docs/*",)), *URIS[:2], "file:///docs/{name}")
    check(
        Filter(include=("file:///docs/*", "memo:*"), exclude=("*/old/*", "echo:*")),
        URIS[0],
        URIS[3],
        "file:///docs/{name}",
    )
    check(Filter(exclude=("*.PY", "memo://?")), *URIS[:3], "file:///docs/{name}", "echo://{x}")
    check(Filter(hide=True, include=("*",)))


def test_an_audience_that_is_named_hides_what_is_for_nobody_in_particular() -> None:
    entries = [
        Resource("a:1", "1", annotations=Annotations(("user",))),
        Resource("a:2", "2", annotations=Annotations(("assistant", "user"))),
        Resource("a:3", "3", annotations=Annotations(("assistant",))),
        Resource("a:4", "4"),
    ]
    check(Filter(audience=("user",)), "a:1", "a:2", among=listing("s", entries))


@pytest.mark.parametrize("chosen", [None, Filter()])
def test_without_a_filter_it_is_the_same_list(chosen: Filter | None) -> None:
    assert offered(ALL, chosen) is ALL


@given(st.lists(st.text(st.sampled_from("*?[]!-ab/"), max_size=8), max_size=4), st.text(max_size=10))
def test_any_globs_are_taken(globs: list[str], uri: str) -> None:
    one = listing("s", [uri])
    kept = offered(one, Filter(include=tuple(globs))).resources
    left_out = offered(one, Filter(exclude=tuple(globs))).resources
    assert bool(globs) <= (bool(kept) != bool(left_out))


def test_a_glob_of_stars_costs_no_time() -> None:
    began = time.process_time()
    check(Filter(include=("*a" * 40 + "b",)), among=listing("s", ["a" * 4000]))
    assert time.process_time() - began < 2

"""What is found, in which order, and that everything can be reached."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.catalogues import big_index, catalogue, files, listing, named

from mcp_lectern.catalogue.index import ServerIndex, indexes_of
from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.rank import Quality, could_be_handle, search, search_templates
from mcp_lectern.mcp.wire.resources import Annotations, Resource

QUERIES = [
    line
    for line in Path(__file__).parents[2].joinpath("bench/queries.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


def check(query: str, *expected: str, names: tuple[str, ...], handle_like: bool = False) -> None:
    index = ServerIndex.of(ServerListing.of("s", named(*names)))
    found = search([index], query, 100, server="s", handle_like=handle_like)
    assert [hit.entry.name for hit in found.items] == list(expected)


def test_better_matches_come_first() -> None:
    names = ("xreadx", "gone re-ad", "the-read", "reading", "read")
    check("read", "read", "reading", "the-read", "xreadx", "gone re-ad", names=names)


def test_camel_case_and_path_pieces_are_word_starts() -> None:
    check("star", "getStarted", "a/start", "restart", names=("restart", "getStarted", "a/start"))


def test_case_and_accents_do_not_count() -> None:
    check("creme", "Crème", names=("Crème", "cake"))
    check("CRÈ", "Crème", names=("Crème", "cake"))


def test_pieces_that_begin_words_match_in_order() -> None:
    check("gsi", "getting started index", names=("getting started index", "index started getting"))
    check("getind", "getStartedIndex", names=("getStartedIndex", "gtind"))
    check("started getting", "getting started index", names=("getting started index", "getting"))


def test_a_hit_in_title_or_uri_is_a_hit() -> None:
    entry = Resource("memo://cabin/keys", "n1", title="Where the keys are")
    index = ServerIndex.of(ServerListing.of("s", [entry, Resource("memo://x", "n2")]))
    for query in ("where", "keys are", "cabin/k", "memo://cabin", "here the"):
        assert [hit.entry for hit in search([index], query, 10).items] == [entry], query


def test_priority_then_time_decide_among_equals_over_all_servers() -> None:
    def resource(uri: str, priority: float, modified: str | None = None) -> Resource:
        return Resource(uri, "note " + uri, annotations=Annotations((), priority, modified))

    indexes = [
        ServerIndex.of(listing("a", [resource("1", 0.2), resource("2", 0.9)])),
        ServerIndex.of(listing("b", [Resource("5", "note 5"), resource("3", 0.9, "2026-05-01T10:00:00Z")])),
    ]
    assert [hit.entry.uri for hit in search(indexes, "note", 10).items] == ["3", "2", "1", "5"]


def test_the_limit_says_whether_there_is_more() -> None:
    index = ServerIndex.of(ServerListing.of("s", named(*(f"note {n}" for n in range(5)))))
    assert search([index], "note", 5).more is False
    assert search([index], "note", 4).more is True
    assert search([index], "", 4).more is True
    assert len(search([index], "note", 4).items) == 4


def test_a_server_name_finds_its_resources_after_better_hits() -> None:
    indexes = indexes_of(catalogue(listing("docs", ["x://1"]), listing("other", ["docs://2", "x://1"])))
    found = search(indexes, "docs", 10).items
    assert [(hit.server, hit.entry.uri) for hit in found] == [("other", "docs://2"), ("docs", "x://1")]
    assert found[1].quality is Quality.SERVER


def test_the_inserted_form_finds_its_resource_first() -> None:
    indexes = indexes_of(catalogue(listing("a", ["x://12", "x://1"]), listing("b", ["x://1"])))
    best = search(indexes, "a:x://1", 10).items[0]
    assert (best.server, best.entry.uri) == ("a", "x://1")


@pytest.mark.case("URI-04")
def test_uri_04_a_scheme_is_no_server_in_a_query() -> None:
    indexes = indexes_of(
        catalogue(listing("file", ["file:///a", "memo://a"]), listing("docs", ["file:///a"]))
    )
    best = search(indexes, "file:///a", 10).items
    assert [(hit.server, hit.entry.uri, hit.quality) for hit in best] == [
        ("file", "file:///a", Quality.EXACT),
        ("docs", "file:///a", Quality.EXACT),
    ]
    assert search(indexes, "FILE:memo://a", 10).items[0].quality is Quality.EXACT


@pytest.mark.case("URI-05")
def test_uri_05_the_same_uri_of_two_servers_is_two_hits() -> None:
    indexes = indexes_of(catalogue(listing("a", ["config://app"]), listing("b", ["config://app"])))
    for query in ("", "config", "config://app", "app"):
        assert [hit.server for hit in search(indexes, query, 10).items] == ["a", "b"], query
    assert [hit.server for hit in search(indexes, "app", 10, server="b").items] == ["b"]


@pytest.mark.parametrize(
    ("query", "handle"),
    [
        ("bob", True),
        ("all,", True),
        ("bob:", True),
        ("bob.smith_9-x)", True),
        ("", True),
        ("bob's", True),
        ("bob’s", True),
        ("bob’s)”.", True),
        ("bob—thanks", True),
        ("bob，日本。", True),
        ("bob's/x", False),
        ("bob’s:x", False),
        ("types/node", False),
        ("memo://a", False),
        ("a:b", False),
    ],
)
def test_what_could_be_a_handle(query: str, handle: bool) -> None:
    assert could_be_handle(query) is handle


@pytest.mark.case("UI-01")
def test_ui_01_a_handle_finds_word_starts_only() -> None:
    names = ("kebob", "big old barn", "bobsled", "the bobcat", "callBob")
    check("bob", "bobsled", "the bobcat", "callBob", names=names, handle_like=True)
    check("bob", "bobsled", "the bobcat", "callBob", "kebob", "big old barn", names=names)
    check("all,", names=("install, now", "fall"), handle_like=True)


@pytest.mark.case("UI-01")
@pytest.mark.parametrize("prose", ["bob", "zg", "all,", "everyone", "here"])
def test_ui_01_prose_finds_nothing_among_100000(prose: str) -> None:
    assert search([big_index(100_000)], prose, 100, handle_like=True).items == ()


@pytest.mark.case("PAG-06")
def test_pag_06_every_item_is_reached_by_typing_more() -> None:
    indexes = [big_index(100_000)]
    for entry in files(100_000)[149::9_973]:
        for typed in (entry.uri, entry.name, entry.name.split()[1], f"files:{entry.uri}"):
            found = search(indexes, typed, 100)
            assert entry.uri in [hit.entry.uri for hit in found.items], typed
        assert search(indexes, entry.uri, 100).items[0].entry.uri == entry.uri


@pytest.mark.case("PAG-06")
def test_pag_06_an_id_is_found_one_character_at_a_time() -> None:
    wanted = files(150)[149].uri
    assert wanted.endswith("-aa-149.md")
    typed = ["aa-149"[:length] for length in range(1, 7)]
    found = [search([big_index(100_000)], query, 100, handle_like=True) for query in typed]
    assert [bool(one.items) for one in found] == [True] * 6
    assert found[-1].items[0].entry.uri == wanted
    assert found[0].more


@given(st.lists(st.text("ab/:-.", min_size=1, max_size=12), min_size=1, max_size=30, unique=True))
def test_the_exact_uri_is_always_first(uris: list[str]) -> None:
    index = ServerIndex.of(listing("s", uris))
    for uri in uris:
        assert search([index], uri, 1, server="s").items[0].entry.uri == uri


@given(st.lists(st.text(max_size=12), max_size=10), st.text(max_size=6), st.integers(0, 12), st.booleans())
def test_no_text_breaks_it_and_nothing_is_found_twice(
    uris: list[str], query: str, limit: int, handle_like: bool
) -> None:
    index = ServerIndex.of(listing("s", uris))
    found = search([index], query, limit, handle_like=handle_like)
    keys = [hit.entry.uri for hit in found.items]
    assert len(keys) == len(set(keys)) <= limit
    qualities = [hit.quality for hit in found.items]
    assert qualities == sorted(qualities)


def test_templates_are_found_the_same_way() -> None:
    index = ServerIndex.of(listing("s", [], ["gh://{owner}/{repo}", "note://{id}"]))
    assert [hit.entry.uri_template for hit in search_templates([index], "own", 5).items] == [
        "gh://{owner}/{repo}"
    ]
    assert len(search_templates([index], "", 5).items) == 2


@pytest.mark.case("PAG-06")
def test_pag_06_no_query_walks_the_whole_list() -> None:
    def milliseconds(index: ServerIndex, query: str) -> float:
        taken = []
        for _ in range(5):
            begun = time.perf_counter()
            search([index], query, 100)
            taken.append(time.perf_counter() - begun)
        return statistics.median(taken) * 1000

    begun = time.perf_counter()
    for entry in big_index(100_000).resources.entries:
        _ = "nowhere" in entry.uri.lower() or "nowhere" in entry.name.lower()
    walk = (time.perf_counter() - begun) * 1000
    slow = {query: milliseconds(big_index(100_000), query) for query in QUERIES}
    assert {query: ms for query, ms in slow.items() if ms > walk} == {}
    assert statistics.median(slow.values()) < walk / 10


@pytest.mark.parametrize("server", [None, "s"])
@pytest.mark.parametrize("query", ["user", "profile", "getuser", "u"])
def test_a_word_that_begins_inside_others_is_found_however_many_have_it(
    query: str, server: str | None
) -> None:
    names = [f"getUser{number}Profile" for number in range(2500)]
    index = ServerIndex.of(listing("s", named(*names)))
    hits = search([index], query, 100, server=server, handle_like=True).items
    assert len(hits) == 100
    assert all(hit.quality <= Quality.WORD_START for hit in hits)


def test_a_hump_of_priority_comes_before_many_plain_words() -> None:
    entries = [Resource(f"res://{number}", f"a user {number}") for number in range(4000)]
    entries.append(Resource("res://best", "getUserName", annotations=Annotations((), 1.0)))
    index = ServerIndex.of(listing("s", entries))
    assert search([index], "user", 3, handle_like=True).items[0].entry.uri == "res://best"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("文書", "日本語の文書"),
        ("lodz", "Plan for Łódź"),
        ("aero", "Ærø"),
        ("ŒUVRE", "the oeuvre"),
        ("strasse", "Die Straße"),
    ],
)
def test_every_script_is_found_as_it_is_typed(query: str, name: str) -> None:
    index = ServerIndex.of(listing("s", named(name, "other")))
    assert [hit.entry.name for hit in search([index], query, 5, handle_like=True).items] == [name]

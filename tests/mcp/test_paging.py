"""Walks of lists that servers page well, badly, or without end."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise
from typing import Any

import pytest

from mcp_lectern.mcp.client.paging import Walk, WalkLimits
from mcp_lectern.mcp.connect import Limits, Timing
from mcp_lectern.mcp.errors import ServerError
from mcp_lectern.mcp.wire.packed import Packer
from mcp_lectern.mcp.wire.pages import Page
from mcp_lectern.mcp.wire.resources import Resource

from .conftest import Connect, RecordingObserver, Script

LIMITS = WalkLimits(pages=50, entries=1000, seconds=10)
EIGHT = [{"uri": f"a://{number}"} for number in range(8)]


def walk_pages(
    pages: list[Page[Resource]], limits: WalkLimits = LIMITS, elapsed: float = 0
) -> Walk[Resource]:
    """Feed a walk until it says stop; it must not ask for more pages than there are."""
    walk: Walk[Resource] = Walk(limits, Packer(Resource))
    for page in pages:
        list(walk.take(page))
        if walk.next_cursor(page, elapsed) is None:
            break
    return walk


def page(numbers: range, cursor: Any = None, ttl_ms: int = 0) -> Page[Resource]:
    return Page([Resource(f"a://{number}", "n") for number in numbers], cursor, 0, ttl_ms)


@pytest.mark.case("PAG-01")
@pytest.mark.parametrize("cursors", [["p1"], ["A", "B"], [""], ["A", "B", "C", "D"]])
def test_pag_01_repeated_cursors_end_when_nothing_new_comes(cursors: list[str]) -> None:
    endless = [page(range(8), cursors[number % len(cursors)]) for number in range(40)]
    walk = walk_pages(endless)
    assert len(walk.listing().entries) == 8
    assert walk.pages <= len(cursors) + 2
    assert walk.listing().partial is None
    assert "repeats" in walk.listing().notes[0]


@pytest.mark.case("PAG-01")
def test_pag_01_a_constant_cursor_that_brings_new_entries_is_followed() -> None:
    pages = [page(range(number, number + 1), "same") for number in range(5)] + [page(range(5, 6))]
    assert len(walk_pages(pages).listing().entries) == 6


@pytest.mark.case("PAG-01")
@pytest.mark.parametrize(
    ("limits", "elapsed", "kept", "reason"),
    [
        (WalkLimits(10, 1000, 10), 0, 10, "The list goes on after 10 pages."),
        (WalkLimits(50, 7, 10), 0, 7, "The list goes on after 7 entries."),
        (WalkLimits(50, 1000, 10), 11, 1, "The list goes on after 10 s."),
        (WalkLimits(50, 1000, 10, bytes=100), 0, 10, "The list goes on after 100 bytes."),
    ],
)
def test_pag_01_fresh_cursors_without_end_stop_at_a_cap(
    limits: WalkLimits, elapsed: float, kept: int, reason: str
) -> None:
    walk = walk_pages(
        [page(range(number, number + 1), f"c{number}") for number in range(100)], limits, elapsed
    )
    assert (len(walk.listing().entries), walk.listing().partial) == (kept, reason)


@pytest.mark.case("PAG-01")
def test_pag_01_long_cursors_are_not_kept() -> None:
    tracemalloc.start()
    try:
        walk = walk_pages(
            [page(range(number, number + 1), f"{number}" + "c" * 100_000) for number in range(40)]
        )
        assert tracemalloc.get_traced_memory()[0] < 2_000_000
    finally:
        tracemalloc.stop()
    assert len(walk.listing().entries) == 40


def test_a_very_long_page_is_taken_with_pauses() -> None:
    walk: Walk[Resource] = Walk(LIMITS, Packer(Resource))
    whole = page(range(5000))
    grown = [0, *(len(walk.entries) for _ in walk.take(whole))]
    assert max(after - before for before, after in pairwise(grown)) <= 1000
    assert (walk.next_cursor(whole, 0), len(walk.listing().entries)) == (None, 5000)


def test_a_cursor_that_is_no_string_cuts_the_list_short() -> None:
    assert walk_pages([page(range(2), 5), page(range(2, 4))]).listing().partial is not None


def test_the_smallest_hint_of_all_pages_counts() -> None:
    assert walk_pages([page(range(1), "a", 500), page(range(1, 2), None, 90)]).listing().ttl_ms == 90
    assert walk_pages([page(range(1), "a", 500), page(range(1, 2), None, 0)]).listing().ttl_ms == 0


@pytest.mark.anyio
@pytest.mark.case("LST-05")
async def test_lst_05_a_doubled_uri_is_one_entry_and_the_first_wins(
    script: Script, connected: Connect
) -> None:
    entries = [
        {"uri": "a://1", "name": "first"},
        {"uri": "a://1", "name": "same page"},
        {"uri": "a://1", "name": "next"},
    ]
    async with connected(script(resources=entries, page_size=2)) as connection:
        listing = await connection.list_resources()
    assert [entry.name for entry in listing.entries] == ["first"]
    assert listing.notes == ("Left out, since their address was listed before: 2.",)


@pytest.mark.anyio
@pytest.mark.case("PAG-01")
async def test_pag_01_over_the_wire(script: Script, connected: Connect) -> None:
    server = script(answers={"resources/list": {"result": {"resources": EIGHT, "nextCursor": "p1"}}})
    async with connected(server) as connection:
        listing = await connection.list_resources()
    assert len(listing.entries) == 8
    assert len(server.received("resources/list")) == 3


@pytest.mark.anyio
@pytest.mark.case("PAG-01")
async def test_pag_01_an_endless_list_is_partial_at_the_cap(script: Script, connected: Connect) -> None:
    server = script(generate=10_000, page_size=1)
    async with connected(server, limits=Limits(pages=30)) as connection:
        listing = await connection.list_resources()
    assert len(listing.entries) == 30
    assert listing.partial == "The list goes on after 30 pages."


@pytest.mark.anyio
@pytest.mark.case("PAG-03")
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_pag_03_every_page_of_both_lists_and_no_cursor_at_first(
    era: str, script: Script, connected: Connect
) -> None:
    templates = [{"uriTemplate": f"a://{{x}}/{number}"} for number in range(5)]
    server = script(era=era, resources=EIGHT, templates=templates, page_size=3)
    async with connected(server) as connection:
        resources, found = await connection.list_resources(), await connection.list_templates()
    assert [entry.uri for entry in resources.entries] == [entry["uri"] for entry in EIGHT]
    assert [entry.uri_template for entry in found.entries] == [entry["uriTemplate"] for entry in templates]
    for method in ("resources/list", "resources/templates/list"):
        first, *later = server.received(method)
        assert "cursor" not in first["params"]
        assert all("cursor" in message["params"] for message in later)


def pages_then(*answers: dict[str, Any]) -> dict[str, Any]:
    first = {"result": {"resources": EIGHT[:3], "nextCursor": "two"}}
    return {"resources/list": [first, *answers]}


@pytest.mark.anyio
@pytest.mark.case("PAG-03")
async def test_pag_03_an_expired_cursor_starts_the_walk_once_more(script: Script, connected: Connect) -> None:
    expired = {"error": {"code": -32602, "message": "expired"}}
    fresh = {"result": {"resources": EIGHT[4:]}}
    server = script(answers=pages_then(expired, fresh))
    async with connected(server) as connection:
        listing = await connection.list_resources()
    assert [entry.uri for entry in listing.entries] == [entry["uri"] for entry in EIGHT[4:]]
    assert listing.partial is None
    assert "cursor" not in server.received("resources/list")[2]["params"]


@pytest.mark.anyio
@pytest.mark.case("PAG-03")
async def test_pag_03_a_cursor_that_is_always_refused_does_not_restart_without_end(
    script: Script, connected: Connect
) -> None:
    first = {"result": {"resources": EIGHT[:3], "nextCursor": "two"}}
    expired = {"error": {"code": -32602, "message": "expired"}}
    server = script(answers={"resources/list": [first, expired] * 5})
    async with connected(server) as connection:
        listing = await connection.list_resources()
    assert len(listing.entries) == 3
    assert listing.partial is not None
    assert "expired" in listing.partial
    assert len(server.received("resources/list")) == 4


@pytest.mark.anyio
@pytest.mark.case("PAG-03")
@pytest.mark.parametrize(
    ("third", "why"),
    [
        ({"error": {"code": -32603, "message": "database gone"}}, "database gone"),
        ({"exit": 3}, "exit code 3"),
    ],
)
async def test_pag_03_a_failing_later_page_keeps_the_earlier_ones(
    third: dict[str, Any], why: str, script: Script, connected: Connect
) -> None:
    second = {"result": {"resources": EIGHT[3:6], "nextCursor": "three"}}
    server = script(answers=pages_then(second, third))
    async with connected(server) as connection:
        listing = await connection.list_resources()
    assert len(listing.entries) == 6
    assert listing.partial is not None
    assert why in listing.partial


@pytest.mark.anyio
@pytest.mark.case("PAG-03")
@pytest.mark.parametrize("cursor", ["\0\n%", "x" * 100_000, "", "\ud800"])
async def test_pag_03_a_cursor_goes_back_as_it_came(cursor: str, script: Script, connected: Connect) -> None:
    first = {"result": {"resources": EIGHT[:3], "nextCursor": cursor}}
    server = script(answers={"resources/list": [first, {"result": {"resources": EIGHT[3:]}}]})
    async with connected(server) as connection:
        assert len((await connection.list_resources()).entries) == 8
    assert server.received("resources/list")[1]["params"]["cursor"] == cursor


@pytest.mark.anyio
async def test_a_later_page_that_never_comes_keeps_the_earlier_ones(
    script: Script, connected: Connect
) -> None:
    server = script(answers=pages_then({"silent": True}))
    async with connected(server, timing=Timing(request=0.2)) as connection:
        listing = await connection.list_resources()
    assert len(listing.entries) == 3
    assert listing.partial is not None
    assert "0.2 s" in listing.partial


@pytest.mark.anyio
@pytest.mark.case("CAP-01")
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_cap_01_a_method_that_is_not_there_lists_nothing_and_is_not_asked_again(
    era: str, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    missing = {"error": {"code": -32601, "message": "Method not found"}}
    server = script(era=era, resources=EIGHT, answers={"resources/templates/list": missing})
    async with connected(server) as connection:
        assert len((await connection.list_resources()).entries) == 8
        for _ in range(3):
            listing = await connection.list_templates()
            assert (listing.entries, listing.partial, listing.notes) == ((), None, ())
        assert len((await connection.list_resources()).entries) == 8
    assert len(server.received("resources/templates/list")) == 1


@pytest.mark.anyio
@pytest.mark.case("CAP-01")
async def test_cap_01_resources_missing_and_templates_there(script: Script, connected: Connect) -> None:
    missing = {"error": {"code": -32601, "message": "Method not found"}}
    server = script(templates=[{"uriTemplate": "a://{x}"}], answers={"resources/list": missing})
    async with connected(server) as connection:
        assert (await connection.list_resources()).entries == ()
        assert len((await connection.list_templates()).entries) == 1


@pytest.mark.anyio
@pytest.mark.case("CAP-01")
@pytest.mark.parametrize("capabilities", [{}, {"resources": None}, {"tools": {}}])
async def test_cap_01_a_server_without_the_capability_is_not_asked(
    capabilities: dict[str, Any], script: Script, connected: Connect
) -> None:
    server = script(capabilities=capabilities, resources=EIGHT)
    async with connected(server) as connection:
        assert (await connection.list_resources()).entries == ()
        assert (await connection.list_templates()).entries == ()
    assert server.received("resources/list") == server.received("resources/templates/list") == []


@pytest.mark.anyio
@pytest.mark.case("CAP-01")
@pytest.mark.parametrize("code", [-32603, 0, None])
async def test_cap_01_another_error_on_the_first_page_is_an_error(
    code: int | None, script: Script, connected: Connect
) -> None:
    server = script(answers={"resources/list": {"error": {"code": code, "message": "boom"}}})
    async with connected(server) as connection:
        with pytest.raises(ServerError, match="boom") as caught:
            await connection.list_resources()
    assert caught.value.code == code


@pytest.mark.anyio
@pytest.mark.case("CAP-01")
@pytest.mark.parametrize("first", ["there", "missing"])
async def test_cap_01_a_list_that_was_there_once_does_not_vanish_by_a_refusal(
    script: Script, connected: Connect, first: str
) -> None:
    missing = {"error": {"code": -32601, "message": "Method not found"}}
    answers = [{}, missing] if first == "there" else missing
    server = script(resources=EIGHT, answers={"resources/list": answers})
    async with connected(server) as connection:
        if first == "there":
            assert len((await connection.list_resources()).entries) == 8
            with pytest.raises(ServerError, match="Method not found"):
                await connection.list_resources()
        else:
            for _ in range(2):
                assert len((await connection.list_resources()).entries) == 0
            assert len(server.received("resources/list")) == 1

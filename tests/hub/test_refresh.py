"""Listings stay current, and never mix two generations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.support.hubs import hub_of
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.hub.status import troubles

pytestmark = pytest.mark.anyio

OLD = [{"uri": f"old://{n}", "name": f"o{n}"} for n in range(4)]
NEW = [{"uri": f"new://{n}", "name": f"n{n}"} for n in range(2)]


@pytest.mark.case("PAG-04")
async def test_pag_04_a_walk_that_a_notice_overtakes_is_thrown_away(tmp_path: Path) -> None:
    answers = {"resources/list": [{}, {"gate": "middle"}, {}]}
    with ScriptedServer(tmp_path, resources=OLD, page_size=2, answers=answers) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            hub.want()
            await server.wait_waiting("middle")
            server.change(resources=NEW)
            server.open("middle")
            await news.until(lambda: hub.catalogue.listings["it"].listed)
            assert set(hub.catalogue.listings["it"].by_uri) == {"new://0", "new://1"}
            assert [count for _, count in news.published if count > 0] == [2]
            assert len(server.received("resources/list")) <= 4


@pytest.mark.case("PAG-04")
async def test_pag_04_a_notice_after_the_walk_leads_to_the_new_list(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=OLD) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            await hub.ensure_listed()
            server.change(resources=NEW)
            await news.until(lambda: "new://0" in hub.catalogue.listings["it"].by_uri)
            assert "old://0" not in hub.catalogue.listings["it"].by_uri
            assert hub.indexes["it"].listing is hub.catalogue.listings["it"]


@pytest.mark.case("PAG-04")
async def test_pag_04_a_storm_of_notices_leads_to_few_walks(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=OLD) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            await hub.ensure_listed()
            for _ in range(50):
                server.notify("notifications/resources/list_changed")
            server.change(resources=NEW)
            await news.until(lambda: "new://0" in hub.catalogue.listings["it"].by_uri)
            assert len(server.received("resources/list")) <= 5


@pytest.mark.case("CAP-01")
@pytest.mark.parametrize(
    ("failing", "counts"),
    [
        (["resources/templates/list"], (4, 0)),
        (["resources/list"], (0, 1)),
        (["resources/list", "resources/templates/list"], (0, 0)),
    ],
)
async def test_cap_01_what_is_advertised_but_missing_is_quiet(
    tmp_path: Path, failing: list[str], counts: tuple[int, int]
) -> None:
    answers = {method: {"error": {"code": -32601, "message": "Method not found"}} for method in failing}
    templates = [{"uriTemplate": "t://{x}", "name": "t"}]
    with ScriptedServer(tmp_path, resources=OLD, templates=templates, answers=answers) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            status = hub.status()[0]
            assert (status.resources, status.templates) == counts
            assert (status.state.value, status.last_error, status.partial) == ("ready", None, None)
            await hub.list_again()
            assert all(len(server.received(method)) == 1 for method in failing)


@pytest.mark.case("PAG-03")
async def test_pag_03_a_page_that_fails_leaves_the_earlier_ones_and_says_so(tmp_path: Path) -> None:
    answers = {"resources/list": [{}, {"error": {"code": -32603, "message": "disk on fire"}}]}
    with ScriptedServer(tmp_path, resources=OLD, page_size=2, answers=answers) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            listing = hub.catalogue.listings["it"]
            assert len(listing.resources) == 2
            assert "disk on fire" in (listing.partial or "")


FAULTS: dict[str, dict[str, Any]] = {
    "fails": {"error": {"code": -32603, "message": "disk on fire"}},
    "no longer knows the method": {"error": {"code": -32601, "message": "Method not found"}},
    "answers nothing": {"result": None},
    "answers nonsense": {"result": {"resources": 7, "resourceTemplates": 7}},
}


@pytest.mark.case("PAG-03")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list"])
async def test_pag_03_a_later_walk_that_fails_keeps_the_good_list_and_says_so(
    tmp_path: Path, fault: dict[str, Any], method: str
) -> None:
    templates = [{"uriTemplate": "t://{x}", "name": "t"}]
    answers = {method: [{}, fault]}
    with ScriptedServer(tmp_path, resources=OLD, templates=templates, answers=answers) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            assert hub.status()[0].last_error is None
            server.change(resources=NEW)
            await hub.list_again()
            listing, status = hub.catalogue.listings["it"], hub.status()[0]
            kept, new = {entry["uri"] for entry in OLD}, {entry["uri"] for entry in NEW}
            assert set(listing.by_uri) == (kept if method == "resources/list" else new)
            assert len(listing.templates) == 1
            assert "What it listed before is kept." in (listing.partial or "")
            assert (status.state.value, status.last_error) == ("ready", listing.partial)
            assert troubles(hub.status()) == {"it": listing.partial}


@pytest.mark.case("PAG-03")
async def test_pag_03_a_walk_that_succeeds_again_leaves_no_remark(tmp_path: Path) -> None:
    answers = {"resources/list": [{}, FAULTS["fails"], {}]}
    with ScriptedServer(tmp_path, resources=OLD, answers=answers) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            await hub.list_again()
            assert troubles(hub.status())
            await hub.list_again()
            assert (troubles(hub.status()), hub.status()[0].last_error) == ({}, None)
            assert len(hub.catalogue.listings["it"].resources) == len(OLD)


@pytest.mark.case("PAG-03")
async def test_pag_03_a_first_walk_that_fails_stands_in_the_status(tmp_path: Path) -> None:
    answers = {"resources/list": FAULTS["fails"]}
    with ScriptedServer(tmp_path, resources=OLD, answers=answers) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            status = hub.status()[0]
            assert (status.state.value, status.resources) == ("ready", 0)
            assert "disk on fire" in (status.last_error or "")
            assert "kept" not in (status.last_error or "")


@pytest.mark.case("PAG-03")
async def test_pag_03_a_first_walk_of_a_new_process_that_fails_keeps_what_the_last_one_listed(
    tmp_path: Path,
) -> None:
    with ScriptedServer(tmp_path, resources=OLD) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            await hub.ensure_listed()
            server.change(answers={"resources/list": FAULTS["fails"]})
            await hub.restart()
            await news.until(lambda: bool(hub.catalogue.listings["it"].partial))
            assert len(hub.catalogue.listings["it"].resources) == len(OLD)
            assert "kept" in (hub.status()[0].last_error or "")


@pytest.mark.case("IO-05")
async def test_io_05_what_a_server_listed_before_it_died_is_there(tmp_path: Path) -> None:
    answers = {"resources/templates/list": {"gate": "listed", "exit": 3}}
    with ScriptedServer(tmp_path, resources=OLD, answers=answers) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            hub.want()
            await server.wait_waiting("listed")
            server.open("listed")
            await news.until(lambda: bool(hub.catalogue.listings["it"].resources))
            listing = hub.catalogue.listings["it"]
            assert (len(listing.resources), len(listing.templates)) == (len(OLD), 0)
            assert "exit code 3" in (listing.partial or "")


@pytest.mark.case("PAG-03")
@pytest.mark.parametrize("before", ["a whole list", "nothing"])
async def test_pag_03_the_pages_of_a_server_that_died_are_there_unless_all_were_before(
    tmp_path: Path, before: str
) -> None:
    dying = [{}, {"exit": 3}]
    answers = {"resources/list": [{}, {}, *dying] if before == "a whole list" else dying}
    by_start = [{"answers": answers}, {"answers": {"resources/list": {"gate": "never"}}}]
    with ScriptedServer(tmp_path, resources=OLD, page_size=2, by_start=by_start) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            if before == "a whole list":
                await hub.ensure_listed()
                assert len(hub.catalogue.listings["it"].resources) == len(OLD)
                with anyio.fail_after(20):
                    await hub.list_again()
            hub.want()
            await news.until(lambda: bool(hub.catalogue.listings["it"].partial) or before == "a whole list")
            assert len(hub.catalogue.listings["it"].resources) == (
                len(OLD) if before == "a whole list" else 2
            )


@pytest.mark.case("IO-05")
async def test_io_05_a_server_that_died_before_it_listed_anything_counts_as_never_listed(
    tmp_path: Path,
) -> None:
    answers = {"resources/list": {"exit": 3}, "resources/templates/list": {"gate": "never"}}
    with ScriptedServer(tmp_path, resources=OLD, answers=answers) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            hub.want()
            await news.until(lambda: ("it", "backingOff") in news.states)
            assert not hub.catalogue.listings["it"].listed

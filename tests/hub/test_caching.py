"""What a server's caching hints spare it, and what they never do, seen from the hub."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.support.hubs import hub_of
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.hub.failure import Refused
from mcp_lectern.hub.hub import Hub
from mcp_lectern.mcp.wire.resources import ReadResult, TextItem

pytestmark = pytest.mark.anyio

HOUR = 3_600_000
ONE = [{"uri": "a://1", "name": "one"}]


def result(text: str, **hints: Any) -> dict[str, Any]:
    return {"resultType": "complete", "contents": [{"uri": "a://1", "text": text}], **hints}


def text(read: ReadResult) -> str:
    (item,) = read.items
    assert isinstance(item, TextItem)
    return item.text


def serving(folder: Path, *reads: dict[str, Any], **script: Any) -> ScriptedServer:
    answers = [read if "error" in read else {"result": read} for read in reads]
    return ScriptedServer(folder, era="modern", answers={"resources/read": answers}, **script)


def an_hour_later(hub: Hub) -> None:
    """What was kept is an hour older from now on."""
    hub.contents._cache._clock = lambda: time.monotonic() + HOUR / 1000


async def reads(hub: Hub, count: int) -> list[str]:
    return [text(await hub.read("it", "a://1", asked=True)) for _ in range(count)]


@pytest.mark.case("RD-10")
@pytest.mark.parametrize(
    "scope", [{"cacheScope": "private"}, {"cacheScope": "public"}, {}, {"cacheScope": 7}]
)
async def test_rd_10_a_fresh_result_is_served_without_a_read(tmp_path: Path, scope: dict[str, Any]) -> None:
    with serving(tmp_path, result("1", ttlMs=HOUR, **scope), result("2")) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            assert await reads(hub, 3) == ["1", "1", "1"]
            assert len(server.received("resources/read")) == 1


@pytest.mark.case("RD-10")
@pytest.mark.parametrize("hint", [{}, {"ttlMs": 0}, {"ttlMs": -5}, {"ttlMs": "60000"}, {"ttlMs": None}])
async def test_rd_10_without_a_usable_hint_each_wish_is_a_read(tmp_path: Path, hint: dict[str, Any]) -> None:
    with serving(tmp_path, result("1", **hint), result("2", **hint)) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            assert await reads(hub, 2) == ["1", "2"]


@pytest.mark.case("RD-10")
async def test_rd_10_a_stale_result_is_read_again_when_it_is_wanted_and_not_before(tmp_path: Path) -> None:
    with serving(tmp_path, result("1", ttlMs=50), result("2", ttlMs=HOUR)) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            assert await reads(hub, 1) == ["1"]
            began = time.monotonic()
            await hub.list_again()
            while time.monotonic() < began + 0.2:
                await hub.list_again()
            assert len(server.received("resources/read")) == 1
            assert await reads(hub, 2) == ["2", "2"]


@pytest.mark.case("RD-10")
@pytest.mark.parametrize("uri", ["a://1", "a://1/child"])
async def test_rd_10_a_notice_beats_the_time_that_is_left(tmp_path: Path, uri: str) -> None:
    capabilities = {"resources": {"subscribe": True}}
    with serving(tmp_path, result("1", ttlMs=HOUR), result("2"), capabilities=capabilities) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            assert await reads(hub, 1) == ["1"]
            server.notify("notifications/resources/updated", {"uri": uri})
            with anyio.fail_after(10):
                while hub.contents.fresh("it", "a://1") is not None:
                    await anyio.sleep(0.01)
            assert await reads(hub, 1) == ["2"]


@pytest.mark.case("RD-10")
async def test_rd_10_an_older_copy_is_served_when_the_server_fails_and_marked_as_such(tmp_path: Path) -> None:
    failing = {"error": {"code": -32603, "message": "disk on fire"}}
    with serving(tmp_path, result("1", ttlMs=1000), failing) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            first = await hub.read("it", "a://1")
            assert first.stale is None
            an_hour_later(hub)
            second = await hub.read("it", "a://1")
            assert text(second) == "1"
            assert second.stale
            assert "disk on fire" in second.stale
            assert "disk on fire" in hub.unreadable["it", "a://1"]
            with pytest.raises(Refused):
                await hub.read("it", "a://1", again=True)


@pytest.mark.case("RD-10")
@pytest.mark.parametrize(
    ("hint", "failing"),
    [({}, {"code": -32603, "message": "no"}), ({"ttlMs": 1000}, {"code": -32602, "message": "gone"})],
)
async def test_rd_10_a_copy_that_was_not_to_be_kept_or_is_gone_is_not_served(
    tmp_path: Path, hint: dict[str, Any], failing: dict[str, Any]
) -> None:
    with serving(tmp_path, result("1", **hint), {"error": failing}, resources=ONE) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            await hub.read("it", "a://1")
            an_hour_later(hub)
            with pytest.raises(Refused):
                await hub.read("it", "a://1")


@pytest.mark.case("RD-10")
async def test_rd_10_what_came_under_another_authorization_is_not_seen(tmp_path: Path) -> None:
    with serving(tmp_path, result("1", ttlMs=HOUR), result("2", ttlMs=HOUR)) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            assert await reads(hub, 1) == ["1"]
            hub.link("it").authorization = "somebody else"
            assert hub.contents.kept("it", "a://1") is None
            assert await reads(hub, 1) == ["2"]


@pytest.mark.case("RD-10")
async def test_rd_10_a_list_is_walked_again_when_it_is_used_after_its_time_and_not_before(
    tmp_path: Path,
) -> None:
    first = {"resultType": "complete", "resources": ONE, "ttlMs": HOUR, "nextCursor": "2"}
    last = {"resultType": "complete", "resources": [], "ttlMs": 200}
    pages = [{"result": first}, {"result": last}]
    with ScriptedServer(tmp_path, era="modern", answers={"resources/list": pages}) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            hub.want()
            began = time.monotonic()
            while time.monotonic() < began + 0.4:
                await hub.ensure_listed()
            assert len(server.received("resources/list")) == 2
            hub.want()
            await server.wait_received("resources/list", 3)


@pytest.mark.case("RD-10")
async def test_rd_10_a_list_without_a_hint_is_not_walked_for_being_used(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            for _ in range(20):
                hub.want()
            await hub.ensure_listed()
            assert len(server.received("resources/list")) == 1

"""Open documents: subscribed to while they are open, read again when they change, across restarts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.support.hubs import News, entries_of, hub_of
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.hub.hub import Hub
from mcp_lectern.hub.live import is_concerned
from mcp_lectern.mcp.wire.resources import TextItem

pytestmark = pytest.mark.anyio

OFFERED = {"resources": {"subscribe": True}}
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])
UPDATED = "notifications/resources/updated"


def text(hub: Hub, uri: str) -> str:
    kept = hub.contents.kept("it", uri)
    item = kept.items[0] if kept else None
    assert isinstance(item, TextItem)
    return item.text


def asked_for(server: ScriptedServer, uri: str) -> int:
    """How often the server was asked to watch this URI, in whichever era."""
    calls = sum(message["params"]["uri"] == uri for message in server.received("resources/subscribe"))
    streams = (message["params"]["notifications"] for message in server.received("subscriptions/listen"))
    return calls + sum(uri in wanted.get("resourceSubscriptions", ()) for wanted in streams)


async def opened(hub: Hub, news: News, *uris: str) -> None:
    """Read and open these, and wait until they are subscribed to."""
    for uri in uris:
        await hub.read("it", uri)
        hub.opened("it", uri)
    await news.until(lambda: hub.status()[0].subscriptions == len(uris))


@pytest.mark.case("SUB-02")
@pytest.mark.parametrize(
    ("updated", "concerned"),
    [
        ("dir://p", True),
        ("dir://p/a", True),
        ("dir://p?q=1", True),
        ("dir://p#part", True),
        ("dir://pq", False),
        ("dir://", False),
        ("dir://P", False),
        ("", False),
    ],
)
def test_sub_02_a_notice_concerns_what_it_names_and_what_it_continues(updated: str, concerned: bool) -> None:
    assert is_concerned("dir://p", updated) is concerned


@pytest.mark.case("SUB-02")
@ERAS
async def test_sub_02_a_child_refreshes_its_parent_and_a_sibling_does_not(tmp_path: Path, era: str) -> None:
    with ScriptedServer(tmp_path, era=era, capabilities=OFFERED, contents={"dir://p": "old"}) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            await opened(hub, news, "dir://p")
            server.change(contents={"dir://p": "new"}, notify=False)
            server.notify(UPDATED, {"uri": "dir://pq"})
            server.notify(UPDATED)
            server.notify(UPDATED, {"uri": 7})
            server.notify(UPDATED, {"uri": "dir://p/a"})
            await news.until(lambda: news.contents == [("it", "dir://p")])
            assert text(hub, "dir://p") == "new"
            assert len(server.received("resources/read")) == 2


@pytest.mark.case("SUB-02")
@ERAS
async def test_sub_02_a_restart_subscribes_again_and_reads_once(tmp_path: Path, era: str) -> None:
    with ScriptedServer(tmp_path, era=era, capabilities=OFFERED, contents={"a://1": "old"}) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            await opened(hub, news, "a://1")
            server.change(contents={"a://1": "new"}, notify=False)
            server.exit(1)
            await news.until(lambda: news.contents == [("it", "a://1")])
            await news.until(lambda: hub.status()[0].subscriptions == 1)
            assert text(hub, "a://1") == "new"
            assert server.starts == 2
            assert asked_for(server, "a://1") == 2
            await hub.list_again()
            assert len(server.received("resources/read")) == 2


@pytest.mark.case("SUB-02")
@ERAS
async def test_sub_02_the_last_close_unsubscribes_once(tmp_path: Path, era: str) -> None:
    with ScriptedServer(tmp_path, era=era, capabilities=OFFERED, contents={"a://1": "x"}) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            await opened(hub, news, "a://1")
            hub.opened("it", "a://1")
            hub.closed("it", "a://1")
            hub.closed("it", "a://1")
            end = "resources/unsubscribe" if era == "legacy" else "notifications/cancelled"
            await server.wait_received(end)
            await news.until(lambda: hub.status()[0].subscriptions == 0)
            assert len(server.received(end)) == 1
            assert asked_for(server, "a://1") == 1


@ERAS
async def test_a_preview_is_not_subscribed_to(
    tmp_path: Path, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_lectern.hub.live.SETTLE", 0.2)
    with ScriptedServer(
        tmp_path, era=era, capabilities=OFFERED, contents={"a://1": "x", "a://2": "y"}
    ) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            await hub.read("it", "a://1")
            hub.opened("it", "a://1")
            hub.closed("it", "a://1")
            await opened(hub, news, "a://2")
            assert asked_for(server, "a://1") == 0


async def test_a_document_that_was_never_read_is_not_subscribed_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_lectern.hub.live.SETTLE", 0.1)
    with ScriptedServer(tmp_path, capabilities=OFFERED, contents={"a://1": "x", "a://2": "y"}) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            await hub.ensure_listed()
            hub.opened("it", "a://1")
            await opened(hub, news, "a://2")
            assert (asked_for(server, "a://1"), asked_for(server, "a://2")) == (0, 1)
            await hub.read("it", "a://1")
            await news.until(lambda: hub.status()[0].subscriptions == 2)


@pytest.mark.case("PAG-04")
async def test_pag_04_a_storm_of_updates_leads_to_few_reads_and_the_last_state(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, capabilities=OFFERED, contents={"a://1": "0"}) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            await opened(hub, news, "a://1")
            for number in range(1, 101):
                server.change(contents={"a://1": str(number)}, notify=False)
                server.notify(UPDATED, {"uri": "a://1"})
            await news.until(lambda: text(hub, "a://1") == "100")
            assert len(server.received("resources/read")) <= 5


@pytest.mark.case("PAG-04")
async def test_pag_04_a_notice_during_a_read_leads_to_another_one(tmp_path: Path) -> None:
    answers: dict[str, Any] = {"resources/read": [{}, {"gate": "slow"}, {}]}
    with ScriptedServer(tmp_path, capabilities=OFFERED, contents={"a://1": "0"}, answers=answers) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            await opened(hub, news, "a://1")
            server.notify(UPDATED, {"uri": "a://1"})
            await server.wait_waiting("slow")
            server.notify(UPDATED, {"uri": "a://1"})
            server.change(contents={"a://1": "2"}, notify=False)
            server.open("slow")
            await news.until(lambda: text(hub, "a://1") == "2")
            await server.wait_received("resources/read", 3)


async def test_a_failed_refresh_keeps_the_old_text_and_marks_the_status(tmp_path: Path) -> None:
    answers = {"resources/read": [{}, {"error": {"code": -32603, "message": "disk on fire"}}, {}]}
    with ScriptedServer(tmp_path, capabilities=OFFERED, contents={"a://1": "old"}, answers=answers) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            await opened(hub, news, "a://1")
            server.notify(UPDATED, {"uri": "a://1"})
            await news.until(lambda: "disk on fire" in str(hub.status()[0].last_error))
            assert text(hub, "a://1") == "old"
            assert not news.contents
            server.change(contents={"a://1": "new"}, notify=False)
            server.notify(UPDATED, {"uri": "a://1"})
            await news.until(lambda: bool(news.contents))
            assert (text(hub, "a://1"), hub.status()[0].last_error) == ("new", None)


@pytest.mark.case("URI-05")
async def test_uri_05_a_notice_of_one_server_never_touches_the_other(tmp_path: Path) -> None:
    with (
        ScriptedServer(tmp_path, name="it", capabilities=OFFERED, contents={"a://1": "x"}) as one,
        ScriptedServer(tmp_path, name="other", capabilities=OFFERED, contents={"a://1": "y"}) as other,
    ):
        async with hub_of({"it": one.entry(), "other": other.entry()}) as (hub, news):
            for name in ("it", "other"):
                await hub.read(name, "a://1")
                hub.opened(name, "a://1")
            await news.until(lambda: [status.subscriptions for status in hub.status()] == [1, 1])
            one.change(contents={"a://1": "z"}, notify=False)
            one.notify(UPDATED, {"uri": "a://1"})
            await news.until(lambda: news.contents == [("it", "a://1")])
            assert len(other.received("resources/read")) == 1


@pytest.mark.case("SUB-01")
@ERAS
async def test_sub_01_an_unsolicited_notice_is_harmless_and_still_a_notice(tmp_path: Path, era: str) -> None:
    with ScriptedServer(tmp_path, era=era, capabilities={"resources": {}}, contents={"a://1": "x"}) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            await hub.read("it", "a://1")
            server.notify(UPDATED, {"uri": "a://1"})
            server.notify(UPDATED, {"uri": "never://read"})
            with anyio.fail_after(10):
                while hub.contents.kept("it", "a://1") is not None:
                    await anyio.sleep(0.01)
            assert not news.contents
            assert hub.status()[0].state.value == "ready"
            assert not server.received("resources/subscribe") + server.received("subscriptions/listen")


@pytest.mark.case("PAG-04")
async def test_pag_04_a_notice_during_the_first_read_leads_to_another_one(tmp_path: Path) -> None:
    answers: dict[str, Any] = {"resources/read": [{"gate": "slow"}, {}]}
    with ScriptedServer(tmp_path, capabilities=OFFERED, contents={"a://1": "1"}, answers=answers) as server:
        async with hub_of({"it": server.entry()}) as (hub, news), anyio.create_task_group() as tasks:
            hub.opened("it", "a://1")
            tasks.start_soon(hub.read, "it", "a://1")
            await server.wait_waiting("slow")
            server.notify(UPDATED, {"uri": "a://1"})
            with anyio.fail_after(10):
                while hub.contents._flights:
                    await anyio.sleep(0.01)
            server.open("slow")
            await server.wait_received("resources/read", 2)
            await news.until(lambda: hub.status()[0].subscriptions == 1)


@pytest.mark.case("SUB-02")
@pytest.mark.parametrize("way", ["result", "cancelled"])
async def test_sub_02_a_closed_stream_lists_and_reads_again_once(tmp_path: Path, way: str) -> None:
    capabilities = {"resources": {"subscribe": True, "listChanged": True}}
    with ScriptedServer(
        tmp_path, era="modern", capabilities=capabilities, contents={"a://1": "old"}
    ) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):
            await opened(hub, news, "a://1")
            lists = len(server.received("resources/list"))
            stream = server.received("subscriptions/listen")[-1]["id"]
            server.change(contents={"a://1": "new"}, notify=False)
            if way == "result":
                server.send({"jsonrpc": "2.0", "id": stream, "result": {"resultType": "complete"}})
            else:
                params = {"requestId": stream}
                server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
            await news.until(lambda: news.contents == [("it", "a://1")])
            await server.wait_received("resources/list", lists + 1)
            await news.until(lambda: hub.status()[0].subscriptions == 1)
            assert len(server.received("resources/read")) == 2


async def test_an_entry_that_has_changed_shows_its_own_text_in_documents_that_are_open(
    tmp_path: Path,
) -> None:
    """The former server's text under the new one's name would be a lie."""
    (tmp_path / "new").mkdir()
    with (
        ScriptedServer(tmp_path, capabilities=OFFERED, contents={"a://1": "old", "a://2": "x"}) as former,
        ScriptedServer(tmp_path / "new", capabilities=OFFERED, contents={"a://1": "new"}) as other,
    ):
        async with hub_of({"it": former.entry()}) as (hub, news):
            await opened(hub, news, "a://1")
            await hub.read("it", "a://2")
            await hub.configure(entries_of({"it": other.entry()}).entries)
            await news.until(lambda: bool(news.contents))
            await hub.read("it", "a://1")
            assert (text(hub, "a://1"), news.contents) == ("new", [("it", "a://1")])
            await news.until(lambda: hub.status()[0].subscriptions == 1)
            assert asked_for(other, "a://1") == 1


async def test_an_entry_that_has_changed_and_cannot_be_listed_leaves_open_documents_alone(
    tmp_path: Path,
) -> None:
    with ScriptedServer(tmp_path, capabilities=OFFERED, contents={"a://1": "old"}) as former:
        async with hub_of({"it": former.entry()}) as (hub, news):
            await opened(hub, news, "a://1")
            await hub.configure(entries_of({"it": {**former.entry(), "command": "no-such-program"}}).entries)
            await news.until(lambda: hub.states_shown()["it"] == "failed")
            await hub.ensure_listed()
            assert not news.contents

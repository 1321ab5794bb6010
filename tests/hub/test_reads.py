"""Reads: one flight per resource, cancelled when nobody waits, and what was read is kept."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.support.hubs import hub_of
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.hub.failure import Refused
from mcp_lectern.mcp.wire.resources import TextItem

pytestmark = pytest.mark.anyio

ONE = [{"uri": "a://1", "name": "one"}]


@pytest.mark.case("LSP-06")
async def test_lsp_06_many_readers_of_one_resource_share_one_read(tmp_path: Path) -> None:
    slow = {"resources/read": {"gate": "go"}}
    with ScriptedServer(tmp_path, resources=ONE, contents={"a://1": "x"}, answers=slow) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            texts: list[str] = []

            async def read() -> None:
                item = (await hub.read("it", "a://1")).items[0]
                assert isinstance(item, TextItem)
                texts.append(item.text)

            async with anyio.create_task_group() as tasks:
                for _ in range(20):
                    tasks.start_soon(read)
                await server.wait_waiting("go")
                server.open("go")
            assert texts == ["x"] * 20
            assert len(server.received("resources/read")) == 1


@pytest.mark.case("LSP-06")
async def test_lsp_06_a_read_that_nobody_waits_for_is_cancelled(tmp_path: Path) -> None:
    slow = {"resources/read": [{"gate": "never"}, {}]}
    with ScriptedServer(tmp_path, resources=ONE, contents={"a://1": "x"}, answers=slow) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(hub.read, "it", "a://1")
                await server.wait_waiting("never")
                tasks.cancel_scope.cancel()
            await server.wait_received("notifications/cancelled")
            assert (await hub.read("it", "a://1")).items


@pytest.mark.case("RD-01")
async def test_rd_01_a_missing_resource_lists_again_and_says_what_the_list_says(tmp_path: Path) -> None:
    gone = {"error": {"code": -32002, "message": "gone fishing"}}
    with ScriptedServer(tmp_path, resources=ONE, answers={"resources/read": gone}) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            with pytest.raises(Refused) as refusal:
                await hub.read("it", "a://1")
            failure = refusal.value.failure
            assert (failure.kind, failure.code) == ("notFound", -32002)
            assert "gone fishing" in failure.message
            assert failure.message.endswith("The server still lists it.")
            assert hub.unreadable["it", "a://1"] == failure.message
            server.change(answers={}, contents={"a://1": "back"}, notify=False)
            await hub.read("it", "a://1")
            assert not hub.unreadable


async def test_what_was_read_is_kept_until_it_is_forgotten(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE, contents={"a://1": "x"}) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            result = await hub.read("it", "a://1")
            assert hub.contents.kept("it", "a://1") is result
            hub.contents.forget("it")
            assert hub.contents.kept("it", "a://1") is None

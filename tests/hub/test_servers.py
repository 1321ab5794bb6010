"""Servers that are slow, that die, that do not exist: each costs itself alone."""

from __future__ import annotations

import time
from pathlib import Path

import anyio
import pytest
from tests.support.hubs import hub_of
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.hub.failure import Refused
from mcp_lectern.hub.status import State
from mcp_lectern.mcp.wire.resources import TextItem

pytestmark = pytest.mark.anyio

ONE = [{"uri": "a://1", "name": "one"}]


@pytest.mark.case("IO-05")
async def test_io_05_a_crash_loop_is_slowed_down_and_hurts_nobody_else(tmp_path: Path) -> None:
    dying = {"resources/list": {"after": [{"exit": 0}]}}
    with (
        ScriptedServer(tmp_path, name="dying", resources=ONE, answers=dying) as bad,
        ScriptedServer(tmp_path, name="good", resources=ONE, contents={"a://1": "fine"}) as good,
    ):
        async with hub_of({"bad": bad.entry(), "good": good.entry()}) as (hub, news):
            began = time.monotonic()
            hub.want()
            await bad.wait_started(3)
            assert time.monotonic() - began >= 2.5, "the second restart waits longer than the first"
            assert bad.starts <= 5
            assert (await hub.read("good", "a://1")).items
            assert ("bad", "backingOff") in news.states
            assert good.starts == 1


@pytest.mark.case("IO-05")
async def test_io_05_an_explicit_wish_starts_a_server_whatever_the_back_off_says(tmp_path: Path) -> None:
    broken = [{"on_start": [{"stderr": "no luck\n"}, {"exit": 3}]}] * 10 + [{}]
    with ScriptedServer(tmp_path, by_start=broken, resources=ONE, contents={"a://1": "at last"}) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            failures: list[str] = []
            while hub.catalogue.resource("it", "a://1") is None:
                try:
                    assert (await hub.read("it", "a://1")).items
                    await hub.ensure_listed()
                except Refused as refusal:
                    failures.append(str(refusal))
            assert 5 <= len(failures) <= 10
            assert all("no luck" in failure for failure in failures), "each carries the end of stderr"


@pytest.mark.case("IO-05")
@pytest.mark.parametrize("code", [0, 1])
async def test_io_05_a_read_that_its_server_does_not_survive_fails_and_is_not_sent_again(
    tmp_path: Path, code: int
) -> None:
    dying = [{"answers": {"resources/read": {"exit": code}}}, {}]
    with ScriptedServer(tmp_path, by_start=dying, resources=ONE, contents={"a://1": "fine"}) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            with pytest.raises(Refused, match=f"exit code {code}"):
                await hub.read("it", "a://1")
            assert len(server.received("resources/read")) == 1
            result = await hub.read("it", "a://1")
            assert [item.text for item in result.items if isinstance(item, TextItem)] == ["fine"]
        assert server.starts == 2


@pytest.mark.case("IO-05")
async def test_io_05_a_missing_program_fails_with_a_sentence_and_no_process(tmp_path: Path) -> None:
    async with hub_of({"it": {"command": "no-such-program-anywhere"}}) as (hub, _):
        with pytest.raises(Refused, match="no-such-program-anywhere"):
            await hub.read("it", "a://1")
        assert hub.states()["it"] is State.FAILED


@pytest.mark.case("IO-09")
async def test_io_09_a_slow_starter_holds_nobody_and_joins_when_ready(tmp_path: Path) -> None:
    slow = {"initialize": {"gate": "go"}}
    with (
        ScriptedServer(tmp_path, name="a", resources=ONE, answers=slow) as a,
        ScriptedServer(tmp_path, name="b", resources=ONE) as b,
    ):
        async with hub_of({"a": a.entry(), "b": b.entry()}) as (hub, news):
            hub.want()
            await a.wait_waiting("go")
            await news.until(lambda: hub.catalogue.listings["b"].listed)
            assert hub.incomplete()
            assert not hub.incomplete(["b"])
            assert hub.states()["a"] is State.STARTING
            a.open("go")
            await news.until(lambda: hub.catalogue.listings["a"].listed)
            assert not hub.incomplete()


@pytest.mark.case("IO-09")
async def test_io_09_a_server_that_never_answers_is_given_up_by_name_and_later_given_longer(
    tmp_path: Path,
) -> None:
    with ScriptedServer(tmp_path, answers={"initialize": {"silent": True}}) as server:
        limits = {"timeouts": {"start": 1.0, "total": 8.0}}
        async with hub_of({"sleepy": server.entry()}, **limits) as (hub, _):
            lengths = []
            for _attempt in range(2):
                began = time.monotonic()
                with pytest.raises(Refused, match="sleepy"):
                    await hub.read("sleepy", "a://1")
                lengths.append(time.monotonic() - began)
            assert lengths[1] > lengths[0] + 0.5, "a slow download must converge"


async def test_the_death_of_a_server_fails_its_reads_at_once_and_the_next_read_starts_it(
    tmp_path: Path,
) -> None:
    answers = {"resources/read": [{"gate": "never", "exit": 7}, {}]}
    with ScriptedServer(tmp_path, resources=ONE, contents={"a://1": "back"}, answers=answers) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            outcome: list[Refused] = []

            async def read() -> None:
                with pytest.raises(Refused) as refusal:
                    await hub.read("it", "a://1")
                outcome.append(refusal.value)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                await server.wait_waiting("never")
                server.open("never")
            assert "7" in outcome[0].failure.message
            server.change(notify=False, answers={})
            assert (await hub.read("it", "a://1")).items
            await server.wait_started(2)


async def test_a_stopped_server_stays_stopped_until_somebody_explicitly_wants_it(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE, contents={"a://1": "x"}) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            await hub.stop(["it"])
            await server.wait_ended(1)
            hub.want()
            assert hub.states()["it"] is State.STOPPED
            assert hub.catalogue.resource("it", "a://1"), "what is listed stays known"
            await hub.read("it", "a://1")
            await server.wait_started(2)


async def test_unchanged_servers_keep_their_process_when_the_configuration_changes(tmp_path: Path) -> None:
    from tests.support.hubs import entries_of

    with (
        ScriptedServer(tmp_path, name="a", resources=ONE) as a,
        ScriptedServer(tmp_path, name="b", resources=ONE) as b,
    ):
        async with hub_of({"a": a.entry(), "b": b.entry()}) as (hub, _):
            await hub.ensure_listed()
            await hub.configure(entries_of({"a": a.entry()}).entries)
            await b.wait_ended(1)
            assert hub.catalogue.servers == ("a",)
            assert a.starts == 1
            assert hub.states()["a"] is State.READY

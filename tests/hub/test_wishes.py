"""What a wish may not start: a disabled server, and by typing alone one that keeps dying."""

from __future__ import annotations

import time
from pathlib import Path

import anyio
import pytest
from tests.support.hubs import entries_of, hub_of
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.hub.failure import Refused
from mcp_lectern.hub.status import State

pytestmark = pytest.mark.anyio

ONE = [{"uri": "a://1", "name": "one"}]


async def test_a_disabled_server_is_never_started_by_any_wish(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE, contents={"a://1": "x"}) as server:
        disabled = {"it": {**server.entry(), "disabled": True}}
        async with hub_of(disabled) as (hub, _):
            hub.want()
            hub.want(["it"])
            with pytest.raises(Refused, match="disabled"):
                await hub.read("it", "a://1", asked=True)
            with pytest.raises(Refused, match="disabled"):
                await hub.complete("it", "a://{x}", "x", "", {})
            await hub.ensure_listed()
            await hub.list_again(["it"])
            await hub.restart(["it"])
            await hub.stop(["it"])
            await hub.configure(entries_of(disabled).entries, eager=True)
            await hub.restart()
            assert hub.states() == {"it": State.STOPPED}
            assert not hub.incomplete()
        assert server.starts == 0


@pytest.mark.case("IO-05")
async def test_io_05_typing_does_not_cut_a_back_off_short(tmp_path: Path) -> None:
    dying = [{"on_start": [{"exit": 3}]}] * 20
    with ScriptedServer(tmp_path, by_start=dying, resources=ONE) as server:
        async with hub_of({"it": server.entry()}) as (hub, news):

            async def typing() -> None:
                while True:
                    hub.want()
                    await anyio.sleep(0.01)

            hub.want()
            await news.until(lambda: ("it", "backingOff") in news.states)
            began, before = time.monotonic(), len(news.states)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(typing)
                await news.until(lambda: ("it", "starting") in news.states[before:])
                tasks.cancel_scope.cancel()
            waited, after = time.monotonic() - began, len(news.states)
            assert waited >= 0.9, "the first delay is a second, however much is typed"
            await news.until(lambda: ("it", "backingOff") in news.states[after:])

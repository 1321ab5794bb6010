"""Who wants a server whose entry is not known in full waits for that, and for nothing that never comes."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest
from tests.support.hubs import entries_of, hub_of

from mcp_lectern.hub.entry import Entry
from mcp_lectern.hub.failure import Refused
from mcp_lectern.hub.hub import Hub

pytestmark = pytest.mark.anyio

REAL = entries_of({"docs": {"command": "true"}}).entries[0]
PREPARING = Entry(REAL.spec, "", {}, approved=True, preparing=True)


async def told_when(hub: Hub, entries: list[Entry], *, stop: bool = False) -> Refused:
    """What a wish comes to that was made before these entries were configured."""
    await hub.configure([PREPARING])
    told: list[Refused] = []

    async def wish() -> None:
        with pytest.raises(Refused) as caught:
            await hub.link("docs").ready()
        told.append(caught.value)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wish)
            await anyio.wait_all_tasks_blocked()
            assert not told
            assert hub.states_shown() == {"docs": "idle"}
            assert hub.incomplete()
            if stop:
                await hub.stop()
            await hub.configure(entries)
    return told[0]


@pytest.mark.case("IO-09")
async def test_io_09_an_entry_that_turns_out_not_to_be_approved_is_refused_and_not_started() -> None:
    refused = replace(REAL, approved=False, launched=None, refusal="Approve it first.")
    async with hub_of({}) as (hub, _):
        assert "Approve it first." in str(await told_when(hub, [refused]))
        assert hub.states_shown() == {"docs": "notTrusted"}


@pytest.mark.case("IO-09")
@pytest.mark.parametrize("stop", [True, False])
async def test_io_09_nobody_waits_for_an_entry_that_is_gone_or_stopped(stop: bool) -> None:
    async with hub_of({}) as (hub, _):
        assert "was stopped" in str(await told_when(hub, [], stop=stop))

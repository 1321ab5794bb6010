"""What is offered follows the filters; what is mentioned is known all the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.catalogues import files, listing
from tests.support.hubs import entries_of, hub_of
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.hub.offering import MANY, Offering
from mcp_lectern.settings import Filter

pytestmark = pytest.mark.anyio

TWO = [{"uri": "memo://plan", "name": "plan"}, {"uri": "memo://old", "name": "old"}]


async def test_filters_apply_to_what_is_offered_and_follow_the_settings(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=TWO) as server:
        entries = {"docs": server.entry()}
        async with hub_of(entries, filters={"docs": {"exclude": ["*old"]}}) as (hub, _):
            await hub.ensure_listed()
            assert [one.uri for one in hub.indexes["docs"].resources.entries] == ["memo://plan"]
            assert hub.catalogue.resource("docs", "memo://old") is not None
            prepared = entries_of(entries)
            hub.adopt(replace(prepared.settings, filters={"docs": Filter(hide=True)}), ())
            await hub.configure(prepared.entries)
            assert not hub.indexes["docs"].resources.entries
            hub.adopt(prepared.settings, ())
            await hub.configure(prepared.entries)
            assert len(hub.indexes["docs"].resources.entries) == 2
            assert server.starts == 1


async def test_a_list_that_stays_the_same_is_not_indexed_again() -> None:
    offering = Offering()
    first = await offering.index(listing("long", files(MANY)))
    again = await offering.index(listing("long", files(MANY)), first)
    assert again.resources is first.resources
    assert again.listing.resources is first.listing.resources
    shorter = await offering.index(listing("long", files(MANY - 1)), first)
    assert len(shorter.resources.entries) == MANY - 1
    offering.filters = {"long": Filter(hide=True)}
    assert not (await offering.index(listing("long", files(MANY)), first)).resources.entries


async def test_a_hidden_server_is_not_started_by_typing_but_by_its_name(tmp_path: Path) -> None:
    for name in "hs":
        (tmp_path / name).mkdir()
    with (
        ScriptedServer(tmp_path / "h", resources=TWO) as hidden,
        ScriptedServer(tmp_path / "s", resources=TWO) as shown,
    ):
        servers = {"hidden": hidden.entry(), "shown": shown.entry()}
        async with hub_of(servers, filters={"hidden": {"hide": True}}) as (hub, news):
            hub.want()
            await news.until(lambda: hub.catalogue.listings["shown"].listed)
            assert not hub.incomplete()
            assert (hidden.starts, shown.starts) == (0, 1)
            hub.want(["hidden"])
            await news.until(lambda: hub.catalogue.listings["hidden"].listed)
            assert hidden.starts == 1

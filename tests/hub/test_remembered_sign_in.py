"""What one sign-in was shown is remembered for that sign-in alone, and gone when it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.hub.test_remembered import remembering, rows, until_written
from tests.hub.test_sign_in import LocalBrowser
from tests.support.oauth import World

from mcp_lectern.hub.sign_in import sign_in, sign_out
from mcp_lectern.mcp.auth.tokens import InMemory

pytestmark = pytest.mark.anyio

SECRET = "res://secret"


async def test_only_the_same_sign_in_finds_what_was_listed_under_it(tmp_path: Path) -> None:
    world, storage = World(), InMemory()
    async with world.serve():
        servers = {"docs": {"url": world.server_url}}
        async with remembering(tmp_path / "c", servers, tokens=storage) as (hub, _):
            await sign_in(hub, "docs", LocalBrowser(world))
            await hub.ensure_listed()
            await until_written(hub, "docs")
        before = len(world.requests)
        async with remembering(tmp_path / "c", servers, tokens=storage) as (hub, news):
            await news.until(lambda: hub.catalogue.resource("docs", SECRET) is not None)
            assert "docs" in hub.indexes
        async with remembering(tmp_path / "c", servers, tokens=InMemory()) as (hub, _):
            file = hub.remembered._file
            assert file is not None
            await hub.remembered._recall_signed_in(hub.link("docs"), file)
            assert hub.indexes == {}
        assert len(world.requests) == before
        assert rows(tmp_path / "c") == 1


async def test_signing_out_forgets_it(tmp_path: Path) -> None:
    world, storage = World(), InMemory()
    async with world.serve():
        servers = {"docs": {"url": world.server_url}}
        async with remembering(tmp_path / "c", servers, tokens=storage) as (hub, _):
            await sign_in(hub, "docs", LocalBrowser(world))
            await hub.ensure_listed()
            await until_written(hub, "docs")
            assert rows(tmp_path / "c") == 1
            await sign_out(hub, "docs")
            assert rows(tmp_path / "c") == 0

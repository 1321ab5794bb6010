"""A running hub over scripted servers, in this process.

async with hub_of({"a": server.entry()}) as (hub, news):
    await hub.ensure_listed()
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio

from mcp_lectern.hub import prepare
from mcp_lectern.hub.hub import Hub
from mcp_lectern.mcp.auth.tokens import InMemory, TokenStorage
from mcp_lectern.trust.approvals import Approvals


class News:
    """What the hub tells its observer, and a way to wait for it."""

    def __init__(self) -> None:
        self.states: list[tuple[str, str]] = []
        self.published: list[tuple[str, int]] = []
        self.logs: list[tuple[str, str]] = []
        self.contents: list[tuple[str, str]] = []
        self.hub: Hub
        self._something = anyio.Event()

    def catalogue_changed(self, server: str) -> None:
        listing = self.hub.catalogue.listings.get(server)
        self.published.append((server, len(listing.resources) if listing else -1))
        self._tell()

    def status_changed(self, server: str) -> None:
        self.states.append((server, self.hub.states()[server].value))
        self._tell()

    def contents_changed(self, server: str, uri: str) -> None:
        self.contents.append((server, uri))
        self._tell()

    def log(self, server: str, line: str) -> None:
        self.logs.append((server, line))
        self._tell()

    async def until(self, condition: Callable[[], bool], timeout: float = 20) -> None:
        with anyio.fail_after(timeout):
            while not condition():
                await self._something.wait()

    def _tell(self) -> None:
        self._something.set()
        self._something = anyio.Event()


def entries_of(servers: Mapping[str, Any], **settings: Any) -> prepare.Prepared:
    """User-level entries, as a ``--config`` file would give them."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.json")
        config.write_text(json.dumps({**settings, "servers": dict(servers)}), encoding="utf-8")
        approvals = Approvals(Path(folder, "approvals.json"))
        return prepare.prepare(prepare.Request(config_files=[config], discover=False), approvals=approvals)


@contextlib.asynccontextmanager
async def hub_of(
    servers: Mapping[str, Any], *, tokens: Callable[[], TokenStorage] = InMemory, **settings: Any
) -> AsyncIterator[tuple[Hub, News]]:
    """A hub that runs these servers; everything has ended when the context is left."""
    news = News()
    hub = news.hub = Hub(news, "0")
    hub.tokens = tokens
    prepared = entries_of(servers, **settings)
    assert not prepared.warnings
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hub.run)
        hub.adopt(prepared.settings, ())
        await hub.configure(prepared.entries)
        try:
            yield hub, news
        finally:
            with anyio.CancelScope(shield=True):
                await hub.close()

"""Remote servers that restart, forget sessions and drop streams under reads: nothing is lost or left.

Each has a document open all the time, which shows the last text whatever happened before.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import anyio
import psutil
import pytest
from tests.support.http_mcp import HttpMcp, acknowledge
from tests.support.http_server import HttpServer, Reply, Request, Stream
from tests.support.hubs import News, hub_of

from mcp_lectern.hub.failure import Refused
from mcp_lectern.hub.hub import Hub
from mcp_lectern.mcp.transport import delays
from mcp_lectern.mcp.wire.resources import TextItem

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(180),
    pytest.mark.skipif(sys.platform == "win32", reason="counts of descriptors are POSIX"),
]

SERVERS, READERS, READS = 20, 3, 4_000
URIS = 5
"""Of each reader its own, so that no two reads share a flight."""
DISTURBED_EVERY = 40
LIVE = "soak://live"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
UPDATED = "notifications/resources/updated"


class Shelf:
    """A right server of either era; on ``streams`` it tells of changes, with their metadata."""

    def __init__(self, name: str, era: str) -> None:
        self.name = name
        self.era = era
        self.version = 0
        self.streams: list[tuple[Stream, dict[str, str]]] = []
        self.watched = False
        self.mcp = HttpMcp(era, capabilities={"resources": {"subscribe": True, "listChanged": True}})
        self.mcp.on |= {
            "resources/read": self.read,
            "resources/subscribe": self.subscribe,
            "subscriptions/listen": self.listen,
            "GET": self.get,
        }
        self.server = HttpServer(self.serve)
        self._restarting = asyncio.Lock()

    async def serve(self, request: Request, reply: Reply) -> None:
        named = request.headers.get("mcp-session-id")
        if self.era == "legacy" and request.method != "initialize" and named not in self.mcp.sessions[-1:]:
            await reply.send(404)
        else:
            await self.mcp(request, reply)

    async def read(self, request: Request, reply: Reply) -> None:
        uri = request.message["params"]["uri"]
        text = f"{self.name} {uri} {self.version}"
        result = {"resultType": "complete", "contents": [{"uri": uri, "text": text}]}
        await reply.result(request, result)

    async def subscribe(self, request: Request, reply: Reply) -> None:
        self.watched = True
        await reply.result(request, {})

    async def listen(self, request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await acknowledge(stream, request)
        wanted = request.message["params"]["notifications"].get("resourceSubscriptions", ())
        await self._hold(stream, {SUBSCRIPTION: request.message["id"]} if LIVE in wanted else {})

    async def get(self, _request: Request, reply: Reply) -> None:
        await self._hold(await reply.stream(), {})

    async def _hold(self, stream: Stream, meta: dict[str, str]) -> None:
        held = (stream, meta)
        self.streams.append(held)
        try:
            await stream.closed()
        finally:
            self.streams.remove(held)

    async def change(self) -> None:
        """Another version, which those are told of who asked for it."""
        self.version += 1
        for stream, meta in tuple(self.streams):
            if meta or self.watched:
                await stream.message({"method": UPDATED, "params": {"uri": LIVE, "_meta": meta}})

    # What goes wrong.

    async def restart(self) -> None:
        self.watched = False
        self.mcp.sessions.clear()
        async with self._restarting:
            await self.server.restart()

    async def forget_sessions(self) -> None:
        self.watched = False
        self.mcp.sessions.clear()

    async def cut_streams(self) -> None:
        for stream, _ in tuple(self.streams):
            stream.cut()


@dataclass
class Soak:
    """The one run. ``lost`` are reads that failed, ``wrong`` those that got another's text."""

    hub: Hub
    shelves: list[Shelf]
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    done: int = 0
    disturbances: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    async def read_on(self, server: str, reader: int) -> None:
        """One reader: every read is repeated until it has its answer."""
        for count in range(READS // SERVERS // READERS):
            while not await self._answered(server, f"soak://{server}/{reader}/{count % URIS}"):
                pass
            self.done += 1
            if self.done % DISTURBED_EVERY == 0:
                await self._disturb()

    async def _answered(self, server: str, uri: str) -> bool:
        try:
            (item,) = (await self.hub.read(server, uri)).items
        except Refused as refused:
            self.lost[refused.failure.kind] += 1
            return False
        assert isinstance(item, TextItem)
        if item.text.split()[:2] != [server, uri]:
            self.wrong.append(f"{server} {uri} was answered {item.text}")
        return True

    async def _disturb(self) -> None:
        shelf = self.chance.choice(self.shelves)
        ways: list[Callable[[], Awaitable[None]]] = [shelf.restart, shelf.forget_sessions, shelf.cut_streams]
        way = self.chance.choice(ways)
        await way()
        await shelf.change()
        self.disturbances[way.__name__] += 1


def shown(hub: Hub, server: str) -> str:
    """What the open document of a server shows."""
    kept = hub.contents.kept(server, LIVE)
    item = kept.items[0] if kept else None
    return item.text if isinstance(item, TextItem) else ""


async def up_to_date(hub: Hub, news: News, shelf: Shelf) -> None:
    """Wait until the open document shows the last version, and is told of the next one."""
    for _ in range(2):
        await news.until(lambda: shown(hub, shelf.name) == f"{shelf.name} {LIVE} {shelf.version}", 60)
        await news.until(lambda: hub.link(shelf.name).connection is not None, 60)
        await shelf.change()


async def test_nothing_is_lost_mixed_up_or_left_over_by_remote_servers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delays, "FIRST", 0.05)
    process = psutil.Process()
    tasks, descriptors = asyncio.all_tasks(), process.num_fds()
    shelves = [Shelf(f"server{number}", ("legacy", "modern")[number % 2]) for number in range(SERVERS)]
    with anyio.fail_after(150):
        async with AsyncExitStack() as stack:
            for shelf in shelves:
                await stack.enter_async_context(shelf.server)
            entries = {shelf.name: {"url": shelf.server.url} for shelf in shelves}
            hub, news = await stack.enter_async_context(hub_of(entries))
            for shelf in shelves:
                await hub.read(shelf.name, LIVE)
                hub.opened(shelf.name, LIVE)
            await news.until(lambda: all(status.subscriptions == 1 for status in hub.status()))
            soak = Soak(hub, shelves)
            async with anyio.create_task_group() as readers:
                for shelf in shelves:
                    for reader in range(READERS):
                        readers.start_soon(soak.read_on, shelf.name, reader)
            async with anyio.create_task_group() as documents:
                for shelf in shelves:
                    documents.start_soon(up_to_date, hub, news, shelf)
            assert all(status.subscriptions == 1 for status in hub.status())
    assert soak.wrong == []
    assert soak.done == READS // SERVERS // READERS * SERVERS * READERS
    assert len(soak.disturbances) == 3
    assert sum(soak.disturbances.values()) == soak.done // DISTURBED_EVERY
    # A restart costs at most what was under way there; each of those was told, and asked again.
    assert sum(soak.lost.values()) <= soak.disturbances["restart"] * READERS * 3
    assert asyncio.all_tasks() == tasks
    # Sockets are closed in the turn of the loop that follows.
    await asyncio.sleep(0)
    assert process.num_fds() <= descriptors

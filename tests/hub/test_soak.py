"""Fifty servers, ten thousand reads, servers killed and reads given up meanwhile: nothing is lost or left.

Each has a document open all the time, which is told of changes by every process of its server.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import random
import signal
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from tests.support import scripted_server
from tests.support.hubs import News, hub_of

from mcp_lectern.hub.failure import Refused
from mcp_lectern.hub.hub import Hub
from mcp_lectern.mcp.wire.resources import TextItem

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform == "win32", reason="signals and counts of descriptors are POSIX"),
]

SERVERS, READERS, READS = 50, 4, 10_000
URIS = 5
"""Of each reader its own, so that no two reads share a flight."""
KILLED_EVERY, GIVEN_UP_EVERY = 200, 97
SETTLED_AFTER = 3_000
"""Reads after which everything that is kept for good is there."""
GROWTH_BYTES, GROWTH_BLOCKS = 12 * 1024 * 1024, 0.05
"""What the process, and its count of Python objects, may grow in all the reads after that."""
LIVE = "soak://live"
OFFERED = {"resources": {"subscribe": True, "listChanged": True}}
HOOK = Path(__file__).with_name("soak_hook.py")


def entry(folder: Path, name: str, era: str) -> dict[str, Any]:
    """A server that says who it is in each answer."""
    script = folder / f"{name}.json"
    keys = {"era": era, "capabilities": OFFERED, "hook": str(HOOK), "answers_as": name}
    script.write_text(json.dumps(keys))
    return {"command": sys.executable, "args": ["-S", str(scripted_server.PROGRAM), "--script", str(script)]}


def memory() -> tuple[int, int]:
    """Resident bytes, and Python's blocks."""
    gc.collect()
    return psutil.Process().memory_info().rss, sys.getallocatedblocks()


@dataclass
class Soak:
    """The one run. ``pids`` are all processes that ever answered, ``lost`` the reads that a kill cost."""

    hub: Hub
    chance: random.Random = field(default_factory=lambda: random.Random(4))
    done: int = 0
    begun: int = 0
    killed: int = 0
    given_up: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    pids: set[int] = field(default_factory=set)
    settled: tuple[int, int] = (0, 0)

    async def read_on(self, server: str, reader: int) -> None:
        """One reader: every read is repeated until it has its answer."""
        for count in range(READS // SERVERS // READERS):
            uri = f"soak://{server}/{reader}/{count % URIS}"
            self.begun += 1
            if self.begun % GIVEN_UP_EVERY == 0:
                await self._give_up(server, uri)
            while not await self._answered(server, uri):
                pass
            self.done += 1
            if self.done == SETTLED_AFTER:
                self.settled = memory()
            if self.done % KILLED_EVERY == 0:
                self._kill()

    async def _give_up(self, server: str, uri: str) -> None:
        with anyio.move_on_after(0.002) as scope, contextlib.suppress(Refused):
            await self.hub.read(server, uri)
        self.given_up += scope.cancelled_caught

    async def _answered(self, server: str, uri: str) -> bool:
        try:
            (item,) = (await self.hub.read(server, uri)).items
        except Refused as refused:
            self.lost[refused.failure.kind] += 1
            return False
        assert isinstance(item, TextItem)
        who, what, pid = item.text.split()
        if (who, what, item.uri) != (server, uri, uri):
            self.wrong.append(f"{server} {uri} was answered {item.text}")
        self.pids.add(int(pid))
        return True

    def _kill(self) -> None:
        """End one server that runs, whatever it is doing."""
        links = [self.hub.link(f"server{number}") for number in range(SERVERS)]
        running = [link.connection.pid for link in links if link.connection and not link.connection.closed]
        if running and (pid := self.chance.choice(running)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                self.killed += 1


async def is_told(hub: Hub, news: News, server: str) -> None:
    """The open document of this server is read again each time when it is said to have changed.

    The first time may still come of a restart, whose server has to be asked again until it is watched.
    """

    def told_since(count: int) -> bool:
        return news.contents.count((server, LIVE)) > count

    for _ in range(3):
        before = news.contents.count((server, LIVE))
        while not told_since(before):
            with contextlib.suppress(Refused, TimeoutError):
                await hub.read(server, f"soak://{server}/poke")
                await news.until(partial(told_since, before), 3)


def still_running(pids: set[int]) -> list[int]:
    return [pid for pid in pids if psutil.pid_exists(pid)]


async def test_nothing_is_lost_mixed_up_or_left_over(tmp_path: Path) -> None:
    process = psutil.Process()
    eras = ("both", "legacy")
    names = [f"server{number}" for number in range(SERVERS)]
    servers = {name: entry(tmp_path, name, eras[place % 2]) for place, name in enumerate(names)}
    tasks, descriptors, children = asyncio.all_tasks(), process.num_fds(), set(process.children())
    with anyio.fail_after(240):
        async with hub_of(servers) as (hub, news):
            for name in servers:
                await hub.read(name, LIVE)
                hub.opened(name, LIVE)
            await news.until(lambda: all(status.subscriptions == 1 for status in hub.status()), 60)
            soak = Soak(hub)
            async with anyio.create_task_group() as readers:
                for name in servers:
                    for reader in range(READERS):
                        readers.start_soon(soak.read_on, name, reader)
            resident, blocks = memory()
            async with anyio.create_task_group() as documents:
                for name in servers:
                    documents.start_soon(is_told, hub, news, name)
            assert all(status.subscriptions == 1 for status in hub.status())
    assert soak.wrong == []
    assert soak.done == READS
    assert soak.killed >= READS // KILLED_EVERY * 0.9
    assert soak.given_up > READS // GIVEN_UP_EVERY / 2
    # A kill costs at most what was under way at its server; each of those was told, and asked again.
    assert sum(soak.lost.values()) <= soak.killed * READERS * 2
    assert len(soak.pids) > SERVERS
    assert asyncio.all_tasks() == tasks
    assert process.num_fds() <= descriptors
    assert set(process.children(recursive=True)) <= children
    assert still_running(soak.pids) == []
    assert resident - soak.settled[0] < GROWTH_BYTES
    assert blocks - soak.settled[1] < soak.settled[1] * GROWTH_BLOCKS

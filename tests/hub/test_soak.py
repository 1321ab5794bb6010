"""Fifty servers, ten thousand reads, servers killed and reads given up meanwhile: nothing is lost or left."""

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
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from tests.support import scripted_server
from tests.support.hubs import hub_of

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
HOOK = Path(__file__).with_name("soak_hook.py")


def entry(folder: Path, name: str) -> dict[str, Any]:
    """A server that says who it is in each answer."""
    script = folder / f"{name}.json"
    script.write_text(json.dumps({"era": "both", "hook": str(HOOK), "answers_as": name}))
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


def still_running(pids: set[int]) -> list[int]:
    return [pid for pid in pids if psutil.pid_exists(pid)]


async def test_nothing_is_lost_mixed_up_or_left_over(tmp_path: Path) -> None:
    process = psutil.Process()
    servers = {f"server{number}": entry(tmp_path, f"server{number}") for number in range(SERVERS)}
    tasks, descriptors, children = asyncio.all_tasks(), process.num_fds(), set(process.children())
    with anyio.fail_after(240):
        async with hub_of(servers) as (hub, _):
            soak = Soak(hub)
            async with anyio.create_task_group() as readers:
                for name in servers:
                    for reader in range(READERS):
                        readers.start_soon(soak.read_on, name, reader)
            resident, blocks = memory()
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

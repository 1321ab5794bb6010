"""Row: fifty servers that are started together, against the slowest of them alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import anyio

from bench.language_server import ROOT
from bench.list_client import Silent
from bench.table import Row
from mcp_lectern.mcp.connect import StdioParameters, connect

SERVERS, SLOWEST, LIMIT = 50, 3.0, 1.5
SERVER = "import sys, time; time.sleep(float(sys.argv[1])); from bench.list_server import main; main(10, 10)"
"""A server that first waits, as one does that a package runner fetches; so many seconds up to ``SLOWEST``."""


def starting(quick: bool) -> list[Row]:
    """Until each of them has answered, in this process."""
    delays = [SLOWEST * number / (SERVERS - 1) for number in range(SERVERS)]
    anyio.run(_started, [0.0])
    rounds = range(1 if quick else 3)
    alone, together = zip(
        *((anyio.run(_started, delays[-1:]), anyio.run(_started, delays)) for _ in rounds), strict=True
    )
    name = f"{SERVERS} servers started together, against the slowest alone"
    return [Row(name, min(together), min(alone), "s", LIMIT)]


async def _started(delays: Sequence[float]) -> float:
    """Seconds until all servers with these delays are ready."""
    began, latest = perf_counter(), 0.0
    waiting, everyone = len(delays), anyio.Event()

    async def start(delay: float) -> None:
        nonlocal latest, waiting
        arguments = ("-S", "-c", SERVER, str(delay))
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        parameters = StdioParameters(sys.executable, arguments, environment, Path.cwd())
        async with connect(parameters, server="bench", observer=Silent(), version="1.0"):
            latest, waiting = perf_counter() - began, waiting - 1
            if not waiting:
                everyone.set()
            await everyone.wait()

    async with anyio.create_task_group() as servers:
        for delay in delays:
            servers.start_soon(start, delay)
    return latest

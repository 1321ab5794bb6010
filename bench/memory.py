"""Row: what the language server's own process holds while nothing happens."""

from __future__ import annotations

from statistics import median
from time import monotonic, sleep

import psutil

from bench.completion import ready
from bench.language_server import BARE, LanguageServer, empty_home, lectern, running
from bench.table import Row

LIMIT = 1.6
RESOURCES = 1000
MIB = 1 << 20
_SETTLING_SECONDS = 5.0


def memory(quick: bool) -> list[Row]:
    """Both have answered a completion; ours has listed all resources of one server."""
    ours, bare = zip(*(_pair() for _ in range(1 if quick else 3)), strict=True)
    name = f"resident memory with {RESOURCES:,} resources listed, against bare pygls"
    return [Row(name, median(ours) / MIB, median(bare) / MIB, "MiB", LIMIT)]


def _pair() -> tuple[int, int]:
    with (
        empty_home() as home,
        running(lectern(home, RESOURCES), home) as ours,
        running(BARE, home) as bare,
    ):
        for server in (ours, bare):
            server.initialize()
            server.open()
            server.typed("See @")
        ready(ours, RESOURCES)
        return _settled(ours), _settled(bare)


def _settled(server: LanguageServer) -> int:
    """Resident bytes, without children, once they stay the same."""
    process, deadline = psutil.Process(server.process.pid), monotonic() + _SETTLING_SECONDS
    before, now = 0, process.memory_info().rss
    while now != before and monotonic() < deadline:
        sleep(0.3)
        before, now = now, process.memory_info().rss
    return now

"""Row: what the language server's own process holds while nothing happens."""

from __future__ import annotations

from statistics import median

from bench.language_server import BARE, empty_home, lectern, running
from bench.listed import ready
from bench.resident import settled
from bench.table import Row

LIMIT = 1.6
RESOURCES = 1000
MIB = 1 << 20


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
        return settled(ours), settled(bare)

"""What a process holds in memory once it has come to rest; must not know what it did."""

from __future__ import annotations

from time import monotonic, sleep

import psutil

from bench.language_server import LanguageServer
from bench.table import Row

LIMIT_BYTES = 700
_SETTLING_SECONDS = 5.0


def settled(server: LanguageServer) -> int:
    """Resident bytes, without children, once they stay the same."""
    process, deadline = psutil.Process(server.process.pid), monotonic() + _SETTLING_SECONDS
    before, now = 0, process.memory_info().rss
    while now != before and monotonic() < deadline:
        sleep(0.3)
        before, now = now, process.memory_info().rss
    return now


def per_descriptor(before: int, after: int, count: int) -> Row:
    """Resident bytes for one of ``count`` descriptors, with everything that a list needs besides."""
    name = f"resident memory of one descriptor out of {count:,}, its part of the index included"
    return Row(name, (after - before) / count, None, "bytes", LIMIT_BYTES)

"""Rows: listing 100,000 resources over stdio in pages of 1,000, and in one, in a fresh process each time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.language_server import empty_home, environment, list_server
from bench.sampling import alternated
from bench.table import Row

COUNT, PAGE_SIZE = 100_000, 1000
TIME_LIMIT, MEMORY_LIMIT, BLOCK_MS = 1 / 5, 1 / 2, 50.0
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Listed:
    """What one client needed: seconds from the first request to the last page, and peak bytes in all.

    ``block``: the longest block of our event loop in seconds.
    """

    seconds: float
    peak: int
    block: float


def listing(quick: bool) -> list[Row]:
    """Our client in turn with the official SDK's, the best run of each; also against a bare loop."""
    with empty_home() as home:
        run = {name: partial(_listed, name, home) for name in ("lectern", "sdk", "loop")}
        ours, sdk = alternated(range(1 if quick else 5), run["lectern"], run["sdk"])
        again, loop = alternated(range(1 if quick else 5), run["lectern"], run["loop"])
        block = min(_listed("lectern", home, COUNT).block for _ in range(1 if quick else 3)) * 1000
    task = f"listing {COUNT:,}"
    return [
        _time(f"{task}, against the official SDK's client", ours, sdk, TIME_LIMIT),
        _peak(f"{task}, peak memory, against the official SDK's client", ours, sdk, MEMORY_LIMIT),
        _time(f"{task}, against a bare loop", again, loop, None),
        _peak(f"{task}, peak memory, against a bare loop", again, loop, None),
        Row(f"longest block of the event loop by a single page of {COUNT:,}", block, None, "ms", BLOCK_MS),
    ]


def _time(name: str, ours: Sequence[Listed], theirs: Sequence[Listed], limit: float | None) -> Row:
    mine, reference = (min(listed.seconds for listed in side) for side in (ours, theirs))
    return Row(name, mine, reference, "s", limit)


def _peak(name: str, ours: Sequence[Listed], theirs: Sequence[Listed], limit: float | None) -> Row:
    mine, reference = (min(listed.peak for listed in side) for side in (ours, theirs))
    return Row(name, mine / MIB, reference / MIB, "MiB", limit)


def _listed(client: str, home: Path, page_size: int = PAGE_SIZE) -> Listed:
    """Run one client to its end. Raises CalledProcessError, or RuntimeError if it did not get everything."""
    command = [sys.executable, "-P", "-m", "bench.list_client", client, *list_server(COUNT, page_size)]
    ended = subprocess.run(
        command, check=True, cwd=home, env=environment(home), stdout=subprocess.PIPE, timeout=120
    )
    answer = json.loads(ended.stdout)
    if answer["count"] != COUNT:
        raise RuntimeError(f"the client {client} listed {answer['count']} of {COUNT} resources")
    return Listed(answer["seconds"], answer["peak"], answer["block"])

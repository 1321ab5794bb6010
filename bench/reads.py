"""Rows: reads of 50 MB and a thousand small ones, over stdio and HTTP, each client in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.language_server import empty_home, environment
from bench.read_client import MANY
from bench.read_server import SIZES
from bench.sampling import alternated
from bench.table import Row

MIB = 1 << 20
SDK_TIME, SDK_MEMORY, LOOP_TIME, MANY_TIME, BLOCK_MS = 1 / 2, 1 / 2, 2.0, 1 / 3, 50.0
SERVER = (sys.executable, "-P", "-m", "bench.read_server")
OPEN: frozenset[tuple[str, str]] = frozenset()
"""What misses its limit so far, by row and peer: shown with that limit, and no failure. Nothing now."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one client needed: seconds, peak bytes in all, the longest block of its event loop in seconds."""

    seconds: float
    peak: int
    block: float


def reads_stdio(quick: bool) -> list[Row]:
    """Over standard input and output. The SDK's client is sampled once: it takes most of a minute."""
    with empty_home() as home:
        return _rows("stdio", [*SERVER, "stdio"], home, sdk=1, loop=1 if quick else 3)


def reads_http(quick: bool) -> list[Row]:
    """Over Streamable HTTP."""
    # These take less than a second each: enough of them make a busy moment of the machine harmless.
    count = 3 if quick else 5
    with empty_home() as home, _serving(home) as address:
        return _rows("HTTP", [address], home, sdk=count, loop=count)


@contextmanager
def _serving(home: Path) -> Iterator[str]:
    command = [*SERVER, "http"]
    with subprocess.Popen(command, env=environment(home), cwd=home, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
        finally:
            process.kill()


def _rows(way: str, target: list[str], home: Path, *, sdk: int, loop: int) -> list[Row]:
    rows = []
    for kind in ("text", "blob"):
        name = f"one read of 50 MB {kind} over {way}"
        run = {client: partial(_sample, client, kind, target, home) for client in ("lectern", "sdk", "loop")}
        ours, theirs = alternated(range(sdk), run["lectern"], run["sdk"])
        again, bare = alternated(range(loop), run["lectern"], run["loop"])
        rows += [
            _time(f"{name}, against the official SDK's client", f"{kind} over {way}", ours, theirs, SDK_TIME),
            _memory(
                f"{name}, peak memory, against the official SDK's client", f"{kind} over {way}", ours, theirs
            ),
            _time(f"{name}, against a bare loop", f"{kind} over {way}", again, bare, LOOP_TIME, "loop"),
        ]
    many = {client: partial(_sample, client, "many", target, home) for client in ("lectern", "sdk")}
    ours, theirs = alternated(range(2 * loop + 1), many["lectern"], many["sdk"])
    name = f"{MANY:,} small reads at once over {way}, against the official SDK's client"
    rows.append(_time(name, f"many over {way}", ours, theirs, MANY_TIME))
    block = min(_sample("lectern", "largest", target, home).block for _ in range(loop)) * 1000
    name = f"longest block of the event loop by an answer of 60 MB over {way}"
    return [*rows, Row(name, block, None, "ms", BLOCK_MS, open=(f"block over {way}", "") in OPEN)]


def _time(
    name: str, key: str, ours: list[Sample], theirs: list[Sample], limit: float, peer: str = "sdk"
) -> Row:
    mine, reference = (min(sample.seconds for sample in side) for side in (ours, theirs))
    return Row(name, mine, reference, "s", limit, open=(key, peer) in OPEN)


def _memory(name: str, key: str, ours: list[Sample], theirs: list[Sample]) -> Row:
    mine, reference = (min(sample.peak for sample in side) for side in (ours, theirs))
    is_open = (f"memory of {key}", "sdk") in OPEN
    return Row(name, mine / MIB, reference / MIB, "MiB", SDK_MEMORY, open=is_open)


def _sample(client: str, task: str, target: list[str], home: Path) -> Sample:
    """Run one client to its end. Raises RuntimeError if it did not get everything."""
    command = [sys.executable, "-P", "-m", "bench.read_client", client, task, *target]
    ended = subprocess.run(
        command, check=True, cwd=home, env=environment(home), stdout=subprocess.PIPE, timeout=300
    )
    answer = json.loads(ended.stdout)
    if answer["size"] < (MANY if task == "many" else SIZES[task] * 0.99):
        raise RuntimeError(f"the client {client} read {answer['size']} of {task}")
    return Sample(answer["seconds"], answer["peak"], answer["block"])

"""Row: the first ``@`` after a restart, answered from what is remembered of 100,000 resources."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from time import perf_counter, sleep

from bench.language_server import BARE, LanguageServer, empty_home, lectern, running
from bench.sampling import alternated
from bench.table import Row

LIMIT = 1.8
COUNT = 100_000
_PATIENCE_SECONDS = 120.0


def restart(quick: bool) -> list[Row]:
    """Processes that are started in turn, the fastest of each: other work can only make one slower.

    The server that lists is started by the ``@`` as well, and takes long enough to say nothing before it.
    """
    with empty_home() as home:
        command = lectern(home, COUNT)
        _fill(command, home)
        ours, bare = partial(_answered, command, home), partial(_started, home)
        samples, theirs = alternated(range(5 if quick else 20), ours, bare)
    name = "restart to `@` answered from 100,000 remembered, against a bare pygls start"
    return [Row(name, min(samples) * 1000, min(theirs) * 1000, "ms", LIMIT)]


def _fill(command: tuple[str, ...], home: Path) -> None:
    """One session in which the list is walked and written down."""
    with running(command, home) as server:
        server.initialize()
        server.request("workspace/executeCommand", {"command": "lectern.refresh", "arguments": []})
        until = perf_counter() + _PATIENCE_SECONDS
        # Nothing tells when the file was written; its size does not change before all of it is there.
        while not any(file.stat().st_size > COUNT for file in home.rglob("catalogue.sqlite3")):
            if perf_counter() > until:
                raise RuntimeError(f"nothing was remembered:\n{server.last_words()}")
            sleep(0.05)


def _answered(command: tuple[str, ...], home: Path) -> float:
    with running(command, home) as server:
        return seconds_to_at(server)


def seconds_to_at(server: LanguageServer) -> float:
    """Seconds from the start of the process to an answer that holds what is remembered."""
    server.initialize()
    server.open()
    _, items = server.typed("see @")
    seconds = perf_counter() - server.began
    if len(items) < 100:
        raise RuntimeError(f"only {len(items)} items:\n{server.last_words()}")
    return seconds


def _started(home: Path) -> float:
    with running(BARE, home) as server:
        return server.initialize()

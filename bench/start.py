"""Row: the start of the process until ``initialize`` is answered."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from bench.language_server import BARE, empty_home, lectern, running
from bench.sampling import alternated
from bench.table import Row

LIMIT = 1.25


def start(quick: bool) -> list[Row]:
    """Processes that are started in turn, the fastest of each: other work can only make one slower."""
    with empty_home() as home:
        ours, bare = partial(_seconds, lectern(home), home), partial(_seconds, BARE, home)
        samples, theirs = alternated(range(5 if quick else 25), ours, bare)
    name = "start to `initialize` answered, against bare pygls"
    return [Row(name, min(samples) * 1000, min(theirs) * 1000, "ms", LIMIT)]


def _seconds(command: tuple[str, ...], home: Path) -> float:
    with running(command, home) as server:
        return server.initialize()

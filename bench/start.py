"""Row: the start of the process until ``initialize`` is answered."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from statistics import median

from bench.language_server import BARE, empty_home, lectern, running
from bench.sampling import alternated
from bench.table import Row

LIMIT = 1.25


def start(quick: bool) -> list[Row]:
    """Processes that are started in turn; the first of each only fills the disk's cache."""
    with empty_home() as home:
        ours, bare = partial(_seconds, lectern(home), home), partial(_seconds, BARE, home)
        ours(), bare()
        samples, theirs = alternated(range(5 if quick else 25), ours, bare)
    name = "start to `initialize` answered, against bare pygls"
    return [Row(name, median(samples) * 1000, median(theirs) * 1000, "ms", LIMIT)]


def _seconds(command: tuple[str, ...], home: Path) -> float:
    with running(command, home) as server:
        return server.initialize()

"""Rows: a completion of 100 items while somebody types, out of catalogues of several sizes."""

from __future__ import annotations

from statistics import median
from time import monotonic, sleep

from bench.bare_server import ITEMS
from bench.language_server import BARE, LanguageServer, empty_home, lectern, running
from bench.queries import queries
from bench.table import Row

LIMIT_10_000 = 8
_LISTING_SECONDS = 60.0


def completion_10_000(quick: bool) -> list[Row]:
    """10,000 descriptors."""
    return [_row(10_000, 2 if quick else 8, LIMIT_10_000)]


def completion_100_000(quick: bool) -> list[Row]:
    """100,000 descriptors, to be read beside the smaller row: an index must not grow with its catalogue."""
    return [_row(100_000, 1 if quick else 4, None)]


def _row(count: int, rounds: int, limit: float | None) -> Row:
    with empty_home() as home, running(lectern(home, count), home) as ours, running(BARE, home) as bare:
        for server in (ours, bare):
            server.initialize()
            server.open()
        ready(ours, count)
        samples = _samples(ours, bare, rounds)
    lectern_times, bare_times = ([pair[side] * 1000 for pair in samples] for side in (0, 1))
    name = f"completion out of {count:,}, p50, against bare pygls with {ITEMS} ready-made items"
    return Row(name, median(lectern_times), median(bare_times), "ms", limit)


def ready(server: LanguageServer, count: int) -> None:
    """Type an at-sign until everything is listed. Raises RuntimeError where that never comes."""
    deadline = monotonic() + _LISTING_SECONDS
    while monotonic() < deadline:
        _, items = server.typed("See @")
        _, message = server.request("workspace/executeCommand", {"command": "lectern.servers"})
        listed = [entry["resources"] for entry in message["result"]["servers"]]
        if listed == [count] and len(items) == ITEMS:
            return
        sleep(0.05)
    raise RuntimeError(f"{count} resources were not listed within {_LISTING_SECONDS:g} s: {message}")


def _samples(ours: LanguageServer, bare: LanguageServer, rounds: int) -> list[tuple[float, float]]:
    """Every query on both, round after round; at least half the queries must fill the list."""
    found, samples = [], []
    for number in range(rounds + 1):
        for query in queries():
            (mine, items), (theirs, others) = ours.typed(f"See @{query}"), bare.typed(f"See @{query}")
            if len(others) != ITEMS:
                raise RuntimeError(f"the bare server returned {len(others)} items")
            # The first round warms both up.
            if number:
                found.append(len(items))
                samples.append((mine, theirs))
    if median(found) != ITEMS:
        raise RuntimeError(f"the median answer to {len(queries())} queries has {median(found)} items")
    return samples

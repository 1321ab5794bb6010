"""Rows: a completion of 100 items while somebody types, out of catalogues of several sizes."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, quantiles
from time import monotonic, sleep

from bench.bare_server import ITEMS
from bench.language_server import BARE, LanguageServer, empty_home, lectern, running
from bench.queries import queries, typed
from bench.table import Row

LIMIT_10_000 = 8
_LISTING_SECONDS = 30.0


def completion_10_000(quick: bool) -> list[Row]:
    """10,000 descriptors."""
    return [_p50(10_000, _samples(10_000, 2 if quick else 8), LIMIT_10_000)]


def completion_100_000(quick: bool) -> list[Row]:
    """100,000 descriptors, to be read beside the smaller row: an index is no slower in a bigger catalogue."""
    samples = _samples(100_000, 1 if quick else 4)
    return [_p50(100_000, samples, None), _p95(100_000, samples, None)]


def _p50(count: int, samples: Sequence[tuple[float, float]], limit: float | None) -> Row:
    ours, bare = (median(pair[side] * 1000 for pair in samples) for side in (0, 1))
    return Row(_name(count, "p50"), ours, bare, "ms", limit)


def _p95(count: int, samples: Sequence[tuple[float, float]], limit: float | None) -> Row:
    """Against the p95 of the bare server: the slowest answers of both have met the same busy machine."""
    ours, bare = (quantiles((pair[side] * 1000 for pair in samples), n=20)[-1] for side in (0, 1))
    return Row(_name(count, "p95"), ours, bare, "ms", limit)


def _name(count: int, what: str) -> str:
    return f"completion out of {count:,}, {what}, against bare pygls with {ITEMS} ready-made items"


def _samples(count: int, rounds: int) -> list[tuple[float, float]]:
    """Seconds of ours and of the bare server, for every query, round after round."""
    with empty_home() as home, running(lectern(home, count), home) as ours, running(BARE, home) as bare:
        for server in (ours, bare):
            server.initialize()
            server.open()
        ready(ours, count)
        return _measured(ours, bare, rounds)


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
    state = f"{message}\n{server.last_words()}"
    raise RuntimeError(f"{count} resources were not listed within {_LISTING_SECONDS:g} s: {state}")


def _measured(ours: LanguageServer, bare: LanguageServer, rounds: int) -> list[tuple[float, float]]:
    """Every query on both, in turn; at least half the queries must fill the list."""
    found, samples = [], []
    for number in range(rounds + 1):
        for query in queries():
            line = typed(query)
            (mine, items), (theirs, others) = ours.typed(line), bare.typed(line)
            if len(others) != ITEMS:
                raise RuntimeError(f"the bare server returned {len(others)} items")
            # The first round warms both up.
            if number:
                found.append(len(items))
                samples.append((mine, theirs))
    if median(found) != ITEMS:
        raise RuntimeError(f"the median answer to {len(queries())} queries has {median(found)} items")
    return samples

"""Rows: a completion of 100 items while somebody types, out of catalogues of several sizes."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, quantiles

from bench.bare_server import ITEMS
from bench.language_server import BARE, LanguageServer, empty_home, lectern, running
from bench.listed import begin
from bench.queries import queries, typed
from bench.resident import per_descriptor, settled
from bench.table import Row

LIMIT_10_000 = 8
LIMIT_P50, LIMIT_P95 = 10, 25
LIMIT_MILLION = 6
SERVERS = 10
"""That share the 100,000 and the 1,000,000."""

Samples = Sequence[tuple[float, float]]


def completion_10_000(quick: bool) -> list[Row]:
    """10,000 descriptors of one server."""
    with empty_home() as home, running(lectern(home, 10_000), home) as ours, running(BARE, home) as bare:
        begin(ours, 10_000)
        begin(bare)
        samples = _measured(ours, bare, 2 if quick else 8)
    return [Row(_name(10_000, "p50"), *_p50(samples), "ms", LIMIT_10_000)]


def completion_100_000(quick: bool) -> list[Row]:
    """100,000 descriptors of ten servers, against the same number of items without any search."""
    with (
        empty_home() as home,
        running(lectern(home, 100_000, SERVERS), home) as ours,
        running(BARE, home) as bare,
    ):
        begin(ours, 100_000, SERVERS)
        begin(bare)
        samples = _measured(ours, bare, 1 if quick else 4)
    return [
        Row(_name(100_000, "p50", SERVERS), *_p50(samples), "ms", LIMIT_P50),
        Row(_name(100_000, "p95", SERVERS), *_p95(samples), "ms", LIMIT_P95),
    ]


def completion_1_000_000(quick: bool) -> list[Row]:
    """Ten times as many, of as many servers, against 100,000: an index is hardly slower, a scan ten times.

    And what they cost in memory, once all queries have been answered.
    """
    small, big = 100_000, 1_000_000
    with (
        empty_home() as home,
        empty_home() as other,
        running(lectern(home, big, SERVERS), home) as ours,
        running(lectern(other, small, SERVERS), other) as less,
    ):
        before = begin(ours, big, SERVERS)
        begin(less, small, SERVERS)
        samples = _measured(ours, less, 1 if quick else 3)
        memory = per_descriptor(before, settled(ours), big)
    name = f"completion out of {big:,} of {SERVERS} servers, p95, against out of {small:,}"
    return [Row(name, *_p95(samples), "ms", LIMIT_MILLION), memory]


def _name(count: int, what: str, servers: int = 1) -> str:
    of = f" of {servers} servers" if servers > 1 else ""
    return f"completion out of {count:,}{of}, {what}, against bare pygls with {ITEMS} ready-made items"


def _p50(samples: Samples) -> tuple[float, float]:
    ours, theirs = (median(pair[side] * 1000 for pair in samples) for side in (0, 1))
    return ours, theirs


def _p95(samples: Samples) -> tuple[float, float]:
    """Of each its own p95: the slowest answers of both have met the same busy machine."""
    ours, theirs = (quantiles((pair[side] * 1000 for pair in samples), n=20)[-1] for side in (0, 1))
    return ours, theirs


def _measured(ours: LanguageServer, theirs: LanguageServer, rounds: int) -> list[tuple[float, float]]:
    """Every query on both, in turn; at least half the queries must fill the list."""
    found, samples = [], []
    for number in range(rounds + 1):
        for query in queries():
            line = typed(query)
            (mine, items), (other, others) = ours.typed(line), theirs.typed(line)
            # The first round warms both up.
            if number:
                found.append((len(items), len(others)))
                samples.append((mine, other))
    if any(median(counts) != ITEMS for counts in zip(*found, strict=True)):
        raise RuntimeError(f"too few answers to {len(queries())} queries are full: {found}")
    return samples

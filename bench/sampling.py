"""Takes samples of two things in turn, so that a busy machine hits both; must not know what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Sample = TypeVar("Sample")


def alternated(
    rounds: Iterable[object], first: Callable[[], Sample], second: Callable[[], Sample]
) -> tuple[list[Sample], list[Sample]]:
    """A sample of each for every round; who goes first changes from round to round."""
    ours: list[Sample] = []
    theirs: list[Sample] = []
    for number, _ in enumerate(rounds):
        turns = [(ours, first), (theirs, second)]
        for samples, probe in turns if number % 2 == 0 else reversed(turns):
            samples.append(probe())
    return ours, theirs

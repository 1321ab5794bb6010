"""A list with its best entries first, without a copy of it; must not know what is searched.

Better is: higher priority, then later modified, then the server's order.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, overload

from mcp_lectern.catalogue.vocabulary import sorted_in_slices
from mcp_lectern.mcp.wire.packed import Entry, Packed
from mcp_lectern.mcp.wire.resources import Annotations

FIRST_MODIFIED = float("-inf")


def standing(annotations: Annotations | None) -> tuple[float, float]:
    """The sort key among equally good hits: higher priority first, then later modified; absent is last."""
    if annotations is None:
        return (0.0, -FIRST_MODIFIED)
    return (-(annotations.priority or 0.0), -_seconds(annotations.last_modified))


def _seconds(last_modified: str | None) -> float:
    if not last_modified:
        return FIRST_MODIFIED
    try:
        moment = datetime.fromisoformat(last_modified)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return FIRST_MODIFIED


@dataclass(frozen=True, slots=True)
class Ordered(Sequence[Entry], Generic[Entry]):
    """``places`` are those in the list, best first; empty where the list itself is in that order.

    Neighbours of the same standing are a run: ``runs`` holds their first numbers, ``priorities`` and
    ``moments`` their standing.
    """

    listed: Packed[Entry]
    places: array[int]
    runs: array[int]
    priorities: array[float]
    moments: array[float]

    @classmethod
    def of(cls, listed: Packed[Entry]) -> Ordered[Entry]:
        """The entries of a list, ordered."""
        standings = [standing(listed.notes(place)) for place in range(len(listed))]
        places, runs, priorities, moments = array("I"), array("I"), array("d"), array("d")
        last: tuple[float, float] | None = None
        for number, place in enumerate(sorted_in_slices(range(len(listed)), standings.__getitem__)):
            places.append(place)
            if standings[place] != last:
                last = standings[place]
                runs.append(number)
                priorities.append(last[0])
                moments.append(last[1])
        if len(runs) < 2:
            del places[:]
        return cls(listed, places[:], runs[:], priorities[:], moments[:])

    def __len__(self) -> int:
        return len(self.listed)

    @overload
    def __getitem__(self, number: int) -> Entry: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Entry, ...]: ...
    def __getitem__(self, number: int | slice) -> Entry | tuple[Entry, ...]:
        """A new object each time."""
        if isinstance(number, slice):
            return tuple(self[each] for each in range(len(self))[number])
        return self.listed[self.place(number)]

    def place(self, number: int) -> int:
        """Where in the list it stands."""
        return self.places[number] if self.places else number

    def standing(self, number: int) -> tuple[float, float]:
        """As the function, without a look at the entry."""
        run = bisect_right(self.runs, number) - 1
        return self.priorities[run], self.moments[run]

    def number(self, address: str) -> int | None:
        """Which one has this address."""
        place = self.listed.by_address.number(address)
        if place is None or not self.places:
            return place
        wanted = standing(self.listed.notes(place))
        run = bisect_left(range(len(self.runs)), wanted, key=self._standing_of)
        end = self.runs[run + 1] if run + 1 < len(self.runs) else len(self)
        return bisect_left(self.places, place, self.runs[run], end)

    def _standing_of(self, run: int) -> tuple[float, float]:
        return self.priorities[run], self.moments[run]

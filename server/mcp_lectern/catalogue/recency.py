"""Which resources were used last: among equally good hits they come first; must not know who used them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_lectern.catalogue.index import ServerIndex

MOST = 50
"""So many of the latest count."""
NEVER = MOST
"""The rank of everything else."""

Key = tuple[str, str]
"""A server's name and a URI."""


class Recency:
    """``latest`` are the resources that were used, the last one first. An index is searched once."""

    def __init__(self, latest: Sequence[Key] = ()) -> None:
        self.latest = tuple(dict.fromkeys(latest))[:MOST]
        self._found: dict[str, tuple[ServerIndex, Mapping[int, int]]] = {}

    def of(self, index: ServerIndex) -> Mapping[int, int]:
        """The rank (0 is the last used) of those that the index holds, by their record's number."""
        known = self._found.get(index.server)
        if known is None or known[0] is not index:
            known = self._found[index.server] = (index, self._ranks(index))
        return known[1]

    def _ranks(self, index: ServerIndex) -> dict[int, int]:
        ranks: dict[int, int] = {}
        for rank, (server, uri) in enumerate(self.latest):
            number = index.resources.entries.number(uri) if server == index.server else None
            if number is not None:
                ranks[number] = rank
        return ranks

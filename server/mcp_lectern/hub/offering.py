"""The indexes of what is offered of the servers' lists, under the filters; must not know who searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from mcp_lectern.catalogue.filter import offered
from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.settings import Filter

if TYPE_CHECKING:
    from mcp_lectern.hub.hub import Hub


MANY = 2_000
"""Entries of a long list."""


class Offering:
    """``filters`` are those of the settings, by server; they may change at any time."""

    def __init__(self) -> None:
        self.filters: Mapping[str, Filter] = {}
        self._followed: Mapping[str, Filter] = {}
        self._long = anyio.CapacityLimiter(1)

    def hides(self, server: str) -> bool:
        """Whether nothing of it is offered, so that there is nothing to start it for where somebody types."""
        return self.filters[server].hide if server in self.filters else False

    async def index(self, listing: ServerListing, known: ServerIndex | None = None) -> ServerIndex:
        """The index of what is offered of a list, built in a thread; ``known`` again, where that is the same.

        Long lists are indexed one after the other: together they would be there no sooner, and need more.
        """
        while True:
            chosen = self.filters.get(listing.server)
            limiter = self._long if len(listing.resources) >= MANY else None
            index = await anyio.to_thread.run_sync(_index, listing, chosen, known, limiter=limiter)
            if chosen == self.filters.get(listing.server):
                return index

    async def follow(self, hub: Hub) -> None:
        """The filters may have changed: what the hub offers follows them."""
        before, self._followed = self._followed, self.filters
        for name in [name for name in hub.indexes if before.get(name) != self.filters.get(name)]:
            listing = hub.catalogue.listings[name]
            index = await self.index(listing)
            if hub.catalogue.listings.get(name) is listing:
                hub.indexes = {**hub.indexes, name: index}


def _index(listing: ServerListing, chosen: Filter | None, known: ServerIndex | None) -> ServerIndex:
    _ = listing.by_uri
    shown = offered(listing, chosen)
    if known is not None and known.holds(shown):
        same = known.resources.entries.listed
        _ = same.by_address
        return replace(known, listing=replace(shown, resources=same))
    return ServerIndex.of(shown)

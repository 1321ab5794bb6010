"""The indexes of what is offered of the servers' lists, under the filters; must not know who searches."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING

import anyio.to_thread

from mcp_lectern.catalogue.filter import offered
from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.settings import Filter

if TYPE_CHECKING:
    from mcp_lectern.hub.hub import Hub


MANY = 2_000
"""Entries of a list that is worth setting apart."""
_APART_SECONDS = 60.0


class Offering:
    """``filters`` are those of the settings, by server; they may change at any time."""

    def __init__(self) -> None:
        self.filters: Mapping[str, Filter] = {}
        self._followed: Mapping[str, Filter] = {}
        self._set_apart = float("-inf")

    async def index(self, listing: ServerListing) -> ServerIndex:
        """The index of what is offered of a list, built in a thread."""
        while True:
            chosen = self.filters.get(listing.server)
            index = await anyio.to_thread.run_sync(ServerIndex.of, offered(listing, chosen))
            if chosen == self.filters.get(listing.server):
                self._spare(listing)
                return index

    def _spare(self, listing: ServerListing) -> None:
        """Let the garbage collector pass over a long list from now on.

        A full collection looks at every object, and holds the event loop meanwhile, with a long list a
        tenth of a second, at any moment. What is listed holds no cycles, so it is freed without a collector.
        Not too often, since cycles that are garbage just now are set apart as well.
        """
        if len(listing.resources) >= MANY and monotonic() - self._set_apart > _APART_SECONDS:
            self._set_apart = monotonic()
            gc.freeze()

    async def follow(self, hub: Hub) -> None:
        """The filters may have changed: what the hub offers follows them."""
        before, self._followed = self._followed, self.filters
        for name in [name for name in hub.indexes if before.get(name) != self.filters.get(name)]:
            listing = hub.catalogue.listings[name]
            index = await self.index(listing)
            if hub.catalogue.listings.get(name) is listing:
                hub.indexes = {**hub.indexes, name: index}

"""The indexes of what is offered of the servers' lists, under the filters; must not know who searches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import anyio.to_thread

from mcp_lectern.catalogue.filter import offered
from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.settings import Filter

if TYPE_CHECKING:
    from mcp_lectern.hub.hub import Hub


class Offering:
    """``filters`` are those of the settings, by server; they may change at any time."""

    def __init__(self) -> None:
        self.filters: Mapping[str, Filter] = {}
        self._followed: Mapping[str, Filter] = {}

    async def index(self, listing: ServerListing) -> ServerIndex:
        """The index of what is offered of a list, built in a thread."""
        while True:
            chosen = self.filters.get(listing.server)
            index = await anyio.to_thread.run_sync(ServerIndex.of, offered(listing, chosen))
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

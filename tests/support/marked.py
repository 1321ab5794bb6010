"""Documents as a person writes them, with ``$0`` where the cursor stands, over a made-up catalogue."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import Catalogue, ServerListing
from mcp_lectern.mentions.model import Mention
from mcp_lectern.mentions.parser import parse

CURSOR = "$0"


@dataclass(frozen=True)
class Fixture:
    """A text without its cursor mark, the cursor's offset, and what servers list."""

    text: str
    offset: int
    catalogue: Catalogue
    indexes: dict[str, ServerIndex]

    @property
    def mentions(self) -> list[Mention]:
        """What the parser finds under this catalogue."""

        def listed(server: str | None, uri: str) -> bool:
            if server is not None:
                return self.catalogue.resource(server, uri) is not None
            return bool(self.catalogue.servers_listing(uri))

        return parse(self.text, self.catalogue.listings, listed)


def fixture(marked: str, *listings: ServerListing | ServerIndex) -> Fixture:
    """The document, its mark taken out; an index stands for its listing and spares building it."""
    assert marked.count(CURSOR) <= 1
    offset = max(marked.find(CURSOR), 0)
    indexes = {one.server: one if isinstance(one, ServerIndex) else ServerIndex.of(one) for one in listings}
    catalogue = Catalogue({name: index.listing for name, index in indexes.items()})
    return Fixture(marked.replace(CURSOR, ""), offset, catalogue, indexes)

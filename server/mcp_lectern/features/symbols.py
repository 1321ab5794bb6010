"""Resources found by name for a whole workspace; must not know how they are opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import Catalogue
from mcp_lectern.catalogue.rank import search
from mcp_lectern.features.describe import label, title_of


@dataclass(frozen=True, slots=True)
class Symbol:
    """A resource by the name that a person sees; ``container`` is its server's name on one line."""

    name: str
    container: str
    server: str
    uri: str


def symbols(catalogue: Catalogue, indexes: Mapping[str, ServerIndex], query: str, limit: int) -> list[Symbol]:
    """The best matches, none for an empty query: an editor asks that before anything is typed."""
    if not query.strip():
        return []
    asked = [indexes[name] for name in catalogue.listings if name in indexes]
    hits = search(asked, query.strip(), limit).items
    return [
        Symbol(title_of(hit.entry) or label(hit.entry.uri), label(hit.server), hit.server, hit.entry.uri)
        for hit in hits
    ]

"""What all servers list, as one immutable snapshot; must not know how listings arrive.

A resource is identified by the pair of server and URI, never by the URI alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from mcp_lectern.mcp.wire.packed import ByAddress, Packed
from mcp_lectern.mcp.wire.resources import Resource, ResourceTemplate


@dataclass(frozen=True, slots=True)
class ServerListing:
    """What one server lists. ``listed`` is False until its first walk has ended (well or badly).

    ``partial`` is a sentence that says why the list was cut short, else None.
    """

    server: str
    resources: Packed[Resource] = field(default_factory=partial(Packed, Resource))
    templates: tuple[ResourceTemplate, ...] = ()
    listed: bool = False
    partial: str | None = None

    @classmethod
    def of(
        cls,
        server: str,
        resources: Iterable[Resource],
        templates: Iterable[ResourceTemplate] = (),
        *,
        listed: bool = True,
        partial: str | None = None,
    ) -> ServerListing:
        """A listing of these; the first entry of a doubled URI, or template, wins."""
        packed = resources if isinstance(resources, Packed) else Packed.of(Resource, resources)
        unique: dict[str, ResourceTemplate] = {}
        for template in templates:
            unique.setdefault(template.uri_template, template)
        return cls(server, packed, tuple(unique.values()), listed, partial)

    @property
    def by_uri(self) -> ByAddress[Resource]:
        """The resources by URI. The first use takes a moment, which belongs in a thread for a long list."""
        return self.resources.by_address


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All configured servers by name, in the order of configuration. Snapshots are swapped whole."""

    listings: Mapping[str, ServerListing] = field(default_factory=dict)

    @property
    def servers(self) -> tuple[str, ...]:
        """The configured names, listed or not."""
        return tuple(self.listings)

    def resource(self, server: str, uri: str) -> Resource | None:
        """The listed resource of exactly this server and URI."""
        listing = self.listings.get(server)
        return listing.by_uri.get(uri) if listing else None

    def servers_listing(self, uri: str) -> tuple[str, ...]:
        """The servers that list exactly this URI."""
        return tuple(name for name, listing in self.listings.items() if uri in listing.by_uri)

    def with_listing(self, listing: ServerListing) -> Catalogue:
        """A snapshot in which this server's listing is replaced (or added at the end)."""
        return Catalogue({**self.listings, listing.server: listing})

    def without(self, names: Collection[str]) -> Catalogue:
        """A snapshot that knows nothing of these servers; this one where that is none of them."""
        if not names:
            return self
        return Catalogue({name: one for name, one in self.listings.items() if name not in names})

    def with_servers(self, names: Iterable[str]) -> Catalogue:
        """A snapshot of exactly these servers; those that stay keep their listing."""
        return Catalogue({name: self.listings.get(name, ServerListing(name)) for name in names})

"""Puts together what is told of one server; must not know who asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.hub.status import ServerStatus

if TYPE_CHECKING:
    from mcp_lectern.hub.link import Link


def status_of(link: Link, listed: ServerListing | None, unread: str | None) -> ServerStatus:
    """``unread`` says why an open document does not show what its resource is now."""
    listing = listed or ServerListing(link.name)
    connection = link.connection
    info = connection.server_info if connection else None
    refresh = link.attempt.refresh if link.attempt else None
    return ServerStatus(
        name=link.name,
        origin=link.entry.spec.origin.label,
        transport=connection.transport if connection else link.entry.spec.kind,
        state=link.state,
        approved=link.entry.approved,
        fingerprint=link.entry.fingerprint,
        shows=link.entry.shows,
        resources=len(listing.resources),
        templates=len(listing.templates),
        listed=listing.listed,
        partial=listing.partial,
        era=connection.era if connection else None,
        protocol_version=connection.protocol_version if connection else None,
        server_info={"name": info.name, "version": info.version or ""} if info else None,
        last_error=link.last_error
        or listing.partial
        or unread
        or (connection.trouble if connection else None),
        pid=connection.pid if connection else None,
        start_seconds=link.start_seconds,
        listing_seconds=refresh.seconds if refresh else None,
        subscriptions=len(connection.subscriptions) if connection else 0,
        changed=link.entry.changed,
    )

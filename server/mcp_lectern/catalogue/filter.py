"""What of a server's list is offered, as the user's filters have it; a mention of the rest is still known."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.mcp.wire.resources import Annotations, Resource, ResourceTemplate
from mcp_lectern.settings import Filter

_Match = Callable[[str], object]


def offered(listing: ServerListing, chosen: Filter | None) -> ServerListing:
    """The part of the list that is offered; the same object where that is all of it.

    A resource is kept if its URI (a template if its text) fits one of ``include`` where there are any, fits
    none of ``exclude``, and is meant for one of ``audience`` where there are any.
    """
    if chosen is None or chosen == Filter():
        return listing
    if chosen.hide:
        return ServerListing.of(listing.server, (), listed=listing.listed, partial=listing.partial)
    keeps = _Keeps(chosen)
    return ServerListing.of(
        listing.server,
        (entry for entry in listing.resources if keeps(entry, entry.uri)),
        (entry for entry in listing.templates if keeps(entry, entry.uri_template)),
        listed=listing.listed,
        partial=listing.partial,
    )


class _Keeps:
    """One filter, ready for many entries."""

    def __init__(self, chosen: Filter) -> None:
        self._includes = _any(chosen.include)
        self._excludes = _any(chosen.exclude)
        self._audience = frozenset(chosen.audience)

    def __call__(self, entry: Resource | ResourceTemplate, uri: str) -> bool:
        if self._includes is not None and not self._includes(uri):
            return False
        if self._excludes is not None and self._excludes(uri):
            return False
        notes = entry.annotations or Annotations()
        return not self._audience or not self._audience.isdisjoint(notes.audience)


def _any(globs: tuple[str, ...]) -> _Match | None:
    """Whether a text fits one of these; case counts, and ``*`` also runs over slashes."""
    return re.compile("|".join(map(translate, globs))).match if globs else None

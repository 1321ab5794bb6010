"""A read that is tried in a template's other spelling, once; must not know how anything is read.

RFC 6570 percent-encodes the literals of a template; some servers leave them as they are, and then know the
URI in that form only. Which one does what cannot be told before it is asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.resolve import TemplateMatch, template_match
from mcp_lectern.catalogue.template import Template
from mcp_lectern.mcp.errors import ResourceNotFound
from mcp_lectern.mcp.wire.resources import ReadResult

Read = Callable[[str], Awaitable[ReadResult]]


async def read_in_either_spelling(read: Read, listing: ServerListing | None, uri: str) -> ReadResult:
    """What a read of the URI returns; where it is not found, a read of its other spelling if it has one.

    Raises what the first read raised.
    """
    try:
        return await read(uri)
    except ResourceNotFound:
        other = other_spelling(listing, uri)
        if other is None:
            raise
        try:
            return await read(other)
        except ResourceNotFound:
            pass
        raise


def other_spelling(listing: ServerListing | None, uri: str) -> str | None:
    """The URI that a template of the server makes in the other spelling; None for a listed one."""
    match = template_match(listing, uri) if listing and uri not in listing.by_uri else None
    template = Template.parse(match.template.uri_template) if isinstance(match, TemplateMatch) else None
    return template.respelled(uri) if isinstance(template, Template) else None

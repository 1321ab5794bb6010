"""What a mention means in a snapshot of the catalogue; must not know where the mention stands or who asks.

A listed URI beats a template, a qualified reading an unqualified one; among several nothing is ever picked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mcp_lectern.catalogue.model import Catalogue, ServerListing
from mcp_lectern.catalogue.suggest import similar_servers, similar_uris
from mcp_lectern.catalogue.template import Template
from mcp_lectern.catalogue.template_reading import Arguments
from mcp_lectern.catalogue.template_values import MOST_STEPS, Work
from mcp_lectern.mcp.wire.resources import Resource, ResourceTemplate
from mcp_lectern.mentions.model import Mention

_MOST_STEPS = 2 * MOST_STEPS
"""For one URI and all templates of one server."""
_LOOKED_AT = 2_000
"""Templates of one server that are tried; to take each apart is no step, and takes a moment all the same."""


@dataclass(frozen=True, slots=True)
class Known:
    """A listed resource."""

    server: str
    resource: Resource


@dataclass(frozen=True, slots=True)
class TemplateMatch:
    """A URI that is not listed, but that a template of the server makes with these arguments."""

    server: str
    uri: str
    template: ResourceTemplate
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """An unqualified URI that several servers have."""

    servers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnknownServer:
    """A server that is not configured; ``uri`` is what follows its colon."""

    name: str
    uri: str
    suggestions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnknownResource:
    """A configured server whose whole list holds no such URI."""

    server: str
    uri: str
    suggestions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """No opinion: this server (or, for None, some server) has not listed everything yet.

    ``undecided``: or has templates of which it takes too much work to find out whether they make the URI.
    """

    server: str | None
    undecided: bool = False


@dataclass(frozen=True, slots=True)
class NotAMention:
    """Prose that looks like a mention."""


Resolution = Known | TemplateMatch | Ambiguous | UnknownServer | UnknownResource | Waiting | NotAMention

_ADDRESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]+://")
# "@here:https://…" calls people to a page; "@fig:plot:sub" and "@alice:localhost:8448" are no servers either.
_WEB = re.compile(r"(?:https?|ftp)://", re.IGNORECASE)


def resolve(catalogue: Catalogue, mention: Mention, *, suggest: bool = True) -> Resolution:
    """What the mention means now. ``suggest``: whether to look for what may have been meant instead."""
    if mention.server is not None:
        return _qualified(catalogue, mention.server, mention.uri, suggest)
    return _unqualified(catalogue, mention, suggest)


def _qualified(catalogue: Catalogue, server: str, uri: str, suggest: bool) -> Resolution:
    listing = catalogue.listings.get(server)
    if listing is None:
        return _unknown_server(catalogue, server, uri, suggest)
    resource = listing.by_uri.get(uri)
    if resource is not None:
        return Known(server, resource)
    match = template_match(listing, uri)
    if match is not None:
        return match
    if not listing.listed or listing.partial is not None:
        return Waiting(server)
    return UnknownResource(server, uri, similar_uris(listing, uri) if suggest else ())


def _unqualified(catalogue: Catalogue, mention: Mention, suggest: bool) -> Resolution:
    uri = mention.uri
    owners = catalogue.servers_listing(uri)
    if owners:
        resource = catalogue.resource(owners[0], uri)
        return Known(owners[0], resource) if resource and len(owners) == 1 else Ambiguous(owners)
    found = (template_match(listing, uri, own_scheme=True) for listing in catalogue.listings.values())
    answers = [match for match in found if match is not None]
    matches = [match for match in answers if isinstance(match, TemplateMatch)]
    if len(matches) < len(answers):
        return Waiting(None, undecided=True)
    if matches:
        several = tuple(match.server for match in matches)
        return matches[0] if len(matches) == 1 else Ambiguous(several)
    rest = uri[len(mention.claimed) + 1 :] if mention.claimed is not None else ""
    if mention.claimed is not None and _ADDRESS.match(rest):
        return _claimed(catalogue, mention, rest, suggest)
    # "urn:isbn:1" may be somebody's URI as well as a server's mention: wait for all to have spoken.
    if not all(listing.listed and listing.partial is None for listing in catalogue.listings.values()):
        return Waiting(None)
    return _claimed(catalogue, mention, rest, suggest)


def _claimed(catalogue: Catalogue, mention: Mention, rest: str, suggest: bool) -> UnknownServer | NotAMention:
    """A server's name that nobody configured, unless people write such a thing without meaning a server."""
    name = mention.claimed
    if name is None:
        return NotAMention()
    prose = not mention.quoted and (_WEB.match(rest) or not _ADDRESS.match(rest))
    if prose and not similar_servers(catalogue.listings, name, rest):
        return NotAMention()
    return _unknown_server(catalogue, name, rest, suggest)


def _unknown_server(catalogue: Catalogue, name: str, uri: str, suggest: bool) -> UnknownServer:
    return UnknownServer(name, uri, similar_servers(catalogue.listings, name, uri) if suggest else ())


def template_match(
    listing: ServerListing, uri: str, *, own_scheme: bool = False
) -> TemplateMatch | Waiting | None:
    """The first of the server's templates that makes this URI; no opinion if finding out takes too long.

    ``own_scheme``: only a template that says the scheme itself, since one that is all variable would turn
    any prose into a mention.
    """
    left, undecided = _MOST_STEPS, len(listing.templates) > _LOOKED_AT
    for entry in listing.templates[:_LOOKED_AT]:
        template = Template.parse(entry.uri_template)
        if not isinstance(template, Template) or not template.may_match(uri):
            continue
        if not own_scheme or ":" in template.start:
            work = Work(min(left, MOST_STEPS))
            arguments = template.match(uri, work)
            if arguments is not None:
                return TemplateMatch(listing.server, uri, entry, arguments)
            left -= work.spent
            undecided = undecided or work.cut_short
    return Waiting(listing.server, undecided=True) if undecided else None

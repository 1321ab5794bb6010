"""Which resources a text asks for, each once, in the order of first mention; must not read any of them."""

from __future__ import annotations

from collections.abc import Iterable

from mcp_lectern.catalogue.model import Catalogue
from mcp_lectern.catalogue.resolve import (
    Ambiguous,
    Known,
    TemplateMatch,
    UnknownResource,
    UnknownServer,
    Waiting,
    resolve,
)
from mcp_lectern.features.expand.model import Wanted
from mcp_lectern.mentions.model import Mention
from mcp_lectern.mentions.printer import write
from mcp_lectern.text.untrusted import single_line

_NAMES_SHOWN = 5


def plan(catalogue: Catalogue, mentions: Iterable[Mention], *, unlisted: bool) -> list[Wanted]:
    """The resources behind the mentions, prose left out. ``unlisted``: read what nobody lists, too."""
    found: dict[tuple[str | None, str], Wanted] = {}
    for mention in mentions:
        wanted = _wanted(catalogue, mention, unlisted)
        if wanted is not None:
            found.setdefault((wanted.server, wanted.uri), wanted)
    return list(found.values())


def _wanted(catalogue: Catalogue, mention: Mention, unlisted: bool) -> Wanted | None:
    match resolve(catalogue, mention, suggest=False):
        case Known(server, resource):
            return Wanted(server, resource.uri)
        case TemplateMatch(server, uri, _, _) | UnknownResource(server, uri, _):
            return Wanted(server, uri) if unlisted else _not_listed(catalogue, server, uri)
        case Ambiguous(servers):
            return _ambiguous(servers, mention.uri)
        case UnknownServer(name, uri, _):
            return Wanted(name, uri, "notListed", f"No server “{single_line(name)}” is configured.")
        case Waiting(server) if server is not None:
            return Wanted(server, mention.uri) if unlisted else _not_listed(catalogue, server, mention.uri)
    return None


def _not_listed(catalogue: Catalogue, server: str, uri: str) -> Wanted:
    listing = catalogue.listings[server]
    name = f"The server “{single_line(server)}”"
    if not listing.listed:
        return Wanted(server, uri, "failed", f"{name} has not listed its resources.")
    if listing.partial is not None:
        return Wanted(server, uri, "notListed", f"{name} does not list it, as far as its list is known.")
    return Wanted(server, uri, "notListed", f"{name} does not list it.")


def _ambiguous(servers: tuple[str, ...], uri: str) -> Wanted:
    written = " or ".join(single_line(write(server, uri)) for server in servers[:_NAMES_SHOWN])
    more = len(servers) - _NAMES_SHOWN
    others = f" (or one of {more} more)" if more > 0 else ""
    return Wanted(None, uri, "ambiguous", f"More than one server has it: write {written}{others}.")

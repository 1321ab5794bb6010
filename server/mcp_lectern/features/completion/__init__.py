"""What is offered at a half-typed mention; must not know the protocol, and never waits for a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mcp_lectern.catalogue.fold import encoded, fold
from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import Catalogue
from mcp_lectern.catalogue.rank import could_be_handle, search, search_templates, starts_word
from mcp_lectern.catalogue.template import Template
from mcp_lectern.features.completion.model import Action, CompletionAnswer, Item, Kind
from mcp_lectern.features.completion.notices import notice
from mcp_lectern.features.completion.rows import Rows
from mcp_lectern.features.describe import described
from mcp_lectern.mcp.wire.resources import ResourceTemplate
from mcp_lectern.mentions.cursor import at
from mcp_lectern.mentions.model import HalfTyped

__all__ = ["Action", "CompletionAnswer", "Item", "Kind", "complete", "documentation"]

_TEMPLATES = 100
"""Templates that are looked at."""
_SHARE = 5
"""Of a full answer, this part (a fifth) is kept for templates, and the same for servers."""


def complete(
    text: str,
    offset: int,
    catalogue: Catalogue,
    indexes: Mapping[str, ServerIndex],
    states: Mapping[str, str],
    *,
    limit: int,
) -> CompletionAnswer | None:
    """The offer at this offset, or None outside a mention; an empty one is an answer too.

    ``states`` are the servers' states by name (``lectern.servers``), ``limit`` the number of rows.
    """
    half = at(text, offset, catalogue.listings)
    if half is None:
        return None
    asked = [indexes[name] for name in catalogue.listings if name in indexes]
    rows = Rows(text[half.start : half.end])
    remark = _notice(half, catalogue, states) if limit > 0 else None
    offered = _offered(half, catalogue, asked, rows, limit - (remark is not None))
    items = tuple(offered) if remark is None else (*offered, rows.notice(*remark))
    return CompletionAnswer(items, half.start, half.end)


def documentation(catalogue: Catalogue, server: str, uri: str) -> str | None:
    """Markdown for the row of this server and URI (or template text); None if it is no longer listed."""
    listing = catalogue.listings.get(server)
    if listing is None:
        return None
    resource = listing.by_uri.get(uri)
    if resource is not None:
        return described(server, resource)
    templates = (entry for entry in listing.templates if entry.uri_template == uri)
    return next((described(server, entry) for entry in templates), None)


def _offered(
    half: HalfTyped, catalogue: Catalogue, indexes: Sequence[ServerIndex], rows: Rows, limit: int
) -> list[Item]:
    """Servers whose name begins so, resources, templates; without anything typed, servers come last."""
    prose = half.server is None and not half.quoted and could_be_handle(half.query)
    servers = _servers(half, catalogue)
    templates = list(_templates(half, catalogue, indexes, prose))
    share = max(limit // _SHARE, 1)
    kept = min(len(servers), share), min(len(templates), share)
    hits = search(indexes, half.rest, max(limit - sum(kept), 0), server=half.server, handle_like=prose).items
    templates = templates[: max(share, limit - len(hits) - kept[0])]
    servers = servers[: max(share, limit - len(hits) - len(templates))]
    first, last = (servers, []) if half.query else ([], servers)
    offered = [
        *map(rows.server, first),
        *(rows.resource(hit.server, hit.entry) for hit in hits),
        *(rows.template(*found) for found in templates),
        *map(rows.server, last),
    ]
    return offered[:limit]


def _servers(half: HalfTyped, catalogue: Catalogue) -> list[str]:
    """The servers whose name has the query at a word start, those that begin with it first."""
    if half.server is not None:
        return []
    query = encoded(fold(half.query))
    folded = {name: encoded(fold(name)) for name in catalogue.listings}
    found = [name for name, text in folded.items() if starts_word(text, query)]
    return sorted(found, key=lambda name: not folded[name].startswith(query))


def _templates(
    half: HalfTyped, catalogue: Catalogue, indexes: Sequence[ServerIndex], prose: bool
) -> Iterator[tuple[str, ResourceTemplate, Template]]:
    """The usable templates; one without variables gives way to a resource of the same URI."""
    for hit in search_templates(indexes, half.rest, _TEMPLATES, server=half.server, handle_like=prose).items:
        template = Template.parse(hit.entry.uri_template)
        if isinstance(template, Template) and catalogue.resource(hit.server, template.text) is None:
            yield hit.server, hit.entry, template


def _notice(
    half: HalfTyped, catalogue: Catalogue, states: Mapping[str, str]
) -> tuple[str, str, Action | None] | None:
    """A remark only where nothing was typed that could be prose, and Enter meant for a new line."""
    if half.server is not None:
        return notice([half.server], states)
    return None if half.query else notice(catalogue.listings, states)

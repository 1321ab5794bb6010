"""What is offered at a half-typed mention; must not know the protocol, and never waits for a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from mcp_lectern.catalogue.candidates import starts_word
from mcp_lectern.catalogue.fold import encoded, fold
from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import Catalogue
from mcp_lectern.catalogue.rank import could_be_handle, search, search_templates
from mcp_lectern.catalogue.recency import Recency
from mcp_lectern.catalogue.template import Template
from mcp_lectern.features.completion.model import Action, CompletionAnswer, Item, Kind
from mcp_lectern.features.completion.notices import Remark, notice
from mcp_lectern.features.completion.rows import Rows
from mcp_lectern.features.completion.values import Proposals, Question, Standing, standings
from mcp_lectern.features.describe import described
from mcp_lectern.mcp.wire.resources import ResourceTemplate
from mcp_lectern.mentions.cursor import at
from mcp_lectern.mentions.model import HalfTyped

__all__ = ["Action", "CompletionAnswer", "Item", "Kind", "Question", "complete", "documentation"]

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
    troubles: Mapping[str, str] = MappingProxyType({}),
    proposals: Proposals = lambda _question: (),
    recency: Recency | None = None,
) -> CompletionAnswer | None:
    """The offer at this offset, or None outside a mention; an empty one is an answer too.

    ``states`` are the servers' states by name (``lectern.servers``), ``troubles`` a sentence for each that
    cannot be used or listed in full, ``limit`` the number of rows, ``proposals`` what is known of values for
    the variables of templates, ``recency`` what was used last.
    """
    half = at(text, offset, catalogue.listings)
    if half is None:
        return None
    asked = [indexes[name] for name in catalogue.listings if name in indexes]
    rows = Rows(text[half.start : half.end])
    remark = _notice(half, catalogue, states, troubles) if limit > 0 else None
    stood = standings(half, [index.listing for index in asked])
    values = [(standing, value) for standing in stood for value in standing.values(proposals)]
    found = _Found(half, catalogue, asked, stood, values, recency)
    offered = _offered(found, rows, limit - (remark is not None))
    items = tuple(offered) if remark is None else (*offered, rows.notice(remark))
    questions = tuple(question for standing in stood if (question := standing.question) is not None)
    return CompletionAnswer(items, half.start, half.end, questions=questions)


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


@dataclass(frozen=True, slots=True)
class _Found:
    """The half-typed mention, where there is something for it, and the values of variables it stands in."""

    half: HalfTyped
    catalogue: Catalogue
    indexes: Sequence[ServerIndex]
    stood: Sequence[Standing]
    values: Sequence[tuple[Standing, str]]
    recency: Recency | None


def _offered(found: _Found, rows: Rows, limit: int) -> list[Item]:
    """Servers whose name begins so, resources, values, templates; without anything typed, servers last."""
    half = found.half
    prose = half.server is None and not half.quoted and could_be_handle(half.query)
    servers = _servers(half, found.catalogue)
    templates = list(_templates(found, prose))
    share = max(limit // _SHARE, 1)
    values = found.values[: max(limit - 2 * share, 1)]
    kept = min(len(servers), share), min(len(templates), share), len(values)
    most = max(limit - sum(kept), 0)
    hits = search(
        found.indexes, half.rest, most, server=half.server, handle_like=prose, recency=found.recency
    ).items
    templates = templates[: max(share, limit - len(hits) - len(values) - kept[0])]
    servers = servers[: max(share, limit - len(hits) - len(values) - len(templates))]
    first, last = (servers, []) if half.query else ([], servers)
    offered = [
        *map(rows.server, first),
        *(rows.resource(hit.server, hit.entry) for hit in hits),
        *(rows.value(*value) for value in values),
        *(rows.template(*template) for template in templates),
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


def _templates(found: _Found, prose: bool) -> Iterator[tuple[str, ResourceTemplate, Template]]:
    """The usable templates; one without variables gives way to a resource of the same URI.

    One in whose variable something is typed already is left out: its beginning would replace that.
    """
    half = found.half
    begun = {(standing.server, standing.entry.uri_template) for standing in found.stood}
    hits = search_templates(found.indexes, half.rest, _TEMPLATES, server=half.server, handle_like=prose).items
    for hit in hits:
        template = Template.parse(hit.entry.uri_template)
        if not isinstance(template, Template) or found.catalogue.resource(hit.server, template.text):
            continue
        if (hit.server, template.text) not in begun or half.rest == template.start:
            yield hit.server, hit.entry, template


def _notice(
    half: HalfTyped, catalogue: Catalogue, states: Mapping[str, str], troubles: Mapping[str, str]
) -> Remark | None:
    """A remark only where nothing was typed that could be prose, and Enter meant for a new line."""
    if half.server is not None:
        return notice([half.server], states, troubles)
    return None if half.query else notice(catalogue.listings, states, troubles)

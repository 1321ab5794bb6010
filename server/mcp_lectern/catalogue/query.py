"""A search as a command asks for it: words plus conditions, answered as plain JSON; must not know who."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.rank import Hit, Ranked, search, search_templates
from mcp_lectern.catalogue.recency import Recency
from mcp_lectern.catalogue.template import Template, Unusable
from mcp_lectern.mcp.wire.packed import Entry
from mcp_lectern.mcp.wire.resources import Annotations, Resource, ResourceTemplate
from mcp_lectern.mentions.printer import write

_FIRST = 1_000
"""So many of the ranking are looked at, where there are conditions, before more are."""
_GROWTH = 16


@dataclass(frozen=True, slots=True)
class Query:
    """``mime_type`` may hold ``*``. A condition hides entries that lack its field; without it they stay."""

    text: str = ""
    server: str | None = None
    mime_type: str | None = None
    audience: str | None = None
    min_priority: float | None = None
    modified_since: datetime | None = None
    limit: int = 100

    @property
    def conditional(self) -> bool:
        """Whether any field of an entry decides."""
        conditions = (self.mime_type, self.audience, self.min_priority, self.modified_since)
        return any(condition is not None for condition in conditions)

    def admits(self, entry: Resource | ResourceTemplate) -> bool:
        """Whether the entry meets every condition."""
        notes = entry.annotations or Annotations()
        return (
            (self.mime_type is None or _typed(entry.mime_type, self.mime_type))
            and (self.audience is None or self.audience in notes.audience)
            and (self.min_priority is None or _at_least(notes.priority, self.min_priority))
            and (self.modified_since is None or _since(notes.last_modified, self.modified_since))
        )


@dataclass(frozen=True, slots=True)
class Found:
    """The best matches in order. ``truncated``: more matched than the limit."""

    items: tuple[Hit[Resource], ...]
    templates: tuple[Hit[ResourceTemplate], ...]
    truncated: bool

    def to_json(self) -> dict[str, Any]:
        """The shape of contract 6."""
        return {
            "items": [resource_json(hit.server, hit.entry) for hit in self.items],
            "templates": [template_json(hit.server, hit.entry) for hit in self.templates],
            "truncated": self.truncated,
        }


def find(indexes: Sequence[ServerIndex], query: Query, recency: Recency | None = None) -> Found:
    """Ranked as completion ranks."""
    resources = partial(search, indexes, query.text, server=query.server, recency=recency)
    templates = partial(search_templates, indexes, query.text, server=query.server)
    items, more = _admitted(query, resources)
    others, still_more = _admitted(query, templates)
    return Found(items, others, more or still_more)


def _admitted(query: Query, ranked: Callable[[int], Ranked[Entry]]) -> tuple[tuple[Hit[Entry], ...], bool]:
    """The best that meet the conditions, and whether there are more. Looks no further down than it must."""
    most = max(query.limit, _FIRST) if query.conditional else query.limit
    found = ranked(most)
    while True:
        hits = [hit for hit in found.items if query.admits(hit.entry)]
        if not query.conditional or not found.more or len(hits) > query.limit:
            return tuple(hits[: query.limit]), found.more or len(hits) > query.limit
        most *= _GROWTH
        found = ranked(most)


def resource_json(server: str, resource: Resource) -> dict[str, Any]:
    """One resource; what it lacks is left out."""
    entry = {"server": server, "uri": resource.uri, **_shared(resource)}
    return entry | _present(size=resource.size) | {"mention": write(server, resource.uri)}


def template_json(server: str, template: ResourceTemplate) -> dict[str, Any]:
    """One template; what it lacks is left out. ``unusable`` says why RFC 6570 does not allow it."""
    parsed = Template.parse(template.uri_template)
    reason = parsed.reason if isinstance(parsed, Unusable) else None
    plain = {"server": server, "uriTemplate": template.uri_template, **_shared(template)}
    return plain | _present(unusable=reason)


def _shared(entry: Resource | ResourceTemplate) -> dict[str, Any]:
    described = _present(title=entry.title, description=entry.description, mimeType=entry.mime_type)
    return {"name": entry.name, **described, **_present(annotations=_annotations_json(entry.annotations))}


def _annotations_json(annotations: Annotations | None) -> Mapping[str, Any] | None:
    if annotations is None:
        return None
    return _present(
        audience=list(annotations.audience) or None,
        priority=annotations.priority,
        lastModified=annotations.last_modified,
    )


def _present(**fields: object) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _at_least(priority: float | None, least: float) -> bool:
    return priority is not None and priority >= least


def _typed(mime_type: str | None, wanted: str) -> bool:
    essence = (mime_type or "").partition(";")[0].strip().lower()
    return fnmatchcase(essence, wanted.strip().lower())


def _since(last_modified: str | None, moment: datetime) -> bool:
    try:
        modified = datetime.fromisoformat(last_modified or "")
    except ValueError:
        return False
    return _aware(modified) >= _aware(moment)


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

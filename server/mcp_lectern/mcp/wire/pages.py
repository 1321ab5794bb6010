"""Pages of ``resources/list`` and ``resources/templates/list``, out of decoded results; must not fetch them.

Specification 2026-07-28, server/utilities/pagination and server/utilities/caching.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from .resources import Resource, ResourceTemplate

LARGEST_TTL_MS: Final = 365 * 24 * 3600 * 1000

Json = Any
Entry = TypeVar("Entry", Resource, ResourceTemplate)


@dataclass(frozen=True, slots=True)
class Page(Generic[Entry]):
    """One page. ``left_out`` counts entries without a usable address; ``cursor`` is None on the last page."""

    entries: list[Entry]
    cursor: Json
    left_out: int
    ttl_ms: int


def resource_page(result: dict[str, Json]) -> Page[Resource] | None:
    """A page of resources; None if ``resources`` is no list. ``result`` comes from ``decoding.decode``."""
    entries = result.get("resources")
    if not isinstance(entries, list):
        return None
    return _page(result, [_with_name(entry, entry.uri) for entry in entries if entry], len(entries))


def template_page(result: dict[str, Json]) -> Page[ResourceTemplate] | None:
    """A page of templates; None if ``resourceTemplates`` is no list."""
    entries = result.get("resourceTemplates")
    if not isinstance(entries, list):
        return None
    return _page(result, [_with_name(entry, entry.uri_template) for entry in entries if entry], len(entries))


def ttl_ms(value: Json) -> int:
    """A caching hint in milliseconds: 0 where absent, negative or no number, a year at the most."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        return 0
    return int(min(value, LARGEST_TTL_MS))


def _page(result: dict[str, Json], entries: list[Entry], listed: int) -> Page[Entry]:
    return Page(entries, result.get("nextCursor"), listed - len(entries), ttl_ms(result.get("ttlMs")))


def _with_name(entry: Entry, address: str) -> Entry:
    return entry if entry.name else replace(entry, name=entry.title or address)

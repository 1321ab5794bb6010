"""``lectern.resources``: search what is listed; answers at once, from what is known."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.guard import invalid, optional_text

if TYPE_CHECKING:
    from mcp_lectern.catalogue.query import Query
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.resources"
_DEFAULT_LIMIT = 100


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Ranked as completion ranks. Approved idle servers are started; nobody waits for them."""
    from mcp_lectern.catalogue.query import find

    hub = await lectern.hub()
    query = _query(argument)
    if query.server is not None:
        hub.link(query.server)
    wanted = None if query.server is None else (query.server,)
    hub.want(wanted)
    lectern.approval.mention_unapproved()
    indexes, recency = tuple(hub.indexes.values()), lectern.session.recency
    found = (
        await asyncio.to_thread(find, indexes, query, recency)
        if query.conditional
        else find(indexes, query, recency)
    )
    listings = [hub.catalogue.listings[name] for name in wanted or hub.catalogue.servers]
    partial = any(listing.partial is not None for listing in listings)
    return {**found.to_json(), "incomplete": hub.incomplete(wanted), "partial": partial}


def _query(argument: Mapping[str, Any]) -> Query:
    from mcp_lectern.catalogue.query import Query

    return Query(
        text=optional_text(argument, "query") or "",
        server=optional_text(argument, "server"),
        mime_type=optional_text(argument, "mimeType"),
        audience=optional_text(argument, "audience"),
        min_priority=_number(argument, "minPriority"),
        modified_since=_moment(argument, "modifiedSince"),
        limit=_limit(argument),
    )


def _limit(argument: Mapping[str, Any]) -> int:
    limit = argument.get("limit")
    if limit is None:
        return _DEFAULT_LIMIT
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise invalid("“limit” must be a whole number, 0 or more.")
    return limit


def _number(argument: Mapping[str, Any], key: str) -> float | None:
    value = argument.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise invalid(f"“{key}” must be a number.")
    return float(value)


def _moment(argument: Mapping[str, Any], key: str) -> datetime | None:
    value = optional_text(argument, key)
    if value is None:
        return None
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise invalid(f"“{key}” must be a date or time in ISO 8601, like 2026-01-31.") from None

"""``mcp-lectern list``: what all servers list, ranked as completion ranks it; must not read any resource."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from mcp_lectern.catalogue.query import Found, Query, find
from mcp_lectern.catalogue.recency import MOST, Recency
from mcp_lectern.cli.layout import columns, kind, say
from mcp_lectern.cli.running import Running, note, print_json, run_with_hub, troubles
from mcp_lectern.hub.opened import Opened, place

ALL = 10_000_000
"""More than any server lists."""


def run(arguments: argparse.Namespace) -> int:
    """Prints the matches; 1 where a server could not be listed."""
    return run_with_hub(arguments, lambda running: _list(running, arguments))


async def _list(running: Running, arguments: argparse.Namespace) -> int:
    await running.complete(arguments.server)
    servers = running.approved(arguments.server)
    await running.hub.ensure_listed(servers)
    code = troubles(running.hub, servers)
    query = Query(arguments.query, arguments.server, limit=arguments.limit or ALL)
    found = find(tuple(running.hub.indexes.values()), query, await asyncio.to_thread(_recency, running))
    if arguments.json:
        partial = any(status.partial for status in running.hub.status(servers))
        print_json({**found.to_json(), "incomplete": False, "partial": partial})
    else:
        _print(found)
    return code


def _recency(running: Running) -> Recency:
    """What was opened last in this folder's editor, as far as the settings let it be remembered."""
    remember = running.prepared.settings.remember
    return Recency(Opened(place((running.folder,))).latest(MOST) if remember else ())


def _print(found: Found) -> None:
    answer = found.to_json()
    rows = [_resource(item) for item in answer["items"]] + [_template(item) for item in answer["templates"]]
    for line in columns(rows):
        say(line)
    if found.truncated:
        note("There are more matches: raise --limit, or type more of the name.")


def _resource(item: dict[str, Any]) -> tuple[str, str, str]:
    return item["mention"], item.get("title") or item["name"], kind(item.get("mimeType"), item.get("size"))


def _template(item: dict[str, Any]) -> tuple[str, str, str]:
    return f"@{item['server']}:{item['uriTemplate']}", item.get("title") or item["name"], "template"

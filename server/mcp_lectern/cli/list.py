"""``mcp-lectern list``: what all servers list, ranked as completion ranks it; must not read any resource."""

from __future__ import annotations

import argparse
from typing import Any

from mcp_lectern.catalogue.query import Found, Query, find
from mcp_lectern.cli.layout import columns, kind, say
from mcp_lectern.cli.running import Running, note, print_json, run_with_hub, troubles

ALL = 10_000_000
"""More than any server lists."""


def run(arguments: argparse.Namespace) -> int:
    """Prints the matches; 1 where a server could not be listed."""
    return run_with_hub(arguments, lambda running: _list(running, arguments))


async def _list(running: Running, arguments: argparse.Namespace) -> int:
    servers = running.approved(arguments.server)
    await running.hub.ensure_listed(servers)
    code = troubles(running.hub, servers)
    query = Query(arguments.query, arguments.server, limit=arguments.limit or ALL)
    found = find(tuple(running.hub.indexes.values()), query)
    if arguments.json:
        partial = any(status.partial for status in running.hub.status(servers))
        print_json({**found.to_json(), "incomplete": False, "partial": partial})
    else:
        _print(found)
    return code


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

"""``mcp-lectern doctor``: which configuration was found, and how each server is; must not change anything."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Iterator
from typing import Any

from mcp_lectern import __version__
from mcp_lectern.cli.layout import say
from mcp_lectern.cli.program import DONE, FAILED
from mcp_lectern.cli.running import Running, print_json, run_with_hub
from mcp_lectern.text.untrusted import single_line

LOG_LINES = 10
"""Lines of a server's log that are shown where something is wrong with it."""


def run(arguments: argparse.Namespace) -> int:
    """Starts every approved server and reports; 1 where one of them fails, 2 for a broken ``--config``."""
    return run_with_hub(arguments, lambda running: _report(running, arguments), quiet=True)


async def _report(running: Running, arguments: argparse.Namespace) -> int:
    wanted = [
        entry.spec.name for entry in running.prepared.entries if entry.approved and not entry.spec.disabled
    ]
    await running.hub.ensure_listed(wanted)
    report = _collected(running)
    if arguments.json:
        print_json(report)
    else:
        for line in _lines(report):
            say(line)
    failing = [server for server in report["servers"] if server["name"] in wanted and not server["listed"]]
    return FAILED if failing else DONE


def _collected(running: Running) -> dict[str, Any]:
    configuration = running.prepared.configuration
    return {
        "version": __version__,
        "python": platform.python_version(),
        "platform": sys.platform,
        "files": [str(path) for path in configuration.files],
        "skipped": [
            {"place": skipped.place, "reason": skipped.reason}
            | ({"path": str(skipped.path)} if skipped.path else {})
            for skipped in configuration.skipped
        ],
        "problems": [_problem(problem) for problem in configuration.problems]
        + [{"message": warning, "severity": "warning"} for warning in running.prepared.warnings],
        "servers": _servers(running),
    }


def _problem(problem: Any) -> dict[str, Any]:
    where = {"path": str(problem.path), "line": problem.line + 1, "column": problem.column + 1}
    named = {"server": problem.server} if problem.server else {}
    return {
        "message": problem.message,
        "severity": problem.severity,
        **(where if problem.path else {}),
        **named,
    }


def _servers(running: Running) -> list[dict[str, Any]]:
    found = []
    for status in running.hub.status():
        more = {
            "listed": status.listed,
            "partial": status.partial,
            "changed": list(status.changed),
            "startSeconds": status.start_seconds,
            "listingSeconds": status.listing_seconds,
            "log": running.hub.link(status.name).log.tail().splitlines(),
        }
        found.append(status.to_json() | {key: value for key, value in more.items() if value is not None})
    return found


def _lines(report: dict[str, Any]) -> Iterator[str]:
    yield f"Lectern {report['version']}, Python {report['python']}, {report['platform']}"
    yield from _section("Configuration files", report["files"])
    skipped = [f"{entry.get('path', entry['place'])}: {entry['reason']}" for entry in report["skipped"]]
    yield from _section("Not read", skipped)
    yield from _section("Problems", [_place(problem) + problem["message"] for problem in report["problems"]])
    yield ""
    yield "Servers" if report["servers"] else "No servers are configured."
    for server in report["servers"]:
        yield from _server(server)


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield title
    for line in lines:
        yield f"  {single_line(line, 2000)}"


def _place(problem: dict[str, Any]) -> str:
    return f"{problem['path']}:{problem['line']}:{problem['column']}: " if "path" in problem else ""


def _server(server: dict[str, Any]) -> Iterator[str]:
    trust = "approved" if server["trust"]["approved"] else "not approved"
    yield f"  {single_line(server['name'])}: {server['state']}, {trust}"
    yield f"    {single_line(server['origin'], 500)}, {server['transport']}"
    info = server.get("serverInfo")
    if info:
        spoken = f"{server.get('era')} era, version {server.get('protocolVersion')}"
        yield f"    {single_line(info['name'])} {single_line(info['version'])}, {single_line(spoken)}"
    if server["listed"]:
        yield f"    {server['resources']} resources, {server['templates']} templates{_timings(server)}"
    for change in server["changed"]:
        yield f"    changed: {single_line(change, 500)}"
    for trouble in filter(None, (server.get("partial"), server.get("lastError"))):
        yield f"    {single_line(trouble, 2000)}"
    if server.get("lastError"):
        for line in server["log"][-LOG_LINES:]:
            yield f"    | {single_line(line, 500)}"


def _timings(server: dict[str, Any]) -> str:
    named = (("started", server.get("startSeconds")), ("listed", server.get("listingSeconds")))
    parts = [f"{name} in {seconds:.2f} s" for name, seconds in named if seconds is not None]
    return f" ({', '.join(parts)})" if parts else ""

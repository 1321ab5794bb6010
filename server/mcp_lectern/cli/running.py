"""A hub in this process, configured by the command line's words; must not know which command asks."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp_lectern import __version__
from mcp_lectern.cli.asking import at_terminal
from mcp_lectern.cli.program import FAILED, USAGE, CommandError
from mcp_lectern.hub.entry import Entry
from mcp_lectern.hub.failure import Refused
from mcp_lectern.hub.hub import Hub
from mcp_lectern.hub.prepare import Prepared, Request, prepare
from mcp_lectern.text.untrusted import single_line

_OF_USAGE = frozenset({"unknownServer", "invalidArgument", "ambiguous"})
"""Kinds of failure that other words on the command line would cure."""
_MESSAGE_LIMIT = 2000


class Running:
    """A hub and what it was configured from. ``code`` is the exit code that the configuration asks for."""

    def __init__(self, hub: Hub, prepared: Prepared, folder: Path, code: int) -> None:
        self.hub = hub
        self.prepared = prepared
        self.folder = folder
        self.code = code

    def entry(self, server: str) -> Entry:
        """The entry of this name. Raises CommandError for any other."""
        try:
            return self.hub.link(server).entry
        except Refused as refused:
            raise failed(refused) from refused

    async def complete(self, server: str | None) -> None:
        """Ask for what the named entry, or each, lacks, where there is somebody to ask."""
        if self.hub.inputs.prompt is not None:
            names = self.hub.states() if server is None else (self.entry(server).spec.name,)
            await self.hub.inputs.give_each(names)

    def approved(self, server: str | None) -> list[str]:
        """The servers that may be asked, of all or of the named one; a note about each that may not."""
        if server is not None:
            entry = self.entry(server)
            if not entry.can_start:
                raise failed(entry.refused())
            return [server]
        entries = [entry for entry in self.prepared.entries if not entry.spec.disabled]
        for entry in entries:
            if not entry.approved:
                note(str(entry.refused()))
        return [entry.spec.name for entry in entries if entry.approved]


class _Quiet:
    """An observer with nobody to tell: a command looks when it is done."""

    def catalogue_changed(self, server: str) -> None:
        """Nothing to do."""

    def status_changed(self, server: str) -> None:
        """Nothing to do."""

    def contents_changed(self, server: str, uri: str) -> None:
        """Nothing to do."""

    def log(self, server: str, line: str) -> None:
        """Nothing to do; the log keeps it."""


def run_with_hub(
    arguments: argparse.Namespace, work: Callable[[Running], Awaitable[int]], *, quiet: bool = False
) -> int:
    """Runs ``work`` with a configured hub, ends every server, and returns the exit code.

    What is wrong with the configuration goes to stderr unless ``quiet``, and makes the code 2 where a file of
    ``--config`` is concerned.
    """

    async def main() -> int:
        async with running(arguments, quiet=quiet) as configured:
            try:
                code = await work(configured)
            except Refused as refused:
                raise failed(refused) from refused
            return max(code, configured.code)

    return asyncio.run(main())


@asynccontextmanager
async def running(arguments: argparse.Namespace, *, quiet: bool = False) -> AsyncIterator[Running]:
    """The hub under this configuration, for as long as the block lasts."""
    folder = arguments.workspace.absolute()
    configs = tuple(path.absolute() for path in arguments.config)
    request = Request(
        layers=(),
        config_files=configs,
        folders=(folder,),
        discover=not arguments.no_discover,
        trusted_settings=True,
        workspace_servers=None,
    )
    terminal = at_terminal()
    hub = Hub(_Quiet(), __version__, terminal)
    hub.inputs.prompt = terminal
    prepared = await asyncio.to_thread(prepare, request, given=hub.inputs.given.values)
    problems = [problem for problem in prepared.configuration.problems if problem.path in configs]
    code = USAGE if any(problem.severity == "error" for problem in problems) else 0
    if not quiet:
        _report(prepared)
    # A task and no task group: what the block raises has to come out as it is.
    life = asyncio.create_task(hub.run())
    try:
        hub.adopt(prepared.settings, [folder])
        await hub.configure(prepared.entries)
        yield Running(hub, prepared, folder, code)
    finally:
        await hub.close()
        await life


def _report(prepared: Prepared) -> None:
    for warning in prepared.warnings:
        note(warning)
    for problem in prepared.configuration.problems:
        where = f"{problem.path}:{problem.line + 1}:{problem.column + 1}: " if problem.path else ""
        note(f"{where}{problem.message}")


def failed(refused: Refused) -> CommandError:
    """The command's end for a refusal, in its own words."""
    code = USAGE if refused.failure.kind in _OF_USAGE else FAILED
    return CommandError(single_line(refused.failure.message, _MESSAGE_LIMIT), code)


def note(message: str) -> None:
    """A sentence for people, on stderr."""
    print(f"mcp-lectern: {single_line(message, _MESSAGE_LIMIT)}", file=sys.stderr)


def troubles(hub: Hub, servers: Iterable[str]) -> int:
    """A note for each server whose list is missing or was cut short; 1 where one is missing, else 0."""
    code = 0
    for status in hub.status(servers):
        if not status.listed:
            note(status.last_error or f"The server “{status.name}” did not list anything.")
            code = FAILED
        elif status.partial:
            note(f"The list of “{status.name}” is incomplete: {status.partial}")
    return code


def print_json(answer: Any) -> None:
    """An answer for programs: one JSON value, in ASCII, so that no encoding can harm it."""
    import json

    print(json.dumps(answer, indent=2))

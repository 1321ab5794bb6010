"""``mcp-lectern revoke``: take an approval back; starts and ends nothing."""

from __future__ import annotations

import argparse
import asyncio

from mcp_lectern.cli.layout import say
from mcp_lectern.cli.program import DONE, USAGE, CommandError
from mcp_lectern.cli.running import Running, print_json, run_with_hub
from mcp_lectern.config.model import Level
from mcp_lectern.hub import remembered
from mcp_lectern.hub.opened import Opened, place
from mcp_lectern.text.untrusted import single_line
from mcp_lectern.trust.approvals import Approvals, ApprovalsError, default_path


def run(arguments: argparse.Namespace) -> int:
    """Forgets the approval of a server; one whose entry is gone can be forgotten too."""
    return run_with_hub(arguments, lambda running: _revoke(running, arguments), quiet=True)


async def _revoke(running: Running, arguments: argparse.Namespace) -> int:
    name, shown = arguments.server, single_line(arguments.server)
    spec = running.prepared.configuration.spec(name)
    if spec is not None and spec.origin.level is Level.USER:
        where = single_line(spec.origin.label, 500)
        raise CommandError(f"“{shown}” needs no approval, it is your own: remove it from {where}.", USAGE)
    revoked = await asyncio.to_thread(_forget, running, name)
    if spec is None and not revoked:
        running.entry(name)
    if arguments.json:
        print_json({"server": name, "revoked": revoked})
    else:
        say(f"“{shown}” is not approved any more." if revoked else f"“{shown}” was not approved.")
    return DONE


def _forget(running: Running, name: str) -> bool:
    """Take the approval back, and with it the right to show again what was opened of the server here."""
    Opened(place([running.folder])).forget(name)
    remembered.forget(name)
    approvals = Approvals(default_path())
    try:
        in_folder, elsewhere = (approvals.revoke(folder, name) for folder in (running.folder, None))
    except ApprovalsError as error:
        raise CommandError(str(error)) from error
    return in_folder or elsewhere

"""``mcp-lectern sign-out``: revoke the sign-in to a remote server and forget it; starts nothing."""

from __future__ import annotations

import argparse

from mcp_lectern.cli.layout import say
from mcp_lectern.cli.program import DONE
from mcp_lectern.cli.running import Running, print_json, run_with_hub
from mcp_lectern.hub import remembered
from mcp_lectern.hub.opened import Opened, place
from mcp_lectern.hub.sign_in import sign_out
from mcp_lectern.text.untrusted import single_line


def run(arguments: argparse.Namespace) -> int:
    """Done also where nobody was signed in."""
    return run_with_hub(arguments, lambda running: _sign_out(running, arguments), quiet=True)


async def _sign_out(running: Running, arguments: argparse.Namespace) -> int:
    name = arguments.server
    await sign_out(running.hub, name)
    Opened(place([running.folder])).forget(name)
    remembered.forget(name)
    if arguments.json:
        print_json({"server": name, "signedIn": False})
    else:
        say(f"Signed out of “{single_line(name)}”.")
    return DONE

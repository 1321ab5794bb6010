"""``mcp-lectern sign-in``: sign in to a remote server, in a browser; the page's address is printed too.

What the entry of a server asks for (``${input:id}``) is typed here as well.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import webbrowser

from mcp_lectern.cli.layout import say
from mcp_lectern.cli.program import DONE
from mcp_lectern.cli.running import Running, print_json, run_with_hub, troubles
from mcp_lectern.hub.sign_in import sign_in
from mcp_lectern.text.untrusted import single_line


class TerminalInteraction:
    """Prints the page's address on stderr, and opens it where there is a screen."""

    async def open_browser(self, url: str) -> None:
        """Never a browser in the terminal itself: it would wait, and nothing could be seen of it."""
        print(f"Open this page to sign in:\n\n  {url}\n", file=sys.stderr, flush=True)
        if has_screen():
            await asyncio.to_thread(webbrowser.open, url)

    async def redirect_address(self, local: str) -> str:
        """The browser runs on this machine."""
        return local


def has_screen() -> bool:
    """Whether a browser would open in a window."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def run(arguments: argparse.Namespace) -> int:
    """Waits until somebody has signed in."""
    return run_with_hub(arguments, lambda running: _sign_in(running, arguments))


async def _sign_in(running: Running, arguments: argparse.Namespace) -> int:
    name, hub = arguments.server, running.hub
    await sign_in(hub, name, TerminalInteraction())
    link = hub.link(name)
    given = bool(link.entry.spec.inputs)
    signed_in = link.credentials.signed_in or given
    code = DONE
    if given:
        # Whether it was the right value, only the server can tell.
        await hub.ensure_listed([name])
        code = troubles(hub, [name])
    if arguments.json:
        print_json({"server": name, "signedIn": signed_in})
    else:
        shown = single_line(name)
        say(f"Signed in to “{shown}”." if signed_in else f"“{shown}” asks for no sign-in.")
    return code

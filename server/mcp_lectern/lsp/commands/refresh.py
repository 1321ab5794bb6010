"""``lectern.refresh``: walk the lists of one server, or of all, anew; open documents are read again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.commands.servers import run as servers
from mcp_lectern.lsp.guard import optional_text

if TYPE_CHECKING:
    from mcp_lectern.hub.hub import Hub
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.refresh"


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Answers as ``lectern.servers`` does, when it is done."""
    server = optional_text(argument, "server")
    hub = await lectern.hub()
    if server is not None:
        await hub.inputs.give(server)
    wanted = None if server is None else (server,)
    await lectern.progress.shown(_title(hub, server), hub.list_again(wanted))
    hub.read_open_again(wanted or tuple(hub.catalogue.servers))
    return await servers(lectern, {})


def _title(hub: Hub, server: str | None) -> str | None:
    """What is shown while it lasts; None where all have to start first, which is shown by itself."""
    states = hub.states_shown()
    names = [server] if server is not None else list(states)
    if not any(states.get(name) == "ready" for name in names):
        return None
    return f"Listing the resources of {server if server is not None else 'all servers'}"

"""``lectern.restart``: end one server, or all, and start again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.commands.servers import run as servers
from mcp_lectern.lsp.guard import optional_text

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.restart"


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Answers as ``lectern.servers`` does, when it is done."""
    server = optional_text(argument, "server")
    hub = await lectern.hub()
    if server is not None:
        await hub.inputs.give(server)
    await hub.restart(None if server is None else (server,))
    return await servers(lectern, {})

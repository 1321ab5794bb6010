"""``lectern.revoke``: take an approval back; the server is ended and what was read of it is forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.commands.servers import run as servers
from mcp_lectern.lsp.guard import text_of

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.revoke"


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Answers as ``lectern.servers`` does, when the server is gone."""
    server = text_of(argument, "server")
    await lectern.approval.revoke(server)
    await (await lectern.hub()).remembered.purge(server)
    return await servers(lectern, {})

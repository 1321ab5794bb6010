"""``lectern.signOut``: revoke the sign-in to a remote server, and forget what was read under it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.commands.servers import run as servers
from mcp_lectern.lsp.guard import text_of

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.signOut"


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Answers as ``lectern.servers`` does. Starts nothing."""
    from mcp_lectern.hub.sign_in import sign_out

    server = text_of(argument, "server")
    await sign_out(await lectern.hub(), server)
    if lectern.session.opened is not None:
        lectern.session.opened.forget(server)
    return await servers(lectern, {})

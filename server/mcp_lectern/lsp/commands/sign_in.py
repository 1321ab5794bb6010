"""``lectern.signIn``: a person signs in to a remote server, in a browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.commands.servers import run as servers
from mcp_lectern.lsp.guard import text_of

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.signIn"


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Answers as ``lectern.servers`` does, when the person has signed in; the server is started then."""
    from mcp_lectern.hub.sign_in import sign_in
    from mcp_lectern.lsp.sign_in import EditorInteraction

    server = text_of(argument, "server")
    await sign_in(await lectern.hub(), server, EditorInteraction(lectern, server))
    return await servers(lectern, {})

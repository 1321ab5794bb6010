"""``workspace/symbol``: resources found by name, for clients that can open their location."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern


def register(lectern: Lectern) -> None:
    """Offer symbols."""

    @lectern.feature(types.WORKSPACE_SYMBOL)
    async def symbols(params: types.WorkspaceSymbolParams) -> list[dict[str, Any]]:
        if params.query:
            await lectern.loaded()
        return symbols_of(lectern, params.query)


def symbols_of(lectern: Lectern, query: str) -> list[dict[str, Any]]:
    """Ranked matches, at most ``completion.limit``; starts nothing."""
    session = lectern.session
    if session.hub is None or not session.settings.symbols or not session.client.virtual_documents:
        return []
    from mcp_lectern.features.symbols import symbols
    from mcp_lectern.lsp.to_proto.ranges import NOWHERE
    from mcp_lectern.lsp.virtual import given

    found = symbols(session.hub.catalogue, session.hub.indexes, query, session.settings.completion_limit)
    return [
        {
            "name": symbol.name,
            "containerName": symbol.container,
            "kind": int(types.SymbolKind.File),
            "location": {"uri": given(session, symbol.server, symbol.uri), "range": NOWHERE},
        }
        for symbol in found
    ]

"""``workspace/textDocumentContent``: the text of a ``lectern:`` document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern


def register(lectern: Lectern) -> None:
    """Serve the scheme."""

    @lectern.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)
    async def content(params: types.TextDocumentContentParams) -> dict[str, Any]:
        from mcp_lectern.lsp.guard import guarded
        from mcp_lectern.lsp.virtual import text_of

        return {"text": await guarded(text_of(lectern, params.uri))}

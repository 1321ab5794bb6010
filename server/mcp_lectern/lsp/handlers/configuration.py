"""``didChangeConfiguration`` and ``didChangeWatchedFiles``: something that configures us has changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern


def register(lectern: Lectern) -> None:
    """Read the configuration again, shortly."""

    @lectern.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configuration(params: types.DidChangeConfigurationParams) -> None:
        settings = params.settings
        section = settings.get("lectern", settings) if isinstance(settings, Mapping) else None
        lectern.engine.reconfigure(section if isinstance(section, Mapping) else None)

    @lectern.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files(_params: types.DidChangeWatchedFilesParams) -> None:
        lectern.engine.reconfigure()

    @lectern.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        if params.text_document.uri.endswith("mcp.json"):
            lectern.engine.reconfigure()

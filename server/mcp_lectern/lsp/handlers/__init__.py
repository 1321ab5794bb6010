"""One file per LSP method; the listing of this folder is the list of what an editor can ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lectern.lsp.handlers import (
    actions,
    completion,
    configuration,
    content,
    definition,
    diagnostics,
    hover,
    initialized,
    lenses,
    links,
    references,
    symbols,
    tokens,
)

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

_MODULES = (
    actions,
    completion,
    configuration,
    content,
    definition,
    diagnostics,
    hover,
    initialized,
    lenses,
    links,
    references,
    symbols,
    tokens,
)


def register(lectern: Lectern) -> None:
    """Answer every method."""
    for module in _MODULES:
        module.register(lectern)

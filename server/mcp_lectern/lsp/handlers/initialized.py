"""``initialized``: the client is ready, and the heavy part of the server may load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern


def register(lectern: Lectern) -> None:
    """Start what ``initialize`` must not wait for."""

    @lectern.feature(types.INITIALIZED)
    def initialized(_params: types.InitializedParams) -> None:
        lectern.on_initialized()

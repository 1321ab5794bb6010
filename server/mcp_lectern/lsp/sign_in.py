"""The person at the browser, reached through an editor; must not know what a sign-in consists of."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern


class EditorInteraction:
    """``server`` is the name under which a person configured the server that wants to know who they are."""

    def __init__(self, lectern: Lectern, server: str) -> None:
        self._lectern = lectern
        self._server = server

    async def open_browser(self, url: str) -> None:
        """In the editor's own browser (``window/showDocument``); where it has none, the address is shown."""
        from mcp_lectern.text.untrusted import single_line

        if self._lectern.session.client.shows_documents:
            params = {"uri": url, "external": True, "takeFocus": True}
            with suppress(JsonRpcException):
                shown = await self._lectern.protocol.ask(types.WINDOW_SHOW_DOCUMENT, params)
                if isinstance(shown, Mapping) and shown.get("success") is True:
                    return
        name = single_line(self._server, 100)
        self._lectern.show(types.MessageType.Info, f"To sign in to “{name}”, open this page: {url}")

    async def redirect_address(self, local: str) -> str:
        """What the client says, where its browser may run on another machine (``lectern/externalUri``)."""
        if not self._lectern.session.client.external_uri:
            return local
        try:
            answer = await self._lectern.protocol.ask("lectern/externalUri", {"uri": local})
        except JsonRpcException:
            return local
        uri = answer.get("uri") if isinstance(answer, Mapping) else None
        return uri if isinstance(uri, str) else local

"""What an entry asks for (``${input:id}``), put to the editor's user; must not know what becomes of it.

A client that declares ``input`` is asked ``lectern/input``. For others a message with buttons serves where
there is little to choose from; a secret cannot be typed into a message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from mcp_lectern.config.inputs import Input
    from mcp_lectern.lsp.server import Lectern

_MOST_BUTTONS = 6
_LONGEST_TITLE = 60
"""Characters of a button."""


class EditorPrompt:
    """The hub's ``Prompt`` for one editor."""

    def __init__(self, lectern: Lectern) -> None:
        self._lectern = lectern

    async def value(self, server: str, wanted: Input) -> str | None:
        """What the user gives; a client that fails to ask has been given nothing. Raises Refused."""
        from mcp_lectern.text.untrusted import plain_text

        try:
            if self._lectern.session.client.input:
                described = {"description": plain_text(wanted.description)} if wanted.description else {}
                params = {"server": server, **wanted.to_json(), **described}
                answer = await self._lectern.protocol.ask("lectern/input", params)
                value = answer.get("value") if isinstance(answer, Mapping) else None
                return value if isinstance(value, str) else None
            return await self._chosen(server, wanted)
        except JsonRpcException:
            return None

    async def _chosen(self, server: str, wanted: Input) -> str | None:
        from mcp_lectern.hub.failure import refused
        from mcp_lectern.text.untrusted import single_line

        by_title = {single_line(choice.label, _LONGEST_TITLE): choice.value for choice in wanted.choices}
        if not 0 < len(wanted.choices) <= _MOST_BUTTONS or len(by_title) < len(wanted.choices):
            raise refused(
                "needsSignIn",
                f"The server “{server}” asks for {wanted.label}, which this editor cannot ask you for: give "
                "it with `mcp-lectern sign-in` in a terminal, or write ${env:NAME} in its entry instead.",
                server=server,
            )
        text = (
            f"The entry of the server “{single_line(server, 100)}” asks for {single_line(wanted.label, 300)}"
        )
        actions = [{"title": title} for title in by_title]
        params = {"type": types.MessageType.Info.value, "message": text, "actions": actions}
        choice = await self._lectern.protocol.ask(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
        title = choice.get("title") if isinstance(choice, Mapping) else None
        return by_title.get(title) if isinstance(title, str) else None

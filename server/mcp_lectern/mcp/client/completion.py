"""Values for the arguments of templates, from the server; must not know how they are written into a URI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcp_lectern.mcp.errors import ServerError
from mcp_lectern.mcp.session import Patience, Session
from mcp_lectern.mcp.wire.completion import COMPLETE, Completion, completion_of, completion_params
from mcp_lectern.mcp.wire.jsonrpc import METHOD_NOT_FOUND

from .results import complete


@dataclass(slots=True)
class Completer:
    """``offered``: whether the server declares completions; if not, or if it has none, it is not asked."""

    session: Session
    patience: Patience
    offered: bool

    async def complete(
        self, uri_template: str, argument: str, value: str, arguments: Mapping[str, str]
    ) -> Completion:
        """What the server proposes; nothing where it proposes nothing. Raises McpError."""
        if not self.offered:
            return Completion()
        asked = self.session.asked(COMPLETE, uri_template)
        params = completion_params(uri_template, argument, value, arguments)
        try:
            result = complete(await self.session.request(asked, params, self.patience), asked)
        except ServerError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            self.offered = False
            return Completion()
        found = completion_of(result)
        if found is None:
            raise asked.invalid("no completion")
        return found

"""``lectern.open``: read a resource and show it; any URI of a configured server, listed or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.guard import invalid, optional_text, text_of

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.open"


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """One document for each item of the read, in order; the first is shown unless told not to."""
    from mcp_lectern.lsp import opening

    reveal = argument.get("reveal", True)
    if not isinstance(reveal, bool):
        raise invalid("“reveal” must be true or false.")
    server, uri = await _named(lectern, argument)
    documents = await opening.opened(lectern, server, uri)
    if reveal:
        await opening.reveal(lectern, server, uri, documents)
    return {"documents": documents}


async def _named(lectern: Lectern, argument: Mapping[str, Any]) -> tuple[str, str]:
    mention = optional_text(argument, "mention")
    if mention is None:
        return text_of(argument, "server"), text_of(argument, "uri")
    from mcp_lectern.hub.named import named

    return await named(await lectern.hub(), mention)

"""``lectern.log``: the tail of a server's stderr and of protocol events, secrets masked; starts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.guard import text_of

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.log"


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Contract 6."""
    hub = await lectern.hub()
    return {"text": hub.link(text_of(argument, "server")).log.tail()}

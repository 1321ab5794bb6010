"""``lectern.servers``: every configured server as it stands; starts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.servers"


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - takes {}
    """Contract 6."""
    hub = await lectern.hub()
    return {"servers": [status.to_json() for status in hub.status()]}

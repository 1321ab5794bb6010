"""``lectern.log``: the tail of a server's stderr and of protocol events, secrets masked; starts nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp import showing
from mcp_lectern.lsp.guard import invalid, text_of

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.log"


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Contract 6. With ``reveal`` the user sees it too, in an editor that does nothing with the answer."""
    reveal = argument.get("reveal", False)
    if not isinstance(reveal, bool):
        raise invalid("“reveal” must be true or false.")
    hub = await lectern.hub()
    server = text_of(argument, "server")
    text = hub.link(server).log.tail()
    if reveal:
        await _reveal(lectern, server, text)
    return {"text": text}


async def _reveal(lectern: Lectern, server: str, text: str) -> None:
    """As a private read-only file: every editor can show one. It is not updated."""
    from mcp_lectern.hub.failure import refused

    settings = lectern.session.settings
    bounds = settings.limits_materialized_bytes, settings.materialized_days
    try:
        path = await asyncio.to_thread(_written, server, text or "Nothing has happened yet.", *bounds)
    except OSError as error:
        raise refused("serverFailed", f"The log cannot be kept as a file: {error}.", server=server) from error
    showing.show(lectern, path.as_uri(), f"The log was saved as {path}")


def _written(server: str, text: str, max_bytes: int, max_days: float) -> Path:
    """Among the files of the server's resources, so that it goes when they go."""
    from platformdirs import user_cache_path

    from mcp_lectern.documents.address import Key
    from mcp_lectern.documents.files import evict, materialize

    folder = user_cache_path("mcp-lectern", appauthor=False) / "materialized"
    data = text.encode("utf-8", "replace")
    path = materialize(folder, Key(server, "log"), data, "text/plain", "text")
    evict(folder, max_bytes=max_bytes, max_days=max_days, keep=path)
    return path

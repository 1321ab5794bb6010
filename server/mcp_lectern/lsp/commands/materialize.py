"""``lectern.materialize``: one item as a read-only private file with exactly its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.guard import text_of

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.materialize"


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Answers where the file lies."""
    from mcp_lectern.lsp import opening

    file = await opening.materialized(lectern, text_of(argument, "document"))
    answer = {"path": str(file.path), "size": file.size, "mimeType": file.mime_type}
    return {key: value for key, value in answer.items() if value is not None}

"""Offsets to LSP ranges in the client's position encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_lectern.text.document import Document
    from mcp_lectern.text.encodings import Encoding

NOWHERE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
"""The beginning of a document: where a definition points."""


def range_of(document: Document, start: int, end: int, encoding: Encoding) -> dict[str, Any]:
    """The range of two offsets."""
    return {
        "start": position_of(document, start, encoding),
        "end": position_of(document, end, encoding),
    }


def position_of(document: Document, offset: int, encoding: Encoding) -> dict[str, int]:
    """The position of an offset."""
    line, character = document.position(offset, encoding)
    return {"line": line, "character": character}


class Ranges:
    """The ranges of ascending spans of one document, which must not change meanwhile."""

    def __init__(self, document: Document, encoding: Encoding) -> None:
        from mcp_lectern.text.positions import Positions

        self._positions = Positions(document, encoding)

    def of(self, start: int, end: int) -> dict[str, Any]:
        """The range of two offsets."""
        first_line, first = self._positions.of(start)
        last_line, last = self._positions.of(end)
        return {
            "start": {"line": first_line, "character": first},
            "end": {"line": last_line, "character": last},
        }

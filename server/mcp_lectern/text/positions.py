"""Positions of ascending offsets, each found from the one before: long lines stay cheap; no protocol here."""

from __future__ import annotations

from mcp_lectern.text.document import Document, Position
from mcp_lectern.text.encodings import Encoding, units


class Positions:
    """One walk through one document, which must not change meanwhile. Going back is allowed, and slow."""

    __slots__ = ("_character", "_document", "_encoding", "_line", "_offset")

    def __init__(self, document: Document, encoding: Encoding) -> None:
        self._document = document
        self._encoding = encoding
        self._line = -1
        self._offset = 0
        self._character = 0

    def of(self, offset: int) -> Position:
        """What ``Document.position`` says."""
        document = self._document
        line, start, end = document.line_around(offset)
        if line != self._line or offset < self._offset:
            self._line, self._offset, self._character = line, start, 0
        offset = max(min(offset, end), self._offset)
        self._character += units(document.text[self._offset : offset], self._encoding)
        self._offset = offset
        return line, self._character

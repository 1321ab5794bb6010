"""Tokens as LSP's numbers: five for each, counted from the token before (LSP 3.17, "Semantic Tokens")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mcp_lectern.features.tokens import TYPES, Token
from mcp_lectern.text.encodings import units
from mcp_lectern.text.positions import Positions

if TYPE_CHECKING:
    from mcp_lectern.text.document import Document
    from mcp_lectern.text.encodings import Encoding

Five = tuple[int, int, int, int, int]

_KINDS = {name: number for number, name in enumerate(TYPES)}


def encoded(found: Iterable[Token | None], document: Document, encoding: Encoding) -> Iterator[Five | None]:
    """Line and character behind the token before, length, type and modifiers of each; a None stays."""
    positions = Positions(document, encoding)
    line = character = 0
    for token in found:
        if token is None:
            yield None
            continue
        at_line, at = positions.of(token.start)
        length = units(document.text[token.start : token.end], encoding)
        kind, modifiers = _KINDS[token.kind], int(token.unresolved)
        yield at_line - line, at - (character if at_line == line else 0), length, kind, modifiers
        line, character = at_line, at


def edits(before: list[int], after: list[int]) -> list[dict[str, object]]:
    """The one edit that makes ``after`` of ``before``, or none where they are the same."""
    shortest = min(len(before), len(after))
    start = next((n for n in range(shortest) if before[n] != after[n]), shortest)
    tail = 0
    while tail < shortest - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    if start == len(before) == len(after):
        return []
    kept = after[start : len(after) - tail]
    return [{"start": start, "deleteCount": len(before) - tail - start, "data": kept}]

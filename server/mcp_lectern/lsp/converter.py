"""Structures what clients send, tolerant of what LSP does not know yet; must not know any method."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from cattrs import Converter
from lsprotocol import converters, types

NO_VERSION: Final = -1
"""That of a document whose client tells none."""


def lenient_converter() -> Converter:
    """The converter of lsprotocol, for which a word outside an enumeration is no reason to refuse a message.

    A client may name a format, a kind or a trigger that a later LSP brought: such a value stays as it is.
    """
    converter = Converter()
    # Before lsprotocol's own hooks, which look up what they need when they are made; one by one, since the
    # base of each, str or int, would be found before a rule for all enumerations.
    for kind in vars(types).values():
        if isinstance(kind, type) and issubclass(kind, Enum):
            converter.register_structure_hook(kind, _member_or_itself)
    converters.get_converter(converter)
    for kind in (types.DidOpenTextDocumentParams, types.DidChangeTextDocumentParams):
        converter.register_structure_hook(kind, _after(_without_nulls, converter.get_structure_hook(kind)))
    return converter


def _after(change: Callable[[Any], Any], structure: Callable[[Any, type], Any]) -> Callable[[Any, type], Any]:
    return lambda value, kind: structure(change(value), kind)


def _without_nulls(params: Any) -> Any:
    """A document's version may be null up to LSP 3.15, and some clients write null for what is absent."""
    if not isinstance(params, dict):
        return params
    document, changes = params.get("textDocument"), params.get("contentChanges")
    cleaned = dict(params)
    if isinstance(document, dict) and document.get("version") is None:
        cleaned["textDocument"] = {**document, "version": NO_VERSION}
    if isinstance(changes, list):
        cleaned["contentChanges"] = [
            {name: value for name, value in change.items() if value is not None}
            if isinstance(change, dict)
            else change
            for change in changes
        ]
    return cleaned


def _member_or_itself(value: Any, kind: type[Enum]) -> Any:
    try:
        return kind(value)
    except ValueError:
        return value

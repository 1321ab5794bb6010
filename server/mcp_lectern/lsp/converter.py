"""Structures what clients send, tolerant of what LSP does not know yet; must not know any method."""

from __future__ import annotations

from enum import Enum
from typing import Any

from cattrs import Converter
from lsprotocol import converters, types


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
    return converters.get_converter(converter)


def _member_or_itself(value: Any, kind: type[Enum]) -> Any:
    try:
        return kind(value)
    except ValueError:
        return value

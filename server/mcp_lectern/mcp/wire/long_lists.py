"""A long page of descriptors, read while it arrives; must not do I/O or know where the list ends.

Where an entry ends is not looked for: what lies before one of the last places that could be between two of
them is read as a list, which succeeds at the right places alone.
"""

from __future__ import annotations

import re
from typing import Any, Final

from pydantic_core import SchemaValidator

from .collection import no_collection
from .descriptors import RESOURCE_LIST, TEMPLATE_LIST

TRIES: Final = 4
"""Places that are tried: the last ones may lie between objects inside an entry."""
_BETWEEN: Final = re.compile(rb"\}[ \t\r\n]*,[ \t\r\n]*(?=\{)")
_LISTS: Final = {
    b"resources": SchemaValidator(RESOURCE_LIST),
    b"resourceTemplates": SchemaValidator(TEMPLATE_LIST),
}

Json = Any


class LongList:
    """The first entries of a list, as ``decode`` gives them: None for one that cannot be addressed."""

    lenient: Final = False

    def __init__(self, name: bytes) -> None:
        self.name = name.decode("ascii")
        self.entries: list[Json] = []
        self._read = _LISTS[name].validate_json
        self._raw: list[bytes] = []

    def take(self, data: bytes, start: int) -> int:
        """Read the whole entries that stand from ``start`` on; where the one behind them begins."""
        places = [found.span() for found in _BETWEEN.finditer(data, start)]
        for end, behind in reversed(places[-TRIES:]):
            try:
                with no_collection():
                    entries = self._read(b"[%b]" % data[start : end + 1])
            except ValueError:
                continue
            self.entries += entries
            self._raw.append(data[start:behind])
            return behind
        return start

    def raw(self) -> bytes:
        """What was read, as it came, with the comma behind it."""
        return b"".join(self._raw)

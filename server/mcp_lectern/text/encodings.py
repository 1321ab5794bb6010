"""How many units of a position encoding a piece of one line takes; must not know lines or documents.

LSP 3.17, "Position encoding": a character offset counts UTF-8 bytes, UTF-16 code units or code points.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Encoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]

_UNIT_BYTES = {"utf-8": 1, "utf-16": 2}
_CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le"}


def units(piece: str, encoding: Encoding) -> int:
    """The length of ``piece`` in units of ``encoding``; a lone surrogate counts like any character."""
    if encoding == "utf-32" or piece.isascii():
        return len(piece)
    return len(piece.encode(_CODECS[encoding], "surrogatepass")) // _UNIT_BYTES[encoding]


def code_points(line: str, character: int, encoding: Encoding) -> int:
    """How many code points of ``line`` lie before ``character`` units; clamps to the line.

    A position inside a character (between two surrogates or two bytes of one) clamps to its beginning.
    """
    # A code point takes one unit at least, so nothing behind this prefix can matter.
    prefix = line[: max(character, 0)]
    if encoding == "utf-32" or prefix.isascii():
        return len(prefix)
    codec = _CODECS[encoding]
    data = prefix.encode(codec, "surrogatepass")
    cut = _boundary(data, character * _UNIT_BYTES[encoding], encoding)
    return len(prefix) if cut >= len(data) else len(data[:cut].decode(codec, "surrogatepass"))


def _boundary(data: bytes, cut: int, encoding: Encoding) -> int:
    """The last beginning of a character at or before ``cut`` bytes."""
    if encoding == "utf-8":
        while cut < len(data) and data[cut] & 0xC0 == 0x80:
            cut -= 1
        return cut
    splits_pair = cut < len(data) and data[cut + 1] & 0xFC == 0xDC and data[cut - 1] & 0xFC == 0xD8
    return cut - 2 if splits_pair else cut

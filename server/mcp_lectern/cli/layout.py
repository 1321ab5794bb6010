"""How answers look on a terminal; must not know what they mean.

Whatever a server wrote passes through here without the characters that a terminal obeys.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from mcp_lectern.features.describe import size_shown
from mcp_lectern.text.untrusted import single_line

WIDEST = 60
"""Characters; a longer cell does not push the next column any further."""


def say(line: str = "") -> None:
    """One line of the answer, in whatever encoding stdout has."""
    encoding = sys.stdout.encoding or "ascii"
    print(line.encode(encoding, "replace").decode(encoding))


def columns(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The rows with aligned columns, each cell on one line."""
    cells = [[single_line(cell, 2000) for cell in row] for row in rows]
    widths = [
        max((len(cell) for cell in column if len(cell) <= WIDEST), default=0)
        for column in zip(*cells, strict=True)
    ]
    for row in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def kind(mime_type: str | None, size: int | None) -> str:
    """Type and size of a resource, as far as they are known."""
    return ", ".join(part for part in (mime_type, None if size is None else size_shown(size)) if part)


def on_terminal(text: str) -> str:
    """Text with its control characters made visible, but for line ends and tabs."""
    return "".join(character if _harmless(character) else _picture(character) for character in text)


def write_text(text: str) -> None:
    """An answer that is a text, in UTF-8 as it is, unless a terminal would obey it."""
    sys.stdout.flush()
    sys.stdout.buffer.write(in_utf8(on_terminal(text) if sys.stdout.isatty() else text))


def in_utf8(text: str) -> bytes:
    """UTF-8; a lone surrogate, which has none, becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _harmless(character: str) -> bool:
    return character in "\n\t" or (character >= " " and not "\x7f" <= character <= "\x9f")


def _picture(character: str) -> str:
    return chr(0x2400 + ord(character)) if character < " " else "�"

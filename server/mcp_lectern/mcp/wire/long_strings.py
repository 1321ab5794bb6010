"""Long strings of a message, decoded while they arrive; must not do I/O or know where a string ends.

They are kept in pieces, so that no step takes long, and a blob is never there as text. What is added is JSON
as it stands between the quotes, with no escape and no character cut in two.
"""

from __future__ import annotations

import json
from typing import Final

from pydantic_core import from_json

from .base64_text import Base64Decoder

_UNDECIDED: Final = 8
"""The last characters of base64: padding may be among them, which only the end tells."""


class LongText:
    """A string. ``lenient``: bad UTF-8 or lone surrogates are in it, which the fast parser refuses."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.lenient = False

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    def add(self, encoded: bytes) -> None:
        """The next part of it. Raises ValueError where that is no part of a JSON string."""
        try:
            piece = from_json(b'"%b"' % encoded, cache_strings="none")
        except ValueError:
            piece = json.loads(f'"{encoded.decode("utf-8", "replace")}"')
            self.lenient = True
        self.pieces.append(piece)

    def end(self) -> LongText:
        """There is no more of it. Raises ValueError like ``add``."""
        return self

    def text(self) -> str:
        """The whole, to be asked for once: nothing of it is kept. Takes many short steps."""
        pieces, self.pieces = self.pieces, []
        text = ""
        for at, piece in enumerate(pieces):
            # CPython extends a string that nobody else holds in place. Joined in one go, a large one would be
            # there twice, and other threads would wait until it is.
            text += piece
            pieces[at] = ""
        return text


class LongBase64:
    """A string that is base64 to all appearances, decoded but for its end. ``lenient``: as that of a text."""

    def __init__(self, decoder: Base64Decoder, rest: LongText) -> None:
        self._decoder = decoder
        self.lenient = rest.lenient
        self._rest = rest.text()

    def data(self) -> bytes:
        """The bytes, to be asked for once. Raises ValueError, with a phrase that says what is wrong."""
        self._decoder.feed(self._rest)
        return self._decoder.end()

    def text(self) -> str:
        """The string itself, for whoever takes it for no base64; not to be asked for after ``data``."""
        text = LongText()
        text.pieces += [*self._decoder.taken(), self._rest]
        return text.text()


class ArrivingBase64:
    """A string that may be base64: it is decoded as it comes, as long as it is regular, else kept as text."""

    def __init__(self) -> None:
        self._decoder = Base64Decoder()
        self._rest = b""
        self._text: LongText | None = None

    def add(self, encoded: bytes) -> None:
        """The next part of it. Raises ValueError where that is no part of a JSON string."""
        if self._text is None:
            encoded = self._rest + encoded
            whole = max(0, len(encoded) - _UNDECIDED) // 4 * 4
            if self._decoder.take(encoded[:whole]):
                self._rest = encoded[whole:]
                return
            self._text = LongText()
            self._text.pieces += self._decoder.taken()
        self._text.add(encoded)

    def end(self) -> LongText | LongBase64:
        """There is no more of it. Raises ValueError like ``add``."""
        if self._text is not None:
            return self._text
        rest = LongText()
        rest.add(self._rest)
        return LongBase64(self._decoder, rest)


LongString = LongText | LongBase64

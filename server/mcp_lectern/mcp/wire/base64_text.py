"""Base64 as servers write it, decoded piece by piece; must not do I/O or know where it stands in a message.

Each step is short, so that whoever decodes in a thread leaves the others their turns, and what is decoded is
never there twice.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from io import BytesIO
from typing import Final

from pydantic_core import SchemaValidator, core_schema

SLICE_CHARACTERS: Final = 256 * 1024
"""A multiple of 4, so that each slice decodes by itself."""
SLICE_BYTES: Final = SLICE_CHARACTERS // 4 * 3

_BASE64 = re.compile(r"[A-Za-z0-9+/]*\Z")
_WHITE_SPACE = re.compile(r"\s+")
_URL_ALPHABET = str.maketrans("-_", "+/")
_JSON_BASE64 = SchemaValidator(core_schema.bytes_schema(), config={"val_json_bytes": "base64"})


class Base64Decoder:
    """Text that may lack padding, hold white space, or use the URL alphabet (but not both alphabets)."""

    def __init__(self) -> None:
        self._data = BytesIO()
        self._rest = ""
        self._ascii = True
        self._standard = self._url = self._padded = self._strange = False

    def take(self, quads: bytes) -> bool:
        """Decode groups of four characters of the standard alphabet; False, taking nothing, for all else."""
        try:
            data = _strictly_decoded(quads)
        except ValueError:
            return False
        if len(data) * 4 != len(quads) * 3:
            return False
        self._data.write(data)
        return True

    def taken(self) -> Iterator[str]:
        """What was decoded so far, as base64 in slices."""
        for start in range(0, self._data.tell(), SLICE_BYTES):
            with self._data.getbuffer() as data:
                text = binascii.b2a_base64(data[start : start + SLICE_BYTES], newline=False)
            yield text.decode("ascii")

    def feed(self, text: str) -> None:
        """The next characters, whatever they are."""
        self._ascii = self._ascii and text.isascii()
        for start in range(0, len(text) if self._ascii else 0, SLICE_CHARACTERS):
            self._feed(text[start : start + SLICE_CHARACTERS])

    def end(self) -> bytes:
        """All of it; nothing of it is kept. Raises ValueError, with a phrase that says what is wrong."""
        if not self._ascii:
            raise ValueError("it holds characters outside ASCII")
        if self._url and self._standard:
            raise ValueError("it mixes the two base64 alphabets")
        if self._strange:
            raise ValueError("it holds characters that are not base64")
        if len(self._rest) == 1:
            raise ValueError("its length is not one that base64 can have")
        if self._rest:
            self._data.write(binascii.a2b_base64(self._rest + "=="))
            self._rest = ""
        data, self._data = self._data.getvalue(), BytesIO()
        return data

    def _feed(self, text: str) -> None:
        if not (self._url or self._padded or self._strange):
            regular = self._rest + text
            whole = len(regular) // 4 * 4
            if _BASE64.match(regular, whole) and self.take(regular[:whole].encode("ascii")):
                self._rest = regular[whole:]
                return
        self._rest += self._regular(text)
        whole = len(self._rest) // 4 * 4
        self._strange = self._strange or not self.take(self._rest[:whole].encode("ascii"))
        self._rest = self._rest[whole:]

    def _regular(self, text: str) -> str:
        """The same in the standard alphabet, without padding and white space; nothing if it is no base64."""
        text = _WHITE_SPACE.sub("", text)
        if not self._url and ("-" in text or "_" in text):
            self._url = True
            self._standard = self._standard or any(map(_is_standard, (self._rest, *self.taken())))
        self._standard = self._standard or _is_standard(text)
        characters = text.rstrip("=")
        self._strange = self._strange or (self._padded and bool(characters))
        self._padded = self._padded or len(characters) < len(text)
        characters = characters.translate(_URL_ALPHABET)
        self._strange = self._strange or not _BASE64.match(characters)
        return "" if self._strange else characters


def _strictly_decoded(quads: bytes) -> bytes:
    """Raises ValueError. pydantic-core is three times as fast as the standard library, but takes more."""
    try:
        if b"-" not in quads and b"_" not in quads:
            data: bytes = _JSON_BASE64.validate_json(b'"%b"' % quads)
            return data
    except ValueError:
        pass
    return binascii.a2b_base64(quads, strict_mode=True)


def _is_standard(text: str) -> bool:
    return "+" in text or "/" in text

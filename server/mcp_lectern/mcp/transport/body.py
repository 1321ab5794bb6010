"""The bytes of an HTTP body, decompressed in bounded pieces; must not know what they mean.

A client that decompresses whatever arrives in one piece can be made to fill memory by a few kilobytes: limits
are counted behind this, on what the body really is.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final, Protocol

ACCEPTED: Final = "gzip, deflate"
PIECE: Final = 256 * 1024


class UnknownEncodingError(Exception):
    """The body is encoded in a way that was not asked for; ``str()`` is its name."""


class BadEncodingError(Exception):
    """The body is not what its encoding says."""


class Decoder(Protocol):
    """Encoded bytes in, pieces of at most ``PIECE`` bytes out."""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Take the next bytes. Raises BadEncodingError."""


class Plain:
    """No encoding at all."""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The bytes themselves."""
        yield chunk


class Inflate:
    """gzip and deflate, the latter with and without the header that servers forget (RFC 9110, 8.4.1.2)."""

    def __init__(self) -> None:
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._begun = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Decompress piece by piece; what follows the end of the compressed data is dropped."""
        try:
            piece = self._inflater.decompress(chunk, PIECE)
        except zlib.error as error:
            if self._begun:
                raise BadEncodingError(str(error)) from error
            piece = self._bare(chunk)
        self._begun = self._begun or bool(chunk)
        while piece:
            yield piece
            piece = self._more()

    def _bare(self, chunk: bytes) -> bytes:
        self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            return self._inflater.decompress(chunk, PIECE)
        except zlib.error as error:
            raise BadEncodingError(str(error)) from error

    def _more(self) -> bytes:
        rest = self._inflater.unconsumed_tail
        if self._inflater.eof:
            return b""
        try:
            return self._inflater.decompress(rest, PIECE)
        except zlib.error as error:
            raise BadEncodingError(str(error)) from error


def decoder(encoding: str | None) -> Decoder:
    """The decoder for a Content-Encoding header. Raises UnknownEncodingError."""
    name = (encoding or "identity").strip().lower()
    if name in ("", "identity"):
        return Plain()
    if name in ("gzip", "x-gzip", "deflate"):
        return Inflate()
    raise UnknownEncodingError(name[:50])

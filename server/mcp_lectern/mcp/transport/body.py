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
SLICE: Final = 64 * 1024
MEMBERS: Final = 10_000
"""Of one gzip body: one for every few kilobytes of the largest that is read by default."""
GZIP_MAGIC: Final = b"\x1f\x8b"


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
    """gzip and deflate, the latter with and without the header that servers forget (RFC 9110, 8.4.1.2).

    A gzip body may have several members (RFC 1952, 2.2). What else follows the compressed data is dropped,
    up to a bound: a body that goes on for ever must not keep its reader for ever.
    """

    def __init__(self) -> None:
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._dropped = 0
        self._members = 0
        self._held = b""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Decompress piece by piece. Raises BadEncodingError."""
        # What follows a member is copied at its end: that must not be a large chunk, member by member.
        for start in range(0, len(chunk), SLICE):
            yield from self._feed(self._held + chunk[start : start + SLICE])

    def _feed(self, chunk: bytes) -> Iterator[bytes]:
        self._held = b""
        while chunk:
            if self._members == 0:
                if len(chunk) < 2:
                    self._held = chunk
                    return
                self._begin(chunk)
            if self._inflater.eof:
                if chunk == GZIP_MAGIC[:1]:
                    self._held = chunk
                    return
                if not self._next_member(chunk):
                    self._drop(len(chunk))
                    return
            piece = self._inflate(chunk)
            while piece:
                yield piece
                piece = b"" if self._inflater.eof else self._inflate(self._inflater.unconsumed_tail)
            chunk = self._inflater.unused_data

    def _begin(self, data: bytes) -> None:
        """Tell from the first two bytes which of the three ways it is."""
        self._members = 1
        zlib_header = data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:2], "big") % 31 == 0
        if not zlib_header and not data.startswith(GZIP_MAGIC):
            self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)

    def _inflate(self, data: bytes) -> bytes:
        try:
            return self._inflater.decompress(data, PIECE)
        except zlib.error as error:
            raise BadEncodingError(str(error)) from error

    def _next_member(self, data: bytes) -> bool:
        """Whether another member begins here; the inflater is ready for it then."""
        if self._dropped or not data.startswith(GZIP_MAGIC):
            return False
        self._members += 1
        if self._members > MEMBERS:
            raise BadEncodingError("it has too many members")
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        return True

    def _drop(self, count: int) -> None:
        self._dropped += count
        if self._dropped > PIECE:
            raise BadEncodingError("it goes on after its end")


def decoder(encoding: str | None) -> Decoder:
    """The decoder for a Content-Encoding header. Raises UnknownEncodingError."""
    name = (encoding or "identity").strip().lower()
    if name in ("", "identity"):
        return Plain()
    if name in ("gzip", "x-gzip", "deflate"):
        return Inflate()
    raise UnknownEncodingError(name[:50])

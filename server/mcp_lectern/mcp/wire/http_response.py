"""One HTTP/1.1 response out of a stream of bytes; must not do I/O or know what a body means.

RFC 9112. Bytes go in as they come, in pieces of any size; a head, pieces of the body and its end come out. As
tolerant as servers need it (bare line feeds, no reason phrase, folded lines), and exact about where a body
ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

MOST_HEAD: Final = 100 * 1024
"""Bytes of a head, of a chunk's first line or of trailers; whoever sends more is not listened to."""
MOST_INTERIM: Final = 100
"""Responses 1xx before the one that counts."""
_BLANK: Final = re.compile(rb"\n\r?\n")
_STATUS: Final = re.compile(r"HTTP/([0-9]\.[0-9]) ([0-9]{3})(?: [^\x00\r\n\v\f]*)?", re.ASCII)
_FIELD: Final = re.compile(
    r"([-!#$%&'*+.^_`|~0-9A-Za-z]+):[ \t]*((?:[^\x00\s]+(?:[ \t]+[^\x00\s]+)*)?)[ \t]*", re.ASCII
)
_LENGTH: Final = re.compile(r"[0-9]{1,20}", re.ASCII)
_CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,20})(?:;.*)?[ \t]*")

_CHUNK_LINE: Final = re.compile(rb"([0-9A-Fa-f]{1,4})(?:;[^\r\n]*)?[ \t]*\r\n")
"""That of a chunk so small that many of them may come at once."""


class BadResponseError(Exception):
    """What arrives is no response, or is cut short; ``str()`` is a phrase."""


@dataclass(frozen=True, slots=True)
class Head:
    """``fields`` are all headers in order; ``headers`` has them by lower-case name, repeated ones joined."""

    status: int
    fields: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]


class End:
    """The body has ended as it should."""


END: Final = End()
Event = Head | bytes | End


class ResponseReader:
    """The answer to one request (never to HEAD or CONNECT). After an error it is of no more use."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._scanned = 0
        self._left = 0
        self._interim = 0
        self._keeps = False
        self._step: Callable[[list[Event]], bool] = self._head

    @property
    def reusable(self) -> bool:
        """Whether the connection can take another request: the body has ended, and nothing came after it."""
        return self._step == self._nothing and self._keeps and not self._buffer

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes. Raises BadResponseError."""
        events: list[Event] = []
        if self._step == self._counted and not self._buffer and len(data) < self._left:
            # A large body does not take the way through the buffer.
            self._left -= len(data)
            return [data]
        self._buffer += data
        while self._step(events):
            pass
        return events

    def close(self) -> list[Event]:
        """The other side has ended the stream. Raises BadResponseError where that is too early."""
        if self._step == self._nothing:
            return []
        if self._step == self._until_close:
            self._step = self._nothing
            return [END]
        begun = self._step != self._head or self._buffer
        raise BadResponseError("it ended in the middle" if begun else "there was no answer")

    # Each step takes what it can from the buffer, and says whether there may be more to take.

    def _head(self, events: list[Event]) -> bool:
        lines = self._lines()
        if lines is None:
            if not b"HTTP/".startswith(self._buffer[:5]):
                raise BadResponseError("it is no HTTP")
            return False
        found = _STATUS.fullmatch(lines[0]) if lines else None
        if found is None:
            raise BadResponseError("it has no status that can be read")
        status, fields = int(found[2]), _fields(lines[1:])
        if status < 200:
            return self._skip(status)
        headers: dict[str, str] = {}
        for name, value in fields:
            key = name.lower()
            headers[key] = f"{headers[key]}, {value}" if key in headers else value
        events.append(Head(status, fields, headers))
        self._frame(status, headers, keeps=found[1] >= "1.1")
        return True

    def _skip(self, status: int) -> bool:
        self._interim += 1
        if status < 100:
            raise BadResponseError("it has no status that can be read")
        if status == 101 or self._interim > MOST_INTERIM:
            raise BadResponseError("it changes to another protocol, or never comes to the point")
        return True

    def _frame(self, status: int, headers: Mapping[str, str], *, keeps: bool) -> None:
        """How long the body is (RFC 9112, 6.3), and whether the connection lasts (9.3)."""
        options = headers.get("connection", "").lower().split(",")
        self._keeps = keeps and not any(option.strip() == "close" for option in options)
        length = _content_length(headers.get("content-length"))
        coding = headers.get("transfer-encoding")
        if coding is not None and coding.lower() != "chunked":
            raise BadResponseError("its body is transferred in a way that is not known")
        if status in (204, 304):
            self._left, self._step = 0, self._counted
        elif coding is not None:
            # With both, one who stands between may have seen another end of the body.
            self._keeps = self._keeps and length is None
            self._step = self._chunk
        elif length is not None:
            self._left, self._step = length, self._counted
        else:
            self._keeps, self._step = False, self._until_close

    def _counted(self, events: list[Event]) -> bool:
        self._take(events)
        if self._left:
            return False
        events.append(END)
        self._step = self._nothing
        return False

    def _chunk(self, events: list[Event]) -> bool:
        self._small_chunks(events)
        at = self._buffer.find(b"\r\n", max(0, self._scanned - 1))
        if at < 0:
            self._scanned = len(self._buffer)
            self._bound(self._scanned)
            return False
        self._left = _chunk_length(bytes(self._buffer[:at]))
        self._drop(at + 2)
        self._step = self._chunk_data if self._left else self._trailers
        return True

    def _small_chunks(self, events: list[Event]) -> None:
        """All that are there whole, as one piece: a step for each would hold whoever feeds for long."""
        buffer, place, pieces = self._buffer, 0, []
        while found := _CHUNK_LINE.match(buffer, place):
            begin = found.end()
            end = begin + int(found[1], 16)
            if end == begin or not buffer.startswith(b"\r\n", end):
                break
            pieces.append(buffer[begin:end])
            place = end + 2
        del found
        if pieces:
            events.append(b"".join(pieces))
            self._drop(place)

    def _chunk_data(self, events: list[Event]) -> bool:
        self._take(events)
        if self._left or len(self._buffer) < 2:
            if not self._left and self._buffer and self._buffer[0] != 0x0D:
                raise BadResponseError("a chunk of its body is longer than it says")
            return False
        if self._buffer[:2] != b"\r\n":
            raise BadResponseError("a chunk of its body is longer than it says")
        self._drop(2)
        self._step = self._chunk
        return True

    def _trailers(self, events: list[Event]) -> bool:
        lines = self._lines()
        if lines is None:
            return False
        _fields(lines)
        events.append(END)
        self._step = self._nothing
        return False

    def _until_close(self, events: list[Event]) -> bool:
        self._left = len(self._buffer)
        self._take(events)
        return False

    def _nothing(self, _events: list[Event]) -> bool:
        return False

    def _take(self, events: list[Event]) -> None:
        """As much of the body as is there, and still belongs to this piece of it."""
        count = min(self._left, len(self._buffer))
        if count:
            with memoryview(self._buffer) as buffer:
                events.append(bytes(buffer[:count]))
            self._left -= count
            self._drop(count)

    def _drop(self, count: int) -> None:
        del self._buffer[:count]
        self._scanned = 0

    def _lines(self) -> list[str] | None:
        """The lines up to a blank one, which may be the first; None where it is not there yet."""
        for blank in (b"\r\n", b"\n"):
            if self._buffer.startswith(blank):
                self._drop(len(blank))
                return []
        span = _span(_BLANK.search(self._buffer, max(0, self._scanned - 2)))
        if span is None:
            self._scanned = len(self._buffer)
            self._bound(self._scanned)
            return None
        self._bound(span[0])
        text = _decoded(bytes(self._buffer[: span[0]]))
        self._drop(span[1])
        return [line.removesuffix("\r") for line in text.split("\n")]

    def _bound(self, length: int) -> None:
        if length > MOST_HEAD:
            raise BadResponseError(f"its head has more than {MOST_HEAD} bytes")


def _span(found: re.Match[bytes] | None) -> tuple[int, int] | None:
    """Where it was found. A match that is kept would keep its buffer from growing and shrinking."""
    return None if found is None else found.span()


def _chunk_length(line: bytes) -> int:
    found = _CHUNK.fullmatch(line)
    if found is None:
        raise BadResponseError("its body has a chunk without a length")
    return int(found[1], 16)


def _decoded(head: bytes) -> str:
    try:
        return head.decode()
    except UnicodeDecodeError:
        return head.decode("latin-1")


def _fields(lines: list[str]) -> tuple[tuple[str, str], ...]:
    fields = []
    for line in _unfolded(lines):
        found = _FIELD.fullmatch(line)
        if found is None:
            raise BadResponseError("it has a header that cannot be read")
        fields.append((found[1], found[2]))
    return tuple(fields)


def _unfolded(lines: list[str]) -> list[str]:
    """Lines that begin with white space continue the one before (RFC 9112, 5.2)."""
    if not any(line[:1] in (" ", "\t") for line in lines):
        return lines
    whole: list[list[str]] = []
    for line in lines:
        if line[:1] not in (" ", "\t"):
            whole.append([line])
        elif whole:
            whole[-1].append(line.lstrip(" \t"))
        else:
            raise BadResponseError("it begins with the rest of a header")
    return [" ".join(parts) for parts in whole]


def _content_length(value: str | None) -> int | None:
    """The length that is stated; the same one several times is one."""
    if value is None:
        return None
    lengths = {length.strip() for length in value.split(",")}
    length = lengths.pop()
    if lengths or not _LENGTH.fullmatch(length):
        raise BadResponseError("it says several lengths, or none that can be read")
    return int(length)

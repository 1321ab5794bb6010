"""One HTTP/1.1 connection, and one exchange after another on it; must not know what is exchanged.

On asyncio's own protocol, without a layer between: for a small request such a layer costs more than the rest.
"""

from __future__ import annotations

import asyncio
import select
import socket
from collections import deque
from collections.abc import AsyncGenerator
from typing import Final, cast

from mcp_lectern.mcp.wire.http_response import BadResponseError, End, Event, Head, ResponseReader

MOST_WAITING: Final = 1024 * 1024
"""Bytes of a body that nobody has taken yet, after which the server has to wait."""


class HttpConnection(asyncio.Protocol):
    """``exchange``, then ``pieces`` as far as they are wanted, then ``finish``: once for each request.

    ``write_seconds``: how long the other side may take nothing of what is sent.
    """

    def __init__(self, write_seconds: float) -> None:
        self._write_seconds = write_seconds
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._reader: ResponseReader | None = None
        self._head: Head | None = None
        self._pieces: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._held = False
        self._ended = False
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self.idle_since = 0.0

    # What is asked of it.

    @property
    def socket(self) -> socket.socket | None:
        """For what only the system's own socket can be told."""
        return None if self._transport is None else self._transport.get_extra_info("socket")

    @property
    def usable(self) -> bool:
        """Whether a request can be sent: nothing has arrived since the last exchange, not even the end."""
        transport, connected = self._transport, self.socket
        return (
            transport is not None
            and connected is not None
            and not transport.is_closing()
            and not _is_readable(connected)
        )

    async def exchange(self, request: bytes) -> Head:
        """Send a request and wait for the head of its answer. Raises BadResponseError or OSError."""
        transport = self._transport
        if transport is None or transport.is_closing():
            raise BadResponseError("it was closed at once")
        self._reader = ResponseReader()
        self._head, self._error, self._ended = None, None, False
        transport.write(request)
        try:
            return await self._answered()
        except BaseException:
            self.abort()
            raise

    async def pieces(self) -> AsyncGenerator[bytes]:
        """The body as it arrives. Raises BadResponseError or OSError where it breaks off."""
        while True:
            while self._pieces:
                piece = self._pieces.popleft()
                self._waiting_bytes -= len(piece)
                if self._held and not self._waiting_bytes:
                    self._hold(held=False)
                yield piece
            if self._ended:
                return
            await self._more()

    def finish(self) -> bool:
        """The exchange is over; whether another is possible. A body that is not there in full is given up."""
        reader, transport = self._reader, self._transport
        self._reader = None
        self._pieces.clear()
        self._waiting_bytes = 0
        if (
            reader is None
            or transport is None
            or not reader.reusable
            or transport.is_closing()
            or transport.get_write_buffer_size()
        ):
            self.abort()
            return False
        if self._held:
            self._hold(held=False)
        self.idle_since = self._loop.time()
        return True

    def abort(self) -> None:
        """Close it at once, which tells the other side that nothing more is wanted."""
        if self._transport is not None:
            self._transport.abort()

    async def _answered(self) -> Head:
        while self._head is None:
            await self._more()
        return self._head

    async def _more(self) -> None:
        """Wait until something has happened."""
        if self._error is not None:
            raise self._error
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    # What happens to it.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is open."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Bytes for the exchange; where there is none, nobody knows what they would answer."""
        if self._reader is None:
            self.abort()
            return
        try:
            events = self._reader.feed(data)
        except BadResponseError as error:
            self._fail(error)
            self.abort()
        else:
            self._take(events)

    def eof_received(self) -> bool:
        """Half open is closed."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed, from whichever side."""
        self.resume_writing()
        if self._reader is None or self._error is not None:
            self._wake()
            return
        try:
            if exc is not None:
                raise exc
            self._take(self._reader.close())
        except (BadResponseError, OSError) as error:
            self._fail(error)

    def pause_writing(self) -> None:
        """The other side takes nothing for now."""
        self._write_timer = self._loop.call_later(self._write_seconds, self._give_up_writing)

    def resume_writing(self) -> None:
        """It takes more."""
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _give_up_writing(self) -> None:
        self._fail(BadResponseError(f"nothing of the request was taken for {self._write_seconds:g} s"))
        self.abort()

    def _take(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, bytes):
                self._pieces.append(event)
                self._waiting_bytes += len(event)
            elif isinstance(event, End):
                self._ended = True
            else:
                self._head = event
        if self._waiting_bytes > MOST_WAITING and not self._held:
            self._hold(held=True)
        self._wake()

    def _hold(self, *, held: bool) -> None:
        transport = self._transport
        self._held = held
        if transport is None or transport.is_closing():
            return
        if held:
            transport.pause_reading()
        else:
            transport.resume_reading()

    def _fail(self, error: Exception) -> None:
        if self._error is None and not self._ended:
            self._error = error
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _is_readable(connected: socket.socket) -> bool:
    """Whether there is something to read, or the end, that the loop has not come to yet."""
    number = connected.fileno()
    if number < 0:
        return True
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(number, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([number], [], [], 0)[0])

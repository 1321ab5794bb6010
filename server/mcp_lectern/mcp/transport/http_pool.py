"""The connections to one origin: those that are free, and new ones where none is; must not know requests.

There is no limit and no queue: whoever asks decides how much is under way at the same time.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from mcp_lectern.mcp.wire.http_response import Head

from .dialling import dialled
from .http_connection import HttpConnection


class NoConnectionError(Exception):
    """None came about; its cause says why. ``timed_out``: there was no answer at all."""

    def __init__(self, *, timed_out: bool) -> None:
        super().__init__("no connection")
        self.timed_out = timed_out


@dataclass(frozen=True, slots=True)
class Place:
    """Where to connect to. ``tls`` is None for plain HTTP."""

    host: str
    port: int
    tls: ssl.SSLContext | None


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: to connect, to have nothing of a request taken, to be kept without a use."""

    connect: float
    write: float
    idle: float


@dataclass(slots=True)
class Exchanged:
    """A response whose body has not been taken yet."""

    head: Head
    connection: HttpConnection
    _pool: HttpPool

    def pieces(self) -> AsyncGenerator[bytes]:
        """The body as it arrives. Raises BadResponseError or OSError where it breaks off."""
        return self.connection.pieces()

    def close(self) -> None:
        """Nothing more is wanted of it."""
        self._pool.give_back(self.connection)


class HttpPool:
    """``most_idle``: connections that are kept for later requests."""

    def __init__(self, place: Place, patience: Patience, most_idle: int) -> None:
        self._place = place
        self._patience = patience
        self._most_idle = most_idle
        self._free: list[HttpConnection] = []
        self._busy: set[HttpConnection] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed = False

    async def exchange(self, request: bytes) -> Exchanged:
        """Send a request; ``close`` what it returns. Raises NoConnectionError, BadResponseError, OSError."""
        connection = self._kept() or await self._dial()
        self._busy.add(connection)
        try:
            head = await connection.exchange(request)
        except BaseException:
            self._busy.discard(connection)
            raise
        return Exchanged(head, connection, self)

    def give_back(self, connection: HttpConnection) -> None:
        """An exchange is over; its connection is kept if it can be."""
        self._busy.discard(connection)
        if not connection.finish():
            return
        if self._closed or len(self._free) >= self._most_idle:
            connection.abort()
            return
        self._free.append(connection)
        if self._sweeper is None:
            self._sweep_in(self._patience.idle)

    def close(self) -> None:
        """Close all of them."""
        self._closed = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        for connection in (*self._free, *self._busy):
            connection.abort()
        self._free.clear()
        self._busy.clear()

    def _kept(self) -> HttpConnection | None:
        """The one that was used last: the others can grow old."""
        while self._free:
            connection = self._free.pop()
            if connection.usable:
                return connection
            connection.abort()
        return None

    async def _dial(self) -> HttpConnection:
        loop, place = asyncio.get_running_loop(), self._place
        try:
            async with asyncio.timeout(self._patience.connect):
                _, connection = await loop.create_connection(
                    lambda: HttpConnection(self._patience.write),
                    sock=await dialled(place.host, place.port),
                    ssl=place.tls,
                    server_hostname=place.host if place.tls else None,
                )
        except TimeoutError as error:
            raise NoConnectionError(timed_out=True) from error
        except (OSError, UnicodeError) as error:
            raise NoConnectionError(timed_out=False) from error
        return connection

    def _sweep_in(self, seconds: float) -> None:
        self._sweeper = asyncio.get_running_loop().call_later(seconds, self._sweep)

    def _sweep(self) -> None:
        """Close what nobody has needed for long."""
        self._sweeper = None
        now = asyncio.get_running_loop().time()
        oldest = now - self._patience.idle
        for connection in self._free:
            if connection.idle_since <= oldest:
                connection.abort()
        self._free = [connection for connection in self._free if connection.idle_since > oldest]
        if self._free:
            self._sweep_in(self._patience.idle - (now - self._free[0].idle_since))

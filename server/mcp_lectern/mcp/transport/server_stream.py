"""The stream on which a server of the handshake era speaks without being asked; must not know messages.

Specification 2025-11-25, basic/transports, listening for messages from the server: optional on both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import Final, Protocol

import anyio

from mcp_lectern.mcp.errors import HttpFailure, McpError, TooLarge, Unreachable
from mcp_lectern.mcp.wire.failures import Asked
from mcp_lectern.mcp.wire.http_headers import media_type

from .arrivals import Arrivals
from .delays import asked_for
from .duplex import Renewed
from .exchange import EVENT_STREAM, Exchange, events
from .http_client import CutShortError, HttpClient, Reply
from .http_status import SMALL, failure

STEADY: Final = 30.0
"""Seconds that a stream must last for earlier failures to be forgotten."""
MOST_LOST: Final = 4
"""Sessions in a row that may be lost before their streams are open; after that the server has none."""
ASKED: Final = "the stream of notices"


class Session(Protocol):
    """What the stream needs of its transport."""

    @property
    def session(self) -> str | None:
        """The session that is open now."""

    def headers(self) -> dict[str, str]:
        """What a request says about itself."""

    async def renew(self, stale: str | None) -> None:
        """Open a new session in place of a lost one."""

    async def end(self, reason: str) -> None:
        """Give the whole connection up."""


class ServerStream:
    """Kept open as long as the server offers it; ``follow`` runs beside the requests."""

    def __init__(
        self,
        client: HttpClient,
        arrivals: Arrivals,
        session: Session,
        *,
        server: str,
        limit: int,
        log: Callable[[str], None],
    ) -> None:
        self._client = client
        self._arrivals = arrivals
        self._session = session
        self._asked = Asked(server, ASKED)
        self._limit = limit
        self._log = log
        self._last_id: str | None = None
        self._retry: int | None = None
        self._wait = 0.0
        self._opened = False
        self._offered = False
        self._lost = 0
        self._given_up = False
        self._scope: anyio.CancelScope | None = None

    def restart(self) -> bool:
        """Open it anew, for a new session; whether it has to be followed anew for that.

        What a session that is lost was refused, the next one may have.
        """
        self._last_id = None
        self._opened = False
        if self._scope is not None:
            self._scope.cancel()
        return self._given_up and self._lost < MOST_LOST

    async def follow(self) -> None:
        """Open it, and again when it ends; returns when there is none to be had."""
        self._given_up = False
        await self._follow()
        self._given_up = True

    async def _follow(self) -> None:
        failures = 0
        while True:
            began, before = anyio.current_time(), self._last_id
            with anyio.CancelScope() as self._scope:
                if not await self._once():
                    return
            if self._scope.cancelled_caught:
                continue
            # A server that says when to come back, and is further then, ends its streams on purpose.
            polled = self._retry is not None and self._last_id != before
            failures = 0 if polled or anyio.current_time() - began > STEADY else failures + 1
            await anyio.sleep(max(asked_for(failures, self._retry), self._wait))

    async def _once(self) -> bool:
        """One life of the stream; whether another is worth a try."""
        self._wait = 0.0
        session = self._session.session
        headers = {**self._session.headers(), "Accept": EVENT_STREAM}
        if self._last_id is not None:
            headers["Last-Event-ID"] = self._last_id
        try:
            async with self._client.send(self._asked, "GET", headers) as reply:
                if self._is_lost(reply, session):
                    self._lost += 1
                    await self._session.renew(session)
                    return True
                await self._check(reply)
                if self._opened and self._last_id is None:
                    await self._arrivals.bring(Renewed())
                self._opened = self._offered = True
                self._lost = 0
                reply.keep_alive()
                await self._read(reply)
        except Unreachable as error:
            self._log(str(error))
            await self._session.end("cannot be reached any more")
            return False
        except CutShortError:
            return True
        except TooLarge as error:
            # From the same place on, the same message would come again.
            self._log(f"a notice was skipped: {error}")
            self._last_id = None
            return True
        except McpError as error:
            self._log(f"no stream of notices: {error}")
            self._wait = (error.retry_after or 0.0) if isinstance(error, HttpFailure) else 0.0
            if self._opened and not error.retryable:
                # There was one: whoever refuses it may be another server, and know of nothing.
                await self._arrivals.bring(Renewed())
            return error.retryable
        return True

    def _is_lost(self, reply: Reply, session: str | None) -> bool:
        """Whether the session is, rather than the stream one that this server never had."""
        offered = self._offered and self._lost < MOST_LOST
        return reply.status == 404 and session is not None and offered

    async def _check(self, reply: Reply) -> None:
        """Raises HttpFailure for anything but an event stream."""
        kind = media_type(reply.headers.get("content-type"))
        if reply.status == 200 and kind == EVENT_STREAM:
            return
        body = await reply.beginning(SMALL)
        own = self._client.own_credentials
        error: HttpFailure = failure(self._asked, reply.status, reply.headers, body, own_credentials=own)
        raise error

    async def _read(self, reply: Reply) -> None:
        exchange = Exchange(0, self._asked, last_id=self._last_id)
        async with aclosing(events(reply, exchange, self._limit)) as messages:
            async for raw in messages:
                self._last_id, self._retry = exchange.last_id, exchange.retry
                await self._arrivals.bring(raw)
        self._last_id, self._retry = exchange.last_id, exchange.retry

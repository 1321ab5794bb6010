"""What comes back for one request over Streamable HTTP, brought to the session; must not send anything.

A response is one message, an event stream with several, a status that means something, or nonsense.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Final

from mcp_lectern.mcp.errors import HttpFailure, NotUnderstood
from mcp_lectern.mcp.wire.failures import Asked
from mcp_lectern.mcp.wire.gathering import HEAD_BYTES, TAIL_BYTES, Gathered, Gathering
from mcp_lectern.mcp.wire.http_headers import media_type
from mcp_lectern.mcp.wire.jsonrpc import INVALID_PARAMS, Refusal, find_id

from .arrivals import Arrivals
from .duplex import Unanswered
from .exchange import EVENT_STREAM, Exchange, events
from .http_client import CutShortError, Reply
from .http_status import OF_THE_REQUEST, SMALL, error_of, failure, session_lost, unaddressed_error

PATIENCE: Final = 20.0
"""Seconds of Retry-After that are waited for; what is to wait longer fails, and says so."""
REQUEST_TIMEOUT: Final = 408
VERSION_ERRORS: Final = (INVALID_PARAMS, -32022, -32021, -32020)
"""Errors of ``initialize`` that are about versions, and not about the transport."""


class SessionLostError(Exception):
    """The server no longer knows the session that the request named; ``refusal`` is how it said so."""

    def __init__(self, refusal: Refusal | None) -> None:
        super().__init__("the session is lost")
        self.refusal = refusal


class Answers:
    """Where the answers of one server go. ``own_credentials``: see ``http_status.failure``."""

    def __init__(
        self, arrivals: Arrivals, *, limit: int, own_credentials: bool, log: Callable[[str], None]
    ) -> None:
        self._arrivals = arrivals
        self._limit = limit
        self._own_credentials = own_credentials
        self._log = log

    async def refused(
        self, reply: Reply, exchange: Exchange, session: str | None, *, last: bool
    ) -> float | None:
        """A status that is no success: raises what it means, or returns the seconds to wait.

        An error of the protocol is brought to the session like any answer. ``last``: there is no waiting.
        """
        if reply.status == REQUEST_TIMEOUT:
            # It is said to a connection that was idle, and crosses the next request on its way.
            raise CutShortError("the server had given its connection up")
        body = await reply.beginning(SMALL)
        refusal = error_of(body, exchange.identity)
        if session is not None and session_lost(reply.status, body, exchange.identity):
            raise SessionLostError(refusal)
        error = self.failure(exchange.asked, reply, body)
        if reply.status in (429, 503) and not last and error.retry_after is not None:
            if error.retry_after <= PATIENCE:
                return error.retry_after
            raise error
        if refusal is None or not _is_answer(exchange, reply, refusal, error):
            raise error
        await self._arrivals.bring(Unanswered(exchange.identity, refusal))
        exchange.released = True
        return None

    async def taken(self, reply: Reply, exchange: Exchange, session: str | None) -> bool:
        """Bring what a successful response holds; False for a stream that ended without the answer."""
        kind = media_type(reply.headers.get("content-type"))
        if kind == EVENT_STREAM:
            async with aclosing(events(reply, exchange, self._limit)) as messages:
                async for raw in messages:
                    await self._message(raw, exchange, session)
            return exchange.released
        body = await _gathered(reply, self._limit)
        if body is None:
            raise exchange.asked.too_large(self._limit)
        if reply.status != 200 and not body:
            self._log(f"the server took {exchange.asked.method} with HTTP {reply.status} and no answer")
            return True
        if not body or (kind not in ("application/json", "") and not _is_meant_for(exchange, body)):
            raise self.failure(exchange.asked, reply, _beginning(body))
        await self._message(body, exchange, session)
        if not exchange.released:
            raise exchange.asked.invalid("something that does not answer it")
        return True

    def failure(self, asked: Asked, reply: Reply, body: bytes) -> HttpFailure:
        """The error that a response means."""
        own = self._own_credentials
        return failure(asked, reply.status, reply.headers, body, own_credentials=own)

    async def _message(self, raw: Gathered, exchange: Exchange, session: str | None) -> None:
        """One message that came in answer to a request, though it may be about something else."""
        small = raw if isinstance(raw, bytes) else b""
        if session is not None and session_lost(200, small, exchange.identity):
            raise SessionLostError(error_of(small, exchange.identity))
        refusal = unaddressed_error(small, exchange.identity)
        await self._arrivals.bring(Unanswered(exchange.identity, refusal) if refusal else raw)
        if refusal:
            exchange.release(at_once=False)


async def messages_of(reply: Reply, exchange: Exchange, limit: int) -> AsyncIterator[Gathered]:
    """The messages of a successful response of either type."""
    if media_type(reply.headers.get("content-type")) == EVENT_STREAM:
        async for raw in events(reply, exchange, limit):
            yield raw
    elif body := await _gathered(reply, limit):
        yield body


async def _gathered(reply: Reply, limit: int) -> Gathered | None:
    """The whole body; None where it has more than ``limit`` bytes. Raises CutShortError."""
    body = Gathering()
    async with aclosing(reply.chunks()) as chunks:
        async for chunk in chunks:
            body.add(chunk)
            if body.length > limit:
                return None
    return body.take()


def _is_meant_for(exchange: Exchange, body: Gathered) -> bool:
    """Whether it is the answer, whatever type it is said to be of."""
    ends = (body[:HEAD_BYTES], body[-TAIL_BYTES:]) if isinstance(body, bytes) else (body.head, body.tail)
    return find_id(*ends) == exchange.identity


def _beginning(body: Gathered) -> bytes:
    return body[:SMALL] if isinstance(body, bytes) else body.head


def _is_answer(exchange: Exchange, reply: Reply, refusal: Refusal, error: HttpFailure) -> bool:
    """Whether it is the error that counts, and not the status that it came with."""
    if isinstance(error, NotUnderstood):
        return not _is_older(exchange, reply, refusal)
    # These say that the request cannot succeed, whatever the status hopes; an outage is no word on the era.
    return (
        reply.status >= 500
        and refusal.code in OF_THE_REQUEST
        and exchange.asked.method not in ("initialize", "server/discover")
    )


def _is_older(exchange: Exchange, reply: Reply, refusal: Refusal) -> bool:
    """Whether a refused ``initialize`` may come from a server of the older transport."""
    may_be = exchange.asked.method == "initialize" and reply.status in (400, 404, 405)
    return may_be and refusal.code not in VERSION_ERRORS

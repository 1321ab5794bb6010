"""One request over Streamable HTTP and the stream that its answer comes on; must not know sessions or eras.

Specification 2025-11-25, basic/transports (resumability), and 2026-07-28, basic/transports/streamable-http.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from mcp_lectern.mcp.wire.event_stream import EventStream
from mcp_lectern.mcp.wire.failures import Asked
from mcp_lectern.mcp.wire.framing import Oversize
from mcp_lectern.mcp.wire.gathering import Gathered
from mcp_lectern.mcp.wire.http_headers import media_type

from .delays import asked_for
from .http_client import CutShortError, HttpClient, Reply, UnreadableBodyError
from .parts import in_parts

EVENT_STREAM: Final = "text/event-stream"
GRACE: Final = 1.0
"""Seconds for a stream after its answer: trailing events are heard, and the connection can be used again."""
RESUMPTIONS: Final = 5
"""In a row, without a new event."""
_SENDABLE: Final = re.compile(r"[^\x00-\x20\x7f](?:[^\x00-\x1f\x7f]*[^\x00-\x20\x7f])?")
"""An id that a header can hold: white space at its ends would be lost there."""

Json = Any


@dataclass(slots=True)
class Exchange:
    """``released``: the session wants nothing more of it, because it is answered or given up."""

    identity: int
    asked: Asked
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    released: bool = False
    last_id: str | None = None
    retry: int | None = None

    def release(self, *, at_once: bool) -> None:
        """End it: at once where nobody waits any more, else when its stream has had time to end by itself."""
        self.released = True
        if at_once:
            self.scope.cancel()
        else:
            self.scope.deadline = anyio.current_time() + GRACE


async def events(reply: Reply, exchange: Exchange, limit: int) -> AsyncGenerator[Gathered]:
    """The messages of an event stream, until it ends, however it does.

    Raises TooLarge or UnreadableBodyError.
    """
    stream = EventStream(limit)
    try:
        async with aclosing(reply.chunks()) as chunks, aclosing(in_parts(chunks)) as parts:
            async for part in parts:
                for event in stream.feed(part):
                    _note(stream, exchange)
                    if isinstance(event, Oversize):
                        raise exchange.asked.too_large(limit)
                    if event.name == "message":
                        yield event.data
                _note(stream, exchange)
    except UnreadableBodyError:
        raise
    except CutShortError:
        return


def _note(stream: EventStream, exchange: Exchange) -> None:
    if stream.last_id and _SENDABLE.fullmatch(stream.last_id):
        exchange.last_id = stream.last_id
    if stream.retry is not None:
        exchange.retry = stream.retry


async def resume(
    client: HttpClient,
    exchange: Exchange,
    headers: Callable[[], Mapping[str, str]],
    take: Callable[[Reply], Awaitable[None]],
) -> None:
    """Follow a stream that broke off, from its last event on, until it has the answer or is hopeless."""
    failures = 0
    while not exchange.released and failures < RESUMPTIONS:
        await anyio.sleep(asked_for(failures, exchange.retry))
        before = exchange.last_id
        asking = {**headers(), "Accept": EVENT_STREAM, "Last-Event-ID": before or ""}
        try:
            async with client.send(exchange.asked, "GET", asking) as reply:
                if reply.status == 200 and media_type(reply.headers.get("content-type")) != EVENT_STREAM:
                    return
                await take(reply)
        except CutShortError:
            failures += 1
        else:
            failures = 0 if exchange.last_id != before else failures + 1

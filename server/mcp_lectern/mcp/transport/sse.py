"""MCP over the older HTTP+SSE: one stream for all answers, a POST for each message; must not know methods.

Specification 2024-11-05, basic/transports (HTTP with SSE).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from mcp_lectern.mcp.errors import McpError, StartFailed, Unreachable
from mcp_lectern.mcp.wire.event_stream import Event, EventStream
from mcp_lectern.mcp.wire.failures import Asked
from mcp_lectern.mcp.wire.framing import Oversize
from mcp_lectern.mcp.wire.http_headers import handshake_headers, media_type
from mcp_lectern.mcp.wire.jsonrpc import encode

from .arrivals import Arrivals
from .duplex import Arrival, Ending, Outgoing, Unanswered, Waiting
from .exchange import EVENT_STREAM, GRACE
from .gate import passed
from .http_client import CutShortError, HttpClient, Reply, open_client
from .http_status import SMALL, failure
from .parts import in_parts
from .posts import Posts
from .remote import HttpParameters, beside, shown
from .task_group import task_group
from .turns import AT_ONCE, TURN_SECONDS, Turns

ENDPOINT_SECONDS: Final = 15.0
INITIALIZED: Final = "notifications/initialized"
STREAM: Final = "the event stream"
LONGEST_ENDPOINT: Final = 8192

Json = Any
Events = AsyncGenerator[Event | Oversize]


class SseDuplex:
    """A ``Duplex``; its end is the end of the stream."""

    pid: int | None = None

    def __init__(
        self, client: HttpClient, tasks: TaskGroup, endpoint: str, *, log: Callable[[str], None]
    ) -> None:
        self._client = client
        self._tasks = tasks
        self._endpoint = endpoint
        self._log = log
        self._arrivals = Arrivals()
        self._open: dict[int, anyio.CancelScope] = {}
        self._turns = Turns(AT_ONCE, TURN_SECONDS, lambda identity: self._arrivals.tell(Waiting(identity)))
        self._posts = Posts(log)
        self._greeted = anyio.Event()
        self._greeted.set()
        self._ending: Ending | None = None
        self._version: str | None = None

    def post(self, message: Outgoing) -> None:
        """Send it as soon as ``notifications/initialized``, if that was before it, has arrived."""
        if self._ending is not None:
            return
        gate, opens = self._greeted, None
        if isinstance(message, Mapping) and "method" in message and "id" in message:
            scope = self._open[message["id"]] = anyio.CancelScope()
            self._tasks.start_soon(self._request, message, gate, scope)
            return
        if isinstance(message, Mapping) and message.get("method") == INITIALIZED:
            opens = self._greeted = anyio.Event()
        if self._posts.take(_asked(self._client.server, message).method):
            self._tasks.start_soon(self._say, message, gate, opens)

    def release(self, identity: int, notice: Outgoing | None = None) -> None:
        """Cancel in words: all answers share one stream. Its own post is not waited for any longer."""
        scope = self._open.get(identity)
        if scope is not None:
            scope.deadline = anyio.current_time() + (GRACE if notice is None else 0)
        if notice is not None:
            self.post(notice)

    def agreed(self, version: str) -> None:
        """From now on every request says so in a header, which servers of this transport ignore."""
        self._version = version

    async def receive(self) -> AsyncIterator[Arrival]:
        """The stream's messages, and the failures of what was sent."""
        async with aclosing(self._arrivals.take()) as arrivals:
            async for arrival in arrivals:
                yield arrival

    async def ended(self) -> Ending:
        """Why the stream is over."""
        return self._ending or Ending()

    async def read(self, events: Events) -> None:
        """Bring all that the stream brings, until it ends."""
        async for event in events:
            if isinstance(event, Oversize):
                await self._arrivals.bring(event)
            elif event.name == "message":
                await self._arrivals.bring(event.data)
        await self._end("closed its event stream")

    def close(self) -> None:
        """Take nothing more; the stream is closed by whoever opened it."""
        self._ending = self._ending or Ending()
        self._arrivals.close()
        self._turns.close()

    async def _end(self, reason: str) -> None:
        if self._ending is None:
            self._ending = Ending(reason=reason)
            await self._arrivals.end()

    async def _say(self, message: Outgoing, gate: anyio.Event, opens: anyio.Event | None) -> None:
        await passed(gate)
        try:
            post = partial(self._delivered, message, opens)
            await self._posts.deliver(_asked(self._client.server, message).method, post)
        finally:
            if opens is not None:
                opens.set()

    async def _request(
        self, message: Mapping[str, Json], gate: anyio.Event, scope: anyio.CancelScope
    ) -> None:
        identity = message["id"]
        try:
            with scope:
                await passed(gate)
                await self._in_turn(message)
        except CutShortError as cut:
            error = _asked(self._client.server, message).broken_off(str(cut))
            await self._arrivals.bring(Unanswered(identity, error))
        except McpError as error:
            await self._arrivals.bring(Unanswered(identity, error))
            if isinstance(error, Unreachable):
                await self._end("cannot be reached any more")
        finally:
            self._open.pop(identity, None)

    async def _in_turn(self, message: Mapping[str, Json]) -> None:
        """The time that it takes to get a turn does not count as the server's."""
        await self._turns.take(message["id"])
        try:
            await self._delivered(message, None)
        finally:
            self._turns.give()

    async def _delivered(self, message: Outgoing, opens: anyio.Event | None) -> None:
        """Post one message. The status alone says whether it was taken. Raises McpError or CutShortError."""
        asked = _asked(self._client.server, message)
        headers = {"Content-Type": "application/json", **handshake_headers(self._version, None)}
        sent = self._client.send(asked, "POST", headers, encode(message), url=self._endpoint)
        async with sent as reply:
            if not 200 <= reply.status < 300:
                body = await reply.beginning(SMALL)
                own = self._client.own_credentials
                raise failure(asked, reply.status, reply.headers, body, own_credentials=own)
            if opens is not None:
                opens.set()
            with anyio.move_on_after(GRACE):
                await reply.beginning(SMALL)


@asynccontextmanager
async def open_sse(
    parameters: HttpParameters, *, server: str, agent: str, log: Callable[[str], None], limit: int
) -> AsyncIterator[SseDuplex]:
    """A duplex over the older transport. ``limit``: bytes a message. Raises StartFailed or HttpFailure."""
    asked = Asked(server, STREAM)
    async with open_client(parameters, server=server, agent=agent) as client:
        try:
            async with client.send(asked, "GET", {"Accept": EVENT_STREAM}) as reply:
                await _check(client, asked, reply)
                reply.keep_alive()
                async with aclosing(_events(reply, limit)) as events, task_group() as tasks:
                    endpoint = await _endpoint(client, events)
                    duplex = SseDuplex(client, tasks, endpoint, log=log)
                    tasks.start_soon(duplex.read, events)
                    try:
                        yield duplex
                    finally:
                        tasks.cancel_scope.cancel()
                        duplex.close()
        except CutShortError as error:
            raise StartFailed(
                f'Server "{server}" broke the connection off before it said anything; try again.',
                server=server,
            ) from error


async def _check(client: HttpClient, asked: Asked, reply: Reply) -> None:
    if reply.status == 200 and media_type(reply.headers.get("content-type")) == EVENT_STREAM:
        return
    body = await reply.beginning(SMALL)
    raise failure(asked, reply.status, reply.headers, body, own_credentials=client.own_credentials)


async def _events(reply: Reply, limit: int) -> Events:
    """The stream's events, until it ends, however it does."""
    stream = EventStream(limit)
    try:
        async with aclosing(reply.chunks()) as chunks, aclosing(in_parts(chunks)) as parts:
            async for part in parts:
                for event in stream.feed(part):
                    yield event
    except CutShortError:
        return


async def _first(events: Events) -> Event | Oversize | None:
    """The first event that says something: where to send messages, or that this is another kind of stream."""
    with anyio.move_on_after(ENDPOINT_SECONDS):
        async for event in events:
            if isinstance(event, Oversize) or event.name in ("endpoint", "message"):
                return event
    return None


async def _endpoint(client: HttpClient, events: Events) -> str:
    """Where messages are to be sent. Raises StartFailed."""
    event = await _first(events)
    server = client.server
    data = event.data if isinstance(event, Event) and event.name == "endpoint" else None
    if not isinstance(data, bytes) or len(data) > LONGEST_ENDPOINT:
        raise StartFailed(
            f'Server "{server}" does not say where to send messages; is {shown(client.url)} its address?',
            server=server,
        )
    endpoint, same = beside(client.url, data.decode("utf-8", "replace").strip())
    if not same:
        raise StartFailed(
            f'Server "{server}" wants messages to be sent to {shown(endpoint)}, which is another origin; '
            "nothing was sent there.",
            server=server,
        )
    return endpoint


def _asked(server: str, message: Outgoing) -> Asked:
    if not isinstance(message, Mapping):
        return Asked(server, "a batch")
    params = message.get("params")
    uri = params.get("uri") if isinstance(params, Mapping) else None
    return Asked(server, str(message.get("method", "an answer")), uri if isinstance(uri, str) else "")

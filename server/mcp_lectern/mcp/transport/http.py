"""MCP over Streamable HTTP, in the shape of either era; must not know what methods mean to those above.

Specification 2025-03-26 to 2025-11-25, basic/transports: a session, a stream for what the server says
unasked, resumption. Specification 2026-07-28, basic/transports/streamable-http: none of these, and metadata
in headers. Which shape a message takes is its own matter: those of the stateless era say their version.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from mcp_lectern.mcp.errors import McpError, Unreachable
from mcp_lectern.mcp.wire import jsonrpc
from mcp_lectern.mcp.wire.failures import Asked
from mcp_lectern.mcp.wire.http_headers import (
    SESSION_HEADER,
    handshake_headers,
    session_of,
    stateless_headers,
)
from mcp_lectern.mcp.wire.jsonrpc import encode

from .answers import Answers, SessionLostError, messages_of
from .arrivals import Arrivals
from .delays import growing
from .duplex import Arrival, Cut, Ending, Outgoing, Renewed, Unanswered, Waiting
from .exchange import EVENT_STREAM, Exchange, resume
from .gate import GATE_SECONDS, passed
from .http_client import CutShortError, HttpClient, Reply, UnreadableBodyError, open_client
from .http_status import SMALL
from .posts import Posts
from .remote import HttpParameters
from .server_stream import ServerStream
from .task_group import task_group
from .turns import AT_ONCE, TURN_SECONDS, Turns

TRIES: Final = 3
PAUSE_SECONDS: Final = 0.5
"""How often a request that waits as its server asked says that it does."""
DELETE_SECONDS: Final = 1.0
RENEWAL_SECONDS: Final = 30.0
INITIALIZED: Final = "notifications/initialized"
STREAMING: Final = "subscriptions/listen"
ACCEPT: Final = {"Accept": f"application/json, {EVENT_STREAM}", "Content-Type": "application/json"}

Json = Any


@dataclass(slots=True)
class Renewal:
    """A new session on its way. ``error`` is why there is none, once it is ``done``."""

    done: anyio.Event = field(default_factory=anyio.Event)
    error: McpError | CutShortError | None = None


class HttpDuplex:
    """A ``Duplex`` over HTTP: each message is a POST of its own, and what comes back meets in one place."""

    pid: int | None = None

    def __init__(
        self, client: HttpClient, tasks: TaskGroup, *, server: str, limit: int, log: Callable[[str], None]
    ) -> None:
        self._client = client
        self._tasks = tasks
        self._server = server
        self._limit = limit
        self._log = log
        self._arrivals = Arrivals()
        self._open: dict[int, Exchange] = {}
        self._turns = Turns(AT_ONCE, TURN_SECONDS, lambda identity: self._arrivals.tell(Waiting(identity)))
        self._posts = Posts(log)
        self._greeted = anyio.Event()
        self._greeted.set()
        self._ending: Ending | None = None
        self._version: str | None = None
        self._session: str | None = None
        self._greeting: Mapping[str, Json] | None = None
        self._renewal: Renewal | None = None
        own = client.own_credentials
        self._answers = Answers(self._arrivals, limit=limit, own_credentials=own, log=log)
        self._stream = ServerStream(client, self._arrivals, self, server=server, limit=limit, log=log)

    # What the session asks.

    def post(self, message: Outgoing) -> None:
        """Send it as soon as those before it that must come first have arrived."""
        if self._ending is not None:
            return
        if not isinstance(message, Mapping) or "method" not in message or "id" not in message:
            gate, opens = self._greeted, self._next_gate(message)
            if self._posts.take(_asked(self._server, message).method):
                self._tasks.start_soon(self._say, message, gate, opens)
            if opens is not None:
                self._tasks.start_soon(self._follow, opens)
            return
        asked = _asked(self._server, message)
        exchange = self._open[message["id"]] = Exchange(message["id"], asked)
        self._tasks.start_soon(self._request, message, exchange, self._greeted)

    def release(self, identity: int, notice: Outgoing | None = None) -> None:
        """Close the stream of a request that is given up; the handshake era is told so in words, too."""
        exchange = self._open.get(identity)
        if exchange is not None:
            exchange.release(at_once=notice is not None)
        if notice is not None and self._version is not None:
            self.post(notice)

    def agreed(self, version: str) -> None:
        """From now on every request says so in a header."""
        self._version = version

    async def receive(self) -> AsyncIterator[Arrival]:
        """What all streams bring, in the order in which it is handled."""
        async with aclosing(self._arrivals.take()) as arrivals:
            async for arrival in arrivals:
                yield arrival

    async def ended(self) -> Ending:
        """Why nothing more can come."""
        return self._ending or Ending()

    # What the stream of notices asks.

    @property
    def session(self) -> str | None:
        """The session that the server opened, if it opens any."""
        return self._session

    def headers(self) -> dict[str, str]:
        """What a request of the handshake era says about itself."""
        return handshake_headers(self._version, self._session)

    async def end(self, reason: str) -> None:
        """Nothing can be reached any more; ``reason`` is a phrase that follows the server's name."""
        if self._ending is None:
            self._ending = Ending(reason=reason)
            await self._arrivals.end()

    async def renew(self, stale: str | None) -> None:
        """A new session in place of a lost one, once for all who ask. Raises McpError or CutShortError."""
        if self._session != stale or self._greeting is None:
            return
        renewal = self._renewal
        if renewal is None:
            renewal = self._renewal = Renewal()
            self._tasks.start_soon(self._renew, renewal, self._greeting)
        await renewal.done.wait()
        if renewal.error is not None:
            raise renewal.error

    # How messages go out.

    def _next_gate(self, message: Outgoing) -> anyio.Event | None:
        """What is posted after ``notifications/initialized`` waits until that has arrived."""
        if isinstance(message, Mapping) and message.get("method") == INITIALIZED:
            self._greeted = anyio.Event()
            return self._greeted
        return None

    async def _follow(self, gate: anyio.Event) -> None:
        """The stream goes first: what a server says at once in answer to others would find none."""
        await passed(gate)
        await self._stream.follow()

    async def _say(self, message: Outgoing, gate: anyio.Event, opens: anyio.Event | None) -> None:
        await passed(gate)
        asked = _asked(self._server, message)

        async def post() -> None:
            headers = {**ACCEPT, **(stateless_headers(message) or self.headers())}
            async with self._client.send(asked, "POST", headers, encode(message)) as reply:
                if reply.status >= 400:
                    self._log(f"the server answered {asked.method} with HTTP {reply.status}")

        try:
            await self._posts.deliver(asked.method, post)
        finally:
            if opens is not None:
                opens.set()

    async def _request(self, message: Mapping[str, Json], exchange: Exchange, gate: anyio.Event) -> None:
        try:
            with exchange.scope:
                if not gate.is_set():
                    await passed(gate)
                outcome = await self._outcome(message, exchange)
                if outcome is not None and not exchange.released:
                    await self._arrivals.bring(outcome)
        finally:
            self._open.pop(exchange.identity, None)

    async def _outcome(self, message: Mapping[str, Json], exchange: Exchange) -> Arrival | None:
        """Carry one request out; the arrival that ends it where no message of the server did."""
        try:
            if message["method"] == STREAMING:
                await self._carry_out(message, exchange)
            else:
                # The time that it takes to get a turn does not count as the server's.
                await self._turns.take(exchange.identity)
                try:
                    await self._carry_out(message, exchange)
                finally:
                    self._turns.give()
        except UnreadableBodyError as body:
            return Unanswered(exchange.identity, exchange.asked.invalid(str(body)))
        except CutShortError as cut:
            return Cut(exchange.identity, str(cut))
        except SessionLostError as lost:
            # In a new session the same refusal was about something else.
            error = exchange.asked.invalid("a lost session, twice in a row")
            return Unanswered(exchange.identity, lost.refusal or error)
        except Unreachable as error:
            await self._arrivals.bring(Unanswered(exchange.identity, error))
            await self.end("cannot be reached any more")
        except McpError as error:
            return Unanswered(exchange.identity, error)
        return None

    async def _carry_out(self, message: Mapping[str, Json], exchange: Exchange) -> None:
        """Send it, wait where the server asks for that, and once more in a new session where one was lost."""
        renewed, tries = False, 0
        while True:
            session = self._session
            try:
                wait = await self._try(message, exchange, last=tries + 1 >= TRIES)
            except SessionLostError:
                if renewed:
                    raise
                renewed = True
                await self.renew(session)
                continue
            if wait is None:
                return
            tries += 1
            await self._pause(exchange, wait + growing(0))

    async def _pause(self, exchange: Exchange, seconds: float) -> None:
        """Wait as the server asked to: its time to answer stands still meanwhile."""
        while seconds > 0:
            await self._arrivals.bring(Waiting(exchange.identity))
            await anyio.sleep(min(seconds, PAUSE_SECONDS))
            seconds -= PAUSE_SECONDS
        await self._arrivals.bring(Waiting(exchange.identity))

    async def _try(self, message: Mapping[str, Json], exchange: Exchange, *, last: bool) -> float | None:
        """One attempt; the seconds after which the server wants another, or None if it is done."""
        stateless = stateless_headers(message)
        greeting = message["method"] == "initialize"
        headers = {} if greeting else self.headers()
        body = encode(message)
        async with self._client.send(
            exchange.asked, "POST", {**ACCEPT, **(stateless or headers)}, body
        ) as reply:
            session = headers.get(SESSION_HEADER) if stateless is None else None
            if not 200 <= reply.status < 300:
                return await self._answers.refused(reply, exchange, session, last=last)
            if greeting:
                self._greeting = message
                self._session = session_of(reply.headers.get(SESSION_HEADER.lower()))
            if message["method"] == STREAMING:
                reply.keep_alive()
            done = await self._answers.taken(reply, exchange, session)
        if not done and not exchange.released:
            await self._pick_up(exchange, session, stateless=stateless is not None)
        return None

    async def _pick_up(self, exchange: Exchange, session: str | None, *, stateless: bool) -> None:
        """The event stream ended without the answer."""
        if stateless:
            raise CutShortError
        if exchange.last_id is None:
            raise exchange.asked.broken_off()

        async def take(reply: Reply) -> None:
            if reply.status == 200:
                await self._answers.taken(reply, exchange, session)
            else:
                await self._answers.refused(reply, exchange, session, last=True)

        await resume(self._client, exchange, self.headers, take)
        if not exchange.released:
            raise exchange.asked.broken_off()

    # The session.

    async def _renew(self, renewal: Renewal, greeting: Mapping[str, Json]) -> None:
        """In a task of its own: who asked first may be given up halfway, and all others rely on it."""
        self._log("the server has lost the session; opening a new one")
        renewal.error = _asked(self._server, greeting).broken_off("the new session did not come about")
        try:
            with anyio.move_on_after(RENEWAL_SECONDS):
                await self._greet(greeting)
                await self._arrivals.bring(Renewed())
                if self._stream.restart():
                    self._tasks.start_soon(self._stream.follow)
                renewal.error = None
        except (McpError, CutShortError) as error:
            renewal.error = error
        finally:
            self._renewal = None
            renewal.done.set()

    async def _greet(self, greeting: Mapping[str, Json]) -> None:
        """``initialize`` again, outside the session that asks for it. Raises McpError or CutShortError."""
        asked = _asked(self._server, greeting)
        exchange = Exchange(greeting["id"], asked)
        async with self._client.send(asked, "POST", ACCEPT, encode(greeting)) as reply:
            if not 200 <= reply.status < 300:
                raise self._answers.failure(asked, reply, await reply.beginning(SMALL))
            await self._check_greeting(reply, exchange)
            session = session_of(reply.headers.get(SESSION_HEADER.lower()))
        self._session = session
        initialized = encode(jsonrpc.notification(INITIALIZED))
        with anyio.move_on_after(GATE_SECONDS):
            async with self._client.send(asked, "POST", {**ACCEPT, **self.headers()}, initialized):
                pass

    async def _check_greeting(self, reply: Reply, exchange: Exchange) -> None:
        async for raw in messages_of(reply, exchange, self._limit):
            message = jsonrpc.read(raw)
            if isinstance(message, jsonrpc.Refusal):
                raise exchange.asked.refused(message)
            if isinstance(message, jsonrpc.Answer):
                result = message.result if isinstance(message.result, dict) else {}
                if result.get("protocolVersion", self._version) != self._version:
                    await self.end("speaks another version of the protocol since it was restarted")
                    raise exchange.asked.broken_off()
                return
        raise exchange.asked.invalid("no message")

    async def close(self) -> None:
        """Take leave of a session, without waiting long for it."""
        self._ending = self._ending or Ending()
        self._arrivals.close()
        self._turns.close()
        if self._session is None or self._ending.reason:
            return
        with anyio.move_on_after(DELETE_SECONDS, shield=True):
            try:
                asked = Asked(self._server, "the end of the session")
                async with self._client.send(asked, "DELETE", self.headers()):
                    pass
            except (McpError, CutShortError):
                return


@asynccontextmanager
async def open_http(
    parameters: HttpParameters, *, server: str, agent: str, log: Callable[[str], None], limit: int
) -> AsyncIterator[HttpDuplex]:
    """A duplex to a remote server; leaving ends its session. ``limit``: bytes a message."""
    async with open_client(parameters, server=server, agent=agent) as client:
        duplex: HttpDuplex | None = None
        try:
            async with task_group() as tasks:
                duplex = HttpDuplex(client, tasks, server=server, limit=limit, log=log)
                yield duplex
        finally:
            if duplex is not None:
                await duplex.close()


def _asked(server: str, message: Outgoing) -> Asked:
    method = str(message.get("method", "an answer")) if isinstance(message, Mapping) else "an answer"
    params = message.get("params") if isinstance(message, Mapping) else None
    uri = params.get("uri") if isinstance(params, Mapping) else None
    return Asked(server, method, uri if isinstance(uri, str) else "")

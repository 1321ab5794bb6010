"""The sample server over Streamable HTTP, in the shape of both eras, on 127.0.0.1 alone.

Specification 2025-11-25, basic/transports, and 2026-07-28, basic/transports/streamable-http. It must not know
what a message means beyond what the transport asks of it: sessions, headers, streams.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import re
import signal
import sys
import uuid
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from mcp_lectern.cli.demo_server import tour
from mcp_lectern.cli.demo_server.conversation import Conversation, unreadable
from mcp_lectern.cli.demo_server.http_wire import (
    LARGEST_HEAD,
    RefusedError,
    Request,
    Response,
    begin_events,
    read_request,
    respond,
    send_event,
)
from mcp_lectern.cli.demo_server.moments import Moments

PATH = "/mcp"
HOSTS = ("127.0.0.1", "localhost", "[::1]")
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022
METHOD_NOT_FOUND = -32601
MOST_SESSIONS = 200
KEEP_ALIVE_S = 15.0
NAMED = {"resources/read": "uri", "tools/call": "name", "prompts/get": "name"}
_VERSION = "io.modelcontextprotocol/protocolVersion"
_SENTINEL = re.compile(r"=\?base64\?([A-Za-z0-9+/]*={0,2})\?=")


@dataclass(eq=False)
class Listener:
    """A conversation that may have something to say unasked, and the queue of its stream."""

    conversation: Conversation
    notices: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    streaming: bool = False


class Site:
    """All clients of one server: sessions of the handshake era, and open streams of the stateless one."""

    def __init__(self, journal_s: float) -> None:
        self._moments = Moments(journal_s)
        self._sessions: dict[str, Listener] = {}
        self._streams: set[Listener] = set()

    def tick(self) -> None:
        """Time passes; who listens is told."""
        grown = self._moments.tick()
        for listener in {*self._sessions.values(), *self._streams}:
            notices = listener.conversation.moved(tour.CLOCK)
            notices += listener.conversation.list_moved() if grown else []
            if listener.streaming:
                for notice in notices:
                    listener.notices.put_nowait(notice)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until either side ends it."""
        try:
            while (request := await read_request(reader)) is not None:
                answer = self._answer(request)
                if isinstance(answer, Response):
                    await respond(writer, answer)
                else:
                    await self._stream(answer, reader, writer)
                    break
        except RefusedError as refused:
            with contextlib.suppress(ConnectionError):
                await respond(writer, Response(refused.status, headers={"Connection": "close"}))
        except ConnectionError:
            pass
        finally:
            writer.close()

    def _answer(self, request: Request) -> Response | Listener:
        if not _is_local(request):
            return Response(403)
        if request.path.rstrip("/") != PATH:
            return Response(404)
        if request.verb == "POST":
            return self._post(request)
        listener = self._sessions.get(request.headers.get("mcp-session-id", ""))
        if request.verb not in ("GET", "DELETE") or "mcp-session-id" not in request.headers:
            return Response(405, headers={"Allow": "POST"})
        if listener is None:
            return Response(404)
        if request.verb == "DELETE":
            del self._sessions[request.headers["mcp-session-id"]]
            listener.notices.put_nowait(StopAsyncIteration)
            return Response(204)
        return Response(409) if listener.streaming else listener

    def _post(self, request: Request) -> Response | Listener:
        try:
            message = json.loads(request.body)
        except (ValueError, RecursionError):
            return Response(400, unreadable())
        params = message.get("params") if isinstance(message, dict) else None
        meta = params.get("_meta") if isinstance(params, dict) else None
        if isinstance(meta, dict) and _VERSION in meta:
            return self._stateless(request, message, meta[_VERSION])
        return self._in_session(request, message)

    def _stateless(self, request: Request, message: Any, version: object) -> Response | Listener:
        mismatch = _mismatch(request, message, version)
        if mismatch is not None:
            error = {"code": HEADER_MISMATCH, "message": f"Header mismatch: {mismatch}"}
            return Response(400, {"jsonrpc": "2.0", "id": message.get("id"), "error": error})
        listener = Listener(Conversation(self._moments.now))
        answers = listener.conversation.receive(message)
        if not answers:
            return Response(202)
        if "method" in answers[0]:
            listener.notices.put_nowait(answers[0])
            return listener
        code = answers[0].get("error", {}).get("code")
        return Response({UNSUPPORTED_VERSION: 400, METHOD_NOT_FOUND: 404}.get(code, 200), answers[0])

    def _in_session(self, request: Request, message: Any) -> Response:
        name = request.headers.get("mcp-session-id")
        headers = None
        if isinstance(message, dict) and message.get("method") == "initialize":
            name = self._new_session()
            headers = {"Mcp-Session-Id": name}
        if name is None:
            error = {"code": -32000, "message": "No session: initialize comes first"}
            return Response(400, {"jsonrpc": "2.0", "id": None, "error": error})
        listener = self._sessions.get(name)
        if listener is None:
            return Response(404)
        answers = listener.conversation.receive(message)
        return Response(200, answers[0], headers) if answers else Response(202)

    def _new_session(self) -> str:
        while len(self._sessions) >= MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        name = uuid.uuid4().hex
        self._sessions[name] = Listener(Conversation(self._moments.now))
        return name

    async def _stream(
        self, listener: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Send what the listener is to be told, until the client is gone."""
        listener.streaming = True
        self._streams.add(listener)
        gone = asyncio.ensure_future(reader.read(1))
        try:
            begin_events(writer)
            await writer.drain()
            while not gone.done():
                notice = asyncio.ensure_future(listener.notices.get())
                await asyncio.wait({gone, notice}, timeout=KEEP_ALIVE_S, return_when=asyncio.FIRST_COMPLETED)
                sent = notice.result() if notice.done() else None
                notice.cancel()
                if sent is StopAsyncIteration:
                    break
                await send_event(writer, sent)
        finally:
            gone.cancel()
            listener.streaming = False
            self._streams.discard(listener)


def serve(port: int, tick_s: float = 3.0, journal_s: float = 0.0) -> int:
    """Serves until it is told to end; port 0 is one that the system chooses. The address goes to stderr."""
    try:
        asyncio.run(_serve(port, tick_s, journal_s))
    except OSError as error:
        print(f"mcp-lectern: cannot listen on port {port}: {error.strerror or error}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


async def _serve(port: int, tick_s: float, journal_s: float) -> None:
    site = Site(journal_s)
    server = await asyncio.start_server(site.connected, "127.0.0.1", port, limit=LARGEST_HEAD)
    chosen = server.sockets[0].getsockname()[1]
    print(f"The sample server listens on http://127.0.0.1:{chosen}{PATH}", file=sys.stderr, flush=True)
    ended = asyncio.Event()
    with contextlib.suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    while not ended.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), tick_s)
        site.tick()
    server.close()


def _is_local(request: Request) -> bool:
    """Whether the request comes from this machine's programs, and not from a page that a browser shows."""
    host = request.headers["host"].rpartition(":")[0] or request.headers["host"]
    origin = request.headers.get("origin")
    if host not in HOSTS:
        return False
    return origin is None or urlsplit(origin).hostname in ("127.0.0.1", "localhost", "::1")


def _mismatch(request: Request, message: Any, version: object) -> str | None:
    """What the headers say otherwise than the body, in words; None where they agree."""
    method, params = message.get("method"), message["params"]
    stated = {"mcp-protocol-version": version, "mcp-method": method}
    if method in NAMED:
        stated["mcp-name"] = params.get(NAMED[method])
    for header, value in stated.items():
        sent = request.headers.get(header)
        if sent is None:
            return f"{header} is missing"
        if (_decoded(sent) if header == "mcp-name" else sent) != value:
            return f"{header} is {sent!r}, and the body says {value!r}"
    return None


def _decoded(value: str) -> str | None:
    """A header's value without the Base64 sentinels; None where what they hold is no text."""
    encoded = _SENTINEL.fullmatch(value)
    if encoded is None:
        return value
    try:
        return base64.b64decode(encoded.group(1), validate=True).decode("utf-8", "surrogatepass")
    except ValueError:
        return None

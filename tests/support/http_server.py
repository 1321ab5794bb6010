"""An HTTP/1.1 server in the test's own loop that answers with exactly the bytes a test wants. Stdlib only.

    async def answer(request: Request, reply: Reply) -> None:
        if request.verb == "POST":
            await reply.json({"jsonrpc": "2.0", "id": request.message["id"], "result": {}})
        else:
            await reply.send(405)

    async with HttpServer(answer) as server:
        …  # server.url, server.requests

``reply.stream()`` opens an event stream that the handler may feed, end or cut; ``reply.raw`` writes anything.
``tls=`` takes an ``ssl.SSLContext``. Nothing here waits by sleeping.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

Json = Any


@dataclass(frozen=True, slots=True)
class Request:
    """``headers`` by lower-case name; the last of several counts."""

    verb: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Json]:
        """The JSON of the body; empty where there is none."""
        value = json.loads(self.body) if self.body else {}
        return value if isinstance(value, dict) else {}

    @property
    def method(self) -> str | None:
        return self.message.get("method")


@dataclass(slots=True)
class Reply:
    """One answer. ``gone`` is set when the client closes the connection."""

    writer: asyncio.StreamWriter
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    keep: bool = True

    async def raw(self, data: bytes) -> None:
        """These bytes, whatever they are."""
        if not self.gone.is_set():
            self.writer.write(data)
            with contextlib.suppress(ConnectionError):
                await self.writer.drain()

    async def send(self, status: int, body: bytes | str = b"", **headers: str) -> None:
        """A complete response; ``content_type="text/html"`` and so on are its headers."""
        data = body if isinstance(body, bytes) else body.encode()
        await self.raw(_head(status, {"content_length": str(len(data)), **headers}) + data)

    async def json(self, value: Json, status: int = 200, **headers: str) -> None:
        await self.send(status, json.dumps(value), **{"content_type": "application/json", **headers})

    async def result(self, request: Request, result: Json, **headers: str) -> None:
        """The answer to a request, as one JSON object."""
        await self.json({"jsonrpc": "2.0", "id": request.message.get("id"), "result": result}, **headers)

    async def error(
        self, request: Request, code: Json, message: str, status: int = 200, **headers: str
    ) -> None:
        error = {"code": code, "message": message}
        await self.json(
            {"jsonrpc": "2.0", "id": request.message.get("id"), "error": error}, status, **headers
        )

    async def stream(self, **headers: str) -> Stream:
        """Begin an event stream, chunked so that an end and a cut differ."""
        await self.raw(
            _head(200, {"content_type": "text/event-stream", "transfer_encoding": "chunked", **headers})
        )
        return Stream(self)

    def cut(self) -> None:
        """Drop the connection without any ending."""
        self.keep = False
        transport = self.writer.transport
        transport.abort()


@dataclass(slots=True)
class Stream:
    reply: Reply

    async def send(self, data: bytes | str) -> None:
        """Bytes of the event stream, in a chunk of their own."""
        raw = data if isinstance(data, bytes) else data.encode()
        await self.reply.raw(b"%x\r\n%b\r\n" % (len(raw), raw))

    async def message(self, message: Json, **fields: Json) -> None:
        """One event with a message; ``id=…`` and ``retry=…`` are its other fields."""
        lines = "".join(f"{name}: {value}\n" for name, value in fields.items())
        await self.send(f"{lines}data: {json.dumps({'jsonrpc': '2.0', **message})}\n\n")

    async def result(self, request: Request, result: Json, **fields: Json) -> None:
        await self.message({"id": request.message.get("id"), "result": result}, **fields)

    async def end(self) -> None:
        """The proper end."""
        await self.reply.raw(b"0\r\n\r\n")

    def cut(self) -> None:
        """The end of the connection in the middle of the body."""
        self.reply.cut()

    async def closed(self) -> None:
        """Wait until the client has closed it."""
        await self.reply.gone.wait()


Handler = Callable[[Request, Reply], Awaitable[None]]


class HttpServer:
    """On 127.0.0.1, at a port that the system chooses. ``requests`` are all that came, in order."""

    def __init__(self, handler: Handler, *, tls: ssl.SSLContext | None = None, path: str = "/mcp") -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self.errors: list[BaseException] = []
        self._handler = handler
        self._tls = tls
        self._path = path
        self._arrived = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def origin(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return self.origin + self._path

    def verbs(self) -> list[str]:
        return [request.verb for request in self.requests]

    def received(self, method: str | None = None, verb: str | None = None) -> list[Request]:
        """The requests with a message of this method, or with this verb."""
        return [
            request
            for request in self.requests
            if (method is None or request.method == method) and (verb is None or request.verb == verb)
        ]

    async def wait_received(
        self, method: str | None = None, count: int = 1, verb: str | None = None
    ) -> Request:
        """Wait for the count-th such request, and return it."""
        async with asyncio.timeout(20):
            while len(found := self.received(method, verb)) < count:
                self._arrived.clear()
                await self._arrived.wait()
        return found[count - 1]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self._tls)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()
        if error is None and self.errors:
            raise self.errors[0]

    async def stop(self) -> None:
        """Close the port and every connection."""
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def restart(self) -> None:
        """Drop every connection and listen at the same port again; POSIX only."""
        assert self._server is not None
        port = self.port
        # asyncio loses a socket whose acceptance is under way when its server closes.
        for listening in self._server.sockets:
            asyncio.get_running_loop().remove_reader(listening.fileno())
        for _ in range(3):
            await asyncio.sleep(0)
        await self.stop()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", port, ssl=self._tls)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while (request := await _read(reader)) is not None:
                if not await self._serve(request, reader, writer):
                    break
        except (asyncio.CancelledError, ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; whether the connection goes on. What the client sends meanwhile is its end."""
        self.requests.append(request)
        self._arrived.set()
        reply = Reply(writer)
        watching = asyncio.create_task(_watch(reader, reply))
        try:
            await self._handler(request, reply)
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            self.errors.append(error)
            reply.cut()
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        return reply.keep and not reply.gone.is_set()


async def _watch(reader: asyncio.StreamReader, reply: Reply) -> None:
    """Set ``gone`` at the end of the client's side, without taking anything of a next request."""
    while not reader.at_eof() and reader.exception() is None:
        if reader._buffer:
            return
        try:
            await reader._wait_for_data("watch")
        except (RuntimeError, ConnectionError):
            break
    reply.gone.set()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    verb, target, _ = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(verb, target, headers, body)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Status"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

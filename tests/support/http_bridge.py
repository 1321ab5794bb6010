"""The scripted stdio server behind HTTP: what it says travels as a right server would send it.

    async with bridged(scripted, "http") as url: …      # Streamable HTTP, the era that the script has
    async with bridged(scripted, "sse") as url: …       # the older HTTP+SSE

Each handshake session and each event stream of the older transport is a process of its own; the stateless era
shares one. So the same tests of the client run over every transport.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.support.http_server import HttpServer, Reply, Request, Stream
from tests.support.scripted_server import ScriptedServer

Json = Any
META = "io.modelcontextprotocol/"
LINE = 256 * 1024 * 1024


class Peer:
    """One process, and the streams that its messages belong to."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.waiting: dict[Json, asyncio.Queue[bytes | None]] = {}
        self.unasked: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, scripted: ScriptedServer) -> Peer:
        pipe = asyncio.subprocess.PIPE
        return cls(
            await asyncio.create_subprocess_exec(
                scripted.command, *scripted.args, stdin=pipe, stdout=pipe, env=scripted.env, limit=LINE
            )
        )

    def tell(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(json.loads(body)).encode() + b"\n")

    async def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        with contextlib.suppress(ProcessLookupError, TimeoutError):
            async with asyncio.timeout(5):
                await self.process.wait()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            self._queue(line).put_nowait(line.strip())
        for queue in [*self.waiting.values(), self.unasked]:
            queue.put_nowait(None)

    def _queue(self, line: bytes) -> asyncio.Queue[bytes | None]:
        """The stream that a message belongs to: by its id, its progress token or its subscription."""
        message = json.loads(line)
        params = message.get("params") or {}
        keys = [params.get("progressToken"), params.get("_meta", {}).get(META + "subscriptionId")]
        if "method" not in message:
            keys.append(message.get("id"))
        return next((self.waiting[key] for key in keys if key in self.waiting), self.unasked)


class Streamable:
    """Streamable HTTP in the shape of the script's era."""

    def __init__(self, scripted: ScriptedServer, era: str) -> None:
        self._scripted = scripted
        self._era = era
        self._peers: dict[str, Peer] = {}

    async def __call__(self, request: Request, reply: Reply) -> None:
        stateless = META + "protocolVersion" in request.message.get("params", {}).get("_meta", {})
        if stateless and self._era == "legacy":
            await reply.error(request, -32000, "Bad Request: No valid session ID provided", 400)
        elif stateless or self._era == "modern":
            await self._post(request, reply, await self._shared())
        elif request.method == "initialize":
            name = f"s{len(self._peers)}"
            self._peers[name] = await Peer.start(self._scripted)
            await self._post(request, reply, self._peers[name], mcp_session_id=name)
        else:
            await self._in_session(request, reply)

    async def _shared(self) -> Peer:
        if "" not in self._peers or self._peers[""].process.returncode is not None:
            self._peers[""] = await Peer.start(self._scripted)
        return self._peers[""]

    async def _in_session(self, request: Request, reply: Reply) -> None:
        peer = self._peers.get(request.headers.get("mcp-session-id", "?"))
        if peer is None or peer.process.returncode is not None:
            await reply.error(request, -32001, "Session not found", 404)
        elif request.verb == "GET":
            await _pass_on(await reply.stream(), peer.unasked, None)
        elif request.verb == "DELETE":
            await peer.end()
            await reply.send(204)
        else:
            await self._post(request, reply, peer)

    async def _post(self, request: Request, reply: Reply, peer: Peer, **headers: str) -> None:
        message = request.message
        if "method" not in message or "id" not in message:
            peer.tell(request.body)
            await reply.send(202)
            return
        queue = peer.waiting[message["id"]] = asyncio.Queue()
        peer.tell(request.body)
        stream = await reply.stream(**headers)
        answered = await _pass_on(stream, queue, message["id"])
        del peer.waiting[message["id"]]
        if not answered and self._era == "modern":
            notice = {"method": "notifications/cancelled", "params": {"requestId": message["id"]}}
            peer.tell(json.dumps({"jsonrpc": "2.0", **notice}).encode())

    async def close(self) -> None:
        for peer in self._peers.values():
            await peer.end()


class Older:
    """HTTP+SSE: the stream says where to post."""

    def __init__(self, scripted: ScriptedServer) -> None:
        self._scripted = scripted
        self._peers: list[Peer] = []

    async def __call__(self, request: Request, reply: Reply) -> None:
        if request.verb == "GET":
            peer = await Peer.start(self._scripted)
            self._peers.append(peer)
            stream = await reply.stream()
            await stream.send(f"event: endpoint\ndata: /messages?session={len(self._peers) - 1}\n\n")
            await _pass_on(stream, peer.unasked, None)
            await peer.end()
        elif request.target.startswith("/messages"):
            self._peers[int(request.target.rpartition("=")[2])].tell(request.body)
            await reply.send(202, "Accepted")
        else:
            await reply.send(405)

    async def close(self) -> None:
        for peer in self._peers:
            await peer.end()


async def _pass_on(stream: Stream, queue: asyncio.Queue[bytes | None], identity: Json) -> bool:
    """Send what is queued, until the answer to ``identity`` or the end; False if the client left before."""
    gone = asyncio.create_task(stream.closed())
    try:
        while True:
            getting = asyncio.create_task(queue.get())
            await asyncio.wait([gone, getting], return_when=asyncio.FIRST_COMPLETED)
            if not getting.done():
                getting.cancel()
                return False
            line = getting.result()
            if line is None:
                stream.cut()
                return True
            await stream.send(b"data: " + line + b"\n\n")
            message = json.loads(line)
            if identity is not None and "method" not in message and message.get("id") == identity:
                await stream.end()
                return True
    finally:
        gone.cancel()


@asynccontextmanager
async def bridged(scripted: ScriptedServer, kind: str, era: str = "legacy") -> AsyncIterator[HttpServer]:
    """The server over ``http`` or ``sse``."""
    handler = Older(scripted) if kind == "sse" else Streamable(scripted, era)
    async with HttpServer(handler, path="/sse" if kind == "sse" else "/mcp") as server:
        try:
            yield server
        finally:
            await handler.close()

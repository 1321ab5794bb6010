"""A right MCP server over HTTP, of either era, of which a test replaces the parts that are to be wrong.

mcp = HttpMcp()                                   # handshake era, with a session
mcp.on["resources/read"] = my_handler             # by method, or by verb for GET and DELETE
async with HttpServer(mcp) as server: …
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from tests.support.http_server import Handler, Reply, Request

Json = Any
TEXT = {"contents": [{"uri": "memo://a", "mimeType": "text/plain", "text": "hello"}]}
VERSION = "io.modelcontextprotocol/protocolVersion"


class HttpMcp:
    """``sessions`` are the ids that were given out; a request must bear the last one."""

    def __init__(self, era: str = "legacy", *, sessions: bool = True, capabilities: Json = None) -> None:
        self.era = era
        self.sessions: list[str] = []
        self.on: dict[str, Handler] = {}
        self.capabilities = capabilities or {"resources": {"listChanged": True}}
        self._named = sessions

    async def __call__(self, request: Request, reply: Reply) -> None:
        handler = self.on.get(request.method or request.verb)
        if handler is not None:
            await handler(request, reply)
        else:
            await self.serve(request, reply)

    async def serve(self, request: Request, reply: Reply) -> None:
        """What a right server answers."""
        if request.verb != "POST":
            await reply.send(405)
        elif self.era == "modern":
            await self._modern(request, reply)
        else:
            await self._legacy(request, reply)

    async def _legacy(self, request: Request, reply: Reply) -> None:
        named = {"mcp_session_id": self.sessions[-1]} if self._named and self.sessions else {}
        if request.method == "initialize":
            if self._named:
                self.sessions.append(f"session-{len(self.sessions) + 1}")
                named = {"mcp_session_id": self.sessions[-1]}
            result = {
                "protocolVersion": request.message["params"]["protocolVersion"],
                "capabilities": self.capabilities,
                "serverInfo": {"name": "http", "version": "1"},
            }
            await reply.result(request, result, **named)
        elif request.headers.get("mcp-session-id") != named.get("mcp_session_id") or not self._greeted():
            await reply.error(request, -32000, "Bad Request: Server not initialized", 400)
        elif "id" not in request.message:
            await reply.send(202)
        else:
            await self._resources(request, reply)

    def _greeted(self) -> bool:
        return bool(self.sessions) or not self._named

    async def _modern(self, request: Request, reply: Reply) -> None:
        if request.method == "server/discover":
            await reply.result(
                request, {"supportedVersions": ["2026-07-28"], "capabilities": self.capabilities}
            )
        elif request.method == "subscriptions/listen":
            stream = await reply.stream()
            await acknowledge(stream, request)
            await stream.closed()
        else:
            await self._resources(request, reply)

    async def _resources(self, request: Request, reply: Reply) -> None:
        results = {
            "resources/list": {"resources": [{"uri": "memo://a", "name": "a"}]},
            "resources/templates/list": {"resourceTemplates": []},
            "resources/read": TEXT,
        }
        if request.method in results:
            await reply.result(request, results[request.method])
        else:
            await reply.error(request, -32601, "Method not found", 404)


async def acknowledge(stream: Any, request: Request) -> None:
    """The first message of a listen stream."""
    params = {
        "_meta": {"io.modelcontextprotocol/subscriptionId": request.message["id"]},
        "notifications": request.message["params"]["notifications"],
    }
    await stream.message({"method": "notifications/subscriptions/acknowledged", "params": params})


def in_turn(*handlers: Handler) -> Handler:
    """The first request is for the first handler, and so on; the last goes on for ever."""
    order: Iterable[Handler] = itertools.chain(handlers, itertools.repeat(handlers[-1]))
    turns = iter(order)

    async def handle(request: Request, reply: Reply) -> None:
        await next(turns)(request, reply)

    return handle

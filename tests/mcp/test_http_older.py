"""The older HTTP+SSE transport, and finding out that a server speaks it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest
from tests.support.http_bridge import bridged
from tests.support.http_mcp import TEXT, HttpMcp
from tests.support.http_server import HttpServer, Reply, Request, Stream

from mcp_lectern.mcp.connect import Connection, Timing
from mcp_lectern.mcp.errors import Forbidden, HttpFailure, McpError, NotUnderstood, StartFailed, Unauthorized

pytestmark = pytest.mark.anyio
Reach = Callable[..., AbstractAsyncContextManager[Connection]]
SSE = {"kind": "sse"}


async def test_a_server_of_the_older_transport_is_found_out(reach: Reach, script: Any, observer: Any) -> None:
    scripted = script(contents={"memo://a": "x"})
    async with bridged(scripted, "sse") as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items
        assert connection.transport == "sse"
        assert [request.verb for request in server.requests[:3]] == ["POST", "POST", "GET"]
        assert observer.logged("trying the older HTTP+SSE") == 1


async def test_a_configured_one_is_asked_nothing_else(reach: Reach, script: Any) -> None:
    scripted = script(contents={"memo://a": "x"})
    async with bridged(scripted, "sse") as server, reach(server, parameters=SSE) as connection:
        assert (await connection.read("memo://a")).items
        assert [request.verb for request in server.requests[:2]] == ["GET", "POST"]
        assert {request.target for request in server.received(verb="POST")} == {"/messages?session=0"}


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:9/steal", "//127.0.0.1:9/steal", "https://127.0.0.1/x", "http://[::1"]
)
async def test_an_endpoint_of_another_origin_is_refused(reach: Reach, endpoint: str) -> None:
    async def answer(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.send(f"event: endpoint\ndata: {endpoint}\n\n")
        await stream.closed()

    headers = {"headers": {"Authorization": "Bearer tiger"}}
    async with HttpServer(answer) as server:
        with pytest.raises(StartFailed, match="another origin") as caught:
            async with reach(server, parameters={**SSE, **headers}):
                pass
        assert server.verbs() == ["GET"]
        assert "tiger" not in str(caught.value)


async def test_a_stream_that_begins_with_anything_else_is_no_server(reach: Reach) -> None:
    async def answer(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.send("data: hello\n\n")
        await stream.closed()

    async with HttpServer(answer) as server:
        with pytest.raises(StartFailed, match="does not say where"):
            async with reach(server, parameters=SSE):
                pass


@pytest.mark.parametrize(("status", "error"), [(401, Unauthorized), (403, Forbidden), (500, HttpFailure)])
async def test_a_stream_that_is_refused_says_why(reach: Reach, status: int, error: type[McpError]) -> None:
    async def answer(request: Request, reply: Reply) -> None:
        await reply.send(status)

    async with HttpServer(answer) as server:
        with pytest.raises(error):
            async with reach(server, parameters=SSE):
                pass


async def test_a_message_that_is_not_taken_fails_that_call_alone(reach: Reach, script: Any) -> None:
    scripted = script(contents={"memo://a": "x"})
    refused = anyio.Event()
    async with bridged(scripted, "sse") as server:
        right = server._handler

        async def handler(request: Request, reply: Reply) -> None:
            if request.method == "resources/read" and not refused.is_set():
                refused.set()
                await reply.send(413, "too much")
            else:
                await right(request, reply)

        server._handler = handler
        async with reach(server, parameters=SSE) as connection:
            with pytest.raises(NotUnderstood, match=r"413 .*: too much"):
                await connection.read("memo://a")
            assert (await connection.read("memo://a")).items


async def test_the_end_of_the_stream_is_the_end_of_the_server(reach: Reach, script: Any) -> None:
    scripted = script(answers={"resources/read": {"silent": True}})
    async with bridged(scripted, "sse") as server, reach(server, parameters=SSE) as connection:
        async with anyio.create_task_group() as tasks:

            async def read() -> None:
                with pytest.raises(McpError, match="closed its event stream during resources/read"):
                    await connection.read("memo://a")

            tasks.start_soon(read)
            await scripted.wait_received("resources/read")
            scripted.exit(0)
        assert connection.closed


def playing(*, before: str = "", posted: Callable[[Request, Reply], Awaitable[None]]) -> Any:
    """A server of the older transport; ``posted`` answers the status of each message."""
    streams: list[Stream] = []
    results = {
        "initialize": {"protocolVersion": "2024-11-05", "capabilities": {"resources": {}}},
        "resources/read": TEXT,
    }

    async def handler(request: Request, reply: Reply) -> None:
        if request.verb == "GET":
            streams.append(await reply.stream())
            await streams[0].send(f"{before}event: endpoint\ndata: /messages\n\n")
            await streams[0].closed()
            return
        if request.method in results:
            await streams[0].result(request, results[request.method])
        await posted(request, reply)

    return handler


async def taken(request: Request, reply: Reply) -> None:
    await reply.send(202)


@pytest.mark.case("HTTP-03")
@pytest.mark.parametrize(
    "before", [": hello\n\n", "event: ping\ndata: x\n\n", "event: ping\ndata: x\n\n" * 9]
)
async def test_http_03_what_comes_before_the_endpoint_is_waited_out(reach: Reach, before: str) -> None:
    async with (
        HttpServer(playing(before=before, posted=taken)) as server,
        reach(server, parameters=SSE) as connection,
    ):
        assert (await connection.read("memo://a")).items


async def test_a_message_whose_status_is_known_is_delivered_however_long_its_body_takes(reach: Reach) -> None:
    async def taken_without_end(request: Request, reply: Reply) -> None:
        await reply.raw(b"HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n")
        await reply.gone.wait()

    async with (
        HttpServer(playing(posted=taken_without_end)) as server,
        reach(server, parameters=SSE, timing=Timing(request=2)) as connection,
    ):
        assert (await connection.read("memo://a")).items


async def test_an_initialized_notice_that_is_never_answered_holds_nothing(reach: Reach) -> None:
    async def silent(request: Request, reply: Reply) -> None:
        if request.method == "notifications/initialized":
            await reply.gone.wait()
        await reply.send(202)

    async with (
        HttpServer(playing(posted=silent)) as server,
        reach(server, parameters=SSE, timing=Timing(request=10)) as connection,
    ):
        assert (await connection.read("memo://a")).items


@pytest.mark.case("VER-01")
async def test_ver_01_a_remembered_handshake_over_http_is_followed_by_the_probe(reach: Reach) -> None:
    async with HttpServer(HttpMcp("modern")) as server:
        async with reach(server, protocol="remembered") as connection:
            assert connection.era == "stateless"
        assert server.verbs()[:2] == ["POST", "POST"]


@pytest.mark.case("VER-01")
async def test_ver_01_a_400_that_names_a_version_is_no_sign_of_the_older_transport(reach: Reach) -> None:
    mcp = HttpMcp()
    error = {"code": -32602, "message": "Unsupported", "data": {"supported": ["2025-06-18"]}}

    async def choosy(request: Request, reply: Reply) -> None:
        if request.message["params"]["protocolVersion"] == "2025-06-18":
            await mcp.serve(request, reply)
        else:
            await reply.json({"jsonrpc": "2.0", "id": request.message["id"], "error": error}, 400)

    mcp.on["initialize"] = choosy
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert (connection.transport, connection.protocol_version) == ("http", "2025-06-18")

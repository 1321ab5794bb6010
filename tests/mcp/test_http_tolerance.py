"""Answers with something wrong around them: what they say is heard, and else what is wrong is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from tests.support.http_mcp import TEXT, HttpMcp, in_turn
from tests.support.http_server import Handler, HttpServer, Reply, Request

from mcp_lectern.mcp.connect import Connection, Timing
from mcp_lectern.mcp.errors import (
    ConnectionLost,
    HttpFailure,
    NotUnderstood,
    ResourceNotFound,
    ServerError,
    Unauthorized,
)
from mcp_lectern.mcp.transport import http_client

pytestmark = pytest.mark.anyio
Reach = Callable[..., AbstractAsyncContextManager[Connection]]
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])


def endless(status: int) -> Handler:
    """A status, and the beginning of a body that never comes to its end."""

    async def answer(request: Request, reply: Reply) -> None:
        head = b"HTTP/1.1 %d Odd\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\n" % status
        await reply.raw(head + b"out of order")
        await reply.gone.wait()

    return answer


@ERAS
@pytest.mark.case("HTTP-05")
@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (401, Unauthorized, "sign in to it"),
        (500, HttpFailure, "500 Internal Server Error: out of order"),
        (404, NotUnderstood, "out of order"),
    ],
)
async def test_http_05_a_status_is_told_even_if_its_body_never_comes(
    reach: Reach, monkeypatch: pytest.MonkeyPatch, era: str, status: int, kind: Any, words: str
) -> None:
    monkeypatch.setattr(http_client, "BEGINNING_SECONDS", 0.1)
    mcp = HttpMcp(era, sessions=False)
    mcp.on["resources/read"] = endless(status)
    async with HttpServer(mcp) as server, reach(server, timing=Timing(request=15)) as connection:
        with pytest.raises(kind, match=words):
            await connection.read("memo://a")


@ERAS
@pytest.mark.case("RD-01")
async def test_rd_01_not_found_is_not_found_under_a_status_of_the_server(reach: Reach, era: str) -> None:
    async def missing(request: Request, reply: Reply) -> None:
        await reply.error(request, -32602, "no memo://a here", 500)

    async def unknown(request: Request, reply: Reply) -> None:
        await reply.error(request, -32601, "Method not found", 500)

    mcp = HttpMcp(era)
    mcp.on["resources/read"], mcp.on["resources/templates/list"] = missing, unknown
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(ResourceNotFound, match="no memo://a here") as caught:
            await connection.read("memo://a")
        assert not caught.value.retryable
        assert (await connection.list_templates()).entries == ()


@ERAS
@pytest.mark.parametrize("kind", ["text/plain; charset=utf-8", "application/json-rpc", "text/html"])
async def test_an_answer_is_one_whatever_type_it_is_said_to_be_of(reach: Reach, era: str, kind: str) -> None:
    async def any_type(request: Request, reply: Reply) -> None:
        await reply.result(request, TEXT, content_type=kind)

    async def long(request: Request, reply: Reply) -> None:
        text = {"contents": [{"uri": "memo://a", "text": "x" * 2_000_000}]}
        await reply.result(request, text, content_type=kind)

    async def refused(request: Request, reply: Reply) -> None:
        await reply.error(request, -32005, "not today", content_type=kind)

    async def another(request: Request, reply: Reply) -> None:
        await reply.json({"id": request.message["id"] + 1000, "result": TEXT}, content_type=kind)

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = in_turn(any_type, long, refused, another)
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items
        (item,) = (await connection.read("memo://a")).items
        assert "x" * 2_000_000 in repr(item)
        with pytest.raises(ServerError, match="not today"):
            await connection.read("memo://a")
        with pytest.raises(NotUnderstood, match="instead of an MCP message"):
            await connection.read("memo://a")


@ERAS
@pytest.mark.case("HTTP-04")
@pytest.mark.parametrize("target", ["/" + "x" * 70_000, "//127.0.0.1:1:2/", "/\u0081"])
async def test_http_04_a_redirect_to_what_is_no_address_costs_one_call(
    reach: Reach, era: str, target: str
) -> None:
    async def moved(request: Request, reply: Reply) -> None:
        await reply.send(307, location=target)

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = in_turn(moved, mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(HttpFailure, match="redirects to") as caught:
            await connection.read("memo://a")
        assert len(str(caught.value)) < 1000
        assert not connection.closed
        assert (await connection.read("memo://a")).items


@ERAS
@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"Transfer-Encoding: identity\r\n", "transferred in a way that is not known"),
        (b"X Y: z\r\n", "a header that cannot be read"),
        (b"Content-Length: -1\r\n", "none that can be read"),
        (b"Content-Length: 99\r\n", "ended in the middle"),
    ],
)
async def test_what_was_wrong_with_an_answer_is_told(reach: Reach, era: str, head: bytes, words: str) -> None:
    async def odd(request: Request, reply: Reply) -> None:
        answer = json.dumps({"id": request.message["id"], "result": TEXT}).encode()
        await reply.raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + head + b"\r\n" + answer[:9]
        )
        reply.keep = False

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = odd
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(ConnectionLost, match=words):
            await connection.read("memo://a")


@ERAS
async def test_a_connection_that_its_server_gave_up_costs_no_read(reach: Reach, era: str) -> None:
    async def idle(request: Request, reply: Reply) -> None:
        await reply.send(408, connection="close")
        reply.keep = False

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = in_turn(idle, mcp.serve, idle)
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items
        with pytest.raises(ConnectionLost, match="had given its connection up") as caught:
            await connection.read("memo://a")
        assert caught.value.retryable
        assert len(server.received("resources/read")) == 4

"""Requests that somebody signs: a refusal is answered once more, whatever its body is."""

from __future__ import annotations

import gzip
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager

import httpx
import pytest
from tests.support.http_mcp import HttpMcp, in_turn
from tests.support.http_server import Handler, HttpServer, Reply, Request

from mcp_lectern.mcp.connect import Connection, Timing
from mcp_lectern.mcp.errors import Unauthorized
from mcp_lectern.mcp.transport import http_library

pytestmark = pytest.mark.anyio
Reach = Callable[..., AbstractAsyncContextManager[Connection]]
WHO = b"HTTP/1.1 401 Who\r\nWWW-Authenticate: Bearer\r\nContent-Type: text/plain\r\n"


class Renewing(httpx.Auth):
    """Signs with another token after a refusal, and notes how much of the refusal was read for that."""

    def __init__(self) -> None:
        self.read: list[int] = []

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        request.headers["Authorization"] = "Bearer old"
        response = yield request
        if response.status_code == 401:
            request.headers["Authorization"] = "Bearer new"
            yield request
            self.read.append(len(response.content))


def raw(data: bytes, *, hold: bool = True) -> Handler:
    async def answer(_request: Request, reply: Reply) -> None:
        await reply.raw(data)
        if hold:
            await reply.gone.wait()

    return answer


@pytest.mark.case("HTTP-05")
@pytest.mark.parametrize("begun", [b"", b"some words"])
async def test_http_05_a_refusal_that_never_ends_is_answered_with_the_new_token(
    reach: Reach, monkeypatch: pytest.MonkeyPatch, begun: bytes
) -> None:
    monkeypatch.setattr(http_library, "REFUSAL_SECONDS", 0.1)
    mcp, auth = HttpMcp(sessions=False), Renewing()
    mcp.on["resources/read"] = in_turn(raw(WHO + b"Content-Length: 100\r\n\r\n" + begun), mcp.serve)
    async with (
        HttpServer(mcp) as server,
        reach(server, parameters={"auth": auth}, timing=Timing(request=15)) as connection,
    ):
        assert (await connection.read("memo://a")).items
        tokens = [request.headers["authorization"] for request in server.received("resources/read")]
    assert tokens == ["Bearer old", "Bearer new"]
    assert auth.read == [len(begun)]


@pytest.mark.case("HTTP-05")
async def test_http_05_a_refusal_that_is_a_bomb_is_not_unpacked(reach: Reach) -> None:
    bomb = gzip.compress(bytes(256 * 1024 * 1024))
    assert len(bomb) > 4 * http_library.REFUSAL_BYTES
    head = WHO + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    mcp, auth = HttpMcp(sessions=False), Renewing()
    mcp.on["resources/read"] = in_turn(raw(head + bomb, hold=False), mcp.serve)
    async with HttpServer(mcp) as server, reach(server, parameters={"auth": auth}) as connection:
        assert (await connection.read("memo://a")).items
    assert auth.read[0] <= 1100 * http_library.REFUSAL_BYTES


@pytest.mark.case("HTTP-05")
async def test_http_05_a_second_refusal_is_told(reach: Reach, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_library, "REFUSAL_SECONDS", 0.1)
    mcp = HttpMcp(sessions=False)
    mcp.on["resources/read"] = raw(WHO + b"Content-Length: 100\r\n\r\n")
    async with HttpServer(mcp) as server, reach(server, parameters={"auth": Renewing()}) as connection:
        with pytest.raises(Unauthorized, match="sign in"):
            await connection.read("memo://a")
        assert len(server.received("resources/read")) == 2

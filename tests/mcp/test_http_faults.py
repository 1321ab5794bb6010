"""A server over HTTP whose bytes are wrong somewhere: one call fails at most, by name, and nothing hangs."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.http_mcp import TEXT, HttpMcp
from tests.support.http_server import HttpServer, Reply, Request

from mcp_lectern.mcp.connect import HttpParameters, Timing, connect
from mcp_lectern.mcp.errors import McpError

from .conftest import RecordingObserver

HEADS = [
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n",
    b"HTTP/1.1 404 Gone\r\nContent-Type: application/json\r\n",
    b"HTTP/1.1 500 Oops\r\nContent-Type: text/html\r\n",
    b"HTTP/1.1 401 Who\r\nWWW-Authenticate: \xff\r\n",
    b"HTTP/1.1 307 There\r\nLocation: http://[::1\r\n",
    b"HTTP/1.1 308 There\r\nLocation: \xff\xfe//\r\n",
]
EXTRAS = [
    b"",
    b"Content-Encoding: gzip\r\n",
    b"Content-Encoding: br\r\n",
    b"Set-Cookie: \xe9=\x80; Expires=never; Max-Age=-1\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 99999\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Mcp-Session-Id: other\r\n",
    b"Retry-After: 0\r\n",
]


@st.composite
def wrong(draw: st.DrawFn) -> bytes:
    """A response that is right up to some point; ``$ID`` is the request's id."""
    message = json.dumps({"jsonrpc": "2.0", "id": "$ID", "result": TEXT}).replace('"$ID"', "$ID").encode()
    body = draw(st.sampled_from([message, b"data: " + message + b"\n\n", b"{", b"\xff\xfe", b"[]", b"null"]))
    extra = draw(st.sampled_from(EXTRAS))
    if extra.startswith(b"Transfer"):
        body = b"%x\r\n%b\r\n" % (len(body), body) + draw(st.sampled_from([b"0\r\n\r\n", b"zz\r\n", b""]))
    whole = draw(st.sampled_from(HEADS)) + extra + b"\r\n" + body
    kind = draw(st.sampled_from(["whole", "truncated", "garbage", "doubled"]))
    at = draw(st.integers(0, len(whole)))
    if kind == "truncated":
        return whole[:at]
    if kind == "garbage":
        return whole[:at] + draw(st.binary(min_size=1, max_size=8)) + whole[at:]
    return whole * 2 if kind == "doubled" else whole


@pytest.mark.parametrize("era", ["legacy", "modern"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(responses=st.lists(wrong(), min_size=1, max_size=3))
def test_wrong_bytes_cost_one_call_at_most(era: str, responses: list[bytes]) -> None:
    anyio.run(_play, era, responses)


async def _play(era: str, responses: list[bytes]) -> None:
    mcp = HttpMcp(era, capabilities={"resources": {}})
    left = list(responses)
    told: list[str] = []

    async def read(request: Request, reply: Reply) -> None:
        if not left:
            await mcp.serve(request, reply)
            return
        await reply.raw(left.pop(0).replace(b"$ID", str(request.message["id"]).encode()))
        reply.keep = False

    mcp.on["resources/read"] = read
    observer: Any = RecordingObserver()
    timing = Timing(request=5, total=10)
    async with HttpServer(mcp) as server:
        with anyio.fail_after(60):
            async with connect(
                HttpParameters(server.url), server="far", observer=observer, version="1", timing=timing
            ) as connection:
                while left:
                    before = len(left)
                    try:
                        await connection.read("memo://a")
                    except McpError as error:
                        told.append(str(error))
                    assert len(left) < before
                assert (await connection.read("memo://a")).items
                assert not connection.closed
    assert all("far" in sentence for sentence in told)


@pytest.mark.parametrize("kind", ["http", "sse"])
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(response=wrong())
def test_wrong_bytes_at_the_start_fail_in_words_or_not_at_all(kind: Any, response: bytes) -> None:
    anyio.run(_begin, kind, response)


async def _begin(kind: Any, response: bytes) -> None:
    async def always(request: Request, reply: Reply) -> None:
        identity = str(request.message.get("id", 1)).encode()
        await reply.raw(response.replace(b"$ID", identity))
        reply.keep = False

    observer: Any = RecordingObserver()
    timing = Timing(start=2, request=1, total=2, probe=0.5)
    async with HttpServer(always) as server:
        with anyio.fail_after(60):
            try:
                async with connect(
                    HttpParameters(server.url, kind=kind),
                    server="far",
                    observer=observer,
                    version="1",
                    timing=timing,
                ):
                    said = "far"
            except McpError as error:
                said = str(error)
    assert "far" in said

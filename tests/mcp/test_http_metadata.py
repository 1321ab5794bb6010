"""What requests say about their message in headers."""

from __future__ import annotations

import base64
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.http_mcp import VERSION, HttpMcp
from tests.support.http_server import HttpServer

from mcp_lectern.mcp.connect import Connection
from mcp_lectern.mcp.wire.http_headers import encoded, session_of

Reach = Callable[..., AbstractAsyncContextManager[Connection]]
URIS = {
    "memo://a": "memo://a",
    "note://with space/x": "note://with space/x",
    "oni://测试": "=?base64?b25pOi8v5rWL6K+V?=",
    "note:// a ": "=?base64?bm90ZTovLyBhIA==?=",
    "x://a\r\nX-Evil: 1": "=?base64?eDovL2ENClgtRXZpbDogMQ==?=",
    "=?base64?eA==?=": "=?base64?PT9iYXNlNjQ/ZUE9PT89?=",
    "=?base64?eA": "=?base64?eA",
}


@pytest.mark.anyio
@pytest.mark.case("HTTP-07")
@pytest.mark.parametrize(("uri", "header"), URIS.items(), ids=range(len(URIS)))
async def test_http_07_the_name_is_in_a_header_and_the_body_is_the_original(
    reach: Reach, uri: str, header: str
) -> None:
    async with HttpServer(HttpMcp("modern")) as server:
        async with reach(server) as connection:
            assert (await connection.read(uri)).items
        (read,) = server.received("resources/read")
        assert read.headers["mcp-name"] == header
        assert read.message["params"]["uri"] == uri
        assert "x-evil" not in read.headers


@pytest.mark.anyio
@pytest.mark.case("HTTP-07")
async def test_http_07_method_and_version_equal_the_body_on_every_request(reach: Reach) -> None:
    async with HttpServer(HttpMcp("modern")) as server:
        async with reach(server) as connection:
            await connection.list_resources()
            await connection.list_templates()
            await connection.read("memo://a")
            await server.wait_received("subscriptions/listen")
        for request in server.requests:
            assert request.headers["mcp-method"] == request.method
            assert request.headers["mcp-protocol-version"] == request.message["params"]["_meta"][VERSION]
            assert ("mcp-name" in request.headers) == (request.method == "resources/read")
            assert request.headers["accept"] == "application/json, text/event-stream"
        assert {request.method for request in server.requests} == {
            "server/discover",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "subscriptions/listen",
        }


@given(st.text())
def test_a_value_can_always_be_sent_and_read_back(value: str) -> None:
    header = encoded(value)
    assert header.isascii()
    assert header == header.strip()
    assert header.isprintable() or "\t" in header
    if header.startswith("=?base64?") and header.endswith("?="):
        assert base64.b64decode(header[9:-2]).decode() == value
    else:
        assert header == value


def test_half_a_character_is_no_exception() -> None:
    assert encoded("x://\ud800").startswith("=?base64?")


@pytest.mark.parametrize("odd", ["", "a b", "é", "a\x7f", "x" * 2000, None])
def test_a_session_that_could_not_be_sent_back_is_none(odd: str | None) -> None:
    assert session_of(odd) is None

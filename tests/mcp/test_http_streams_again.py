"""Streams that are opened again: never at once, and never with what cannot be sent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from itertools import count
from typing import Any

import anyio
import pytest
from tests.support.http_mcp import HttpMcp
from tests.support.http_server import Handler, HttpServer, Reply, Request

from mcp_lectern.mcp.client.subscribing import TRIES
from mcp_lectern.mcp.connect import Connection, Limits, Timing
from mcp_lectern.mcp.errors import ConnectionLost, RequestTimeout
from mcp_lectern.mcp.transport import delays

pytestmark = pytest.mark.anyio
Reach = Callable[..., AbstractAsyncContextManager[Connection]]
CHANGED = {"method": "notifications/resources/list_changed"}


def fresh_ids(retry: int) -> Handler:
    """Streams that end at once, each further than the one before."""
    numbers = count()

    async def answer(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.send(f"id: {next(numbers)}\nretry: {retry}\ndata:\n\n")
        await stream.end()

    return answer


@pytest.mark.case("HTTP-02")
async def test_http_02_a_server_that_asks_for_no_delay_is_not_flooded(reach: Reach) -> None:
    async def ended(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.send("retry: 0\n\n")
        await stream.end()

    mcp = HttpMcp()
    mcp.on["GET"] = ended
    async with HttpServer(mcp) as server, reach(server):
        await server.wait_received(verb="GET", count=2)
        with anyio.move_on_after(delays.FIRST / 4):
            await server.wait_received(verb="GET", count=4)
        assert len(server.received(verb="GET")) < 4


@pytest.mark.case("HTTP-03")
async def test_http_03_nor_is_one_that_is_a_little_further_each_time(reach: Reach) -> None:
    mcp = HttpMcp()
    mcp.on["resources/read"] = mcp.on["GET"] = fresh_ids(0)
    timing = Timing(request=delays.FIRST, total=10)
    async with HttpServer(mcp) as server, reach(server, timing=timing) as connection:
        with pytest.raises(RequestTimeout):
            await connection.read("memo://a")
        assert len(server.received(verb="GET")) < 8


def test_what_a_server_asks_for_is_the_least_and_what_has_failed_counts() -> None:
    assert delays.asked_for(0, 60_000) == 60
    assert delays.asked_for(0, 0) >= delays.FIRST * (1 - delays.JITTER)
    assert delays.asked_for(9, 10) >= delays.LONGEST * (1 - delays.JITTER)
    assert delays.asked_for(0, None) <= delays.FIRST * (1 + delays.JITTER)


async def test_a_server_that_ends_its_streams_on_purpose_is_asked_again_as_soon_as_it_says(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delays, "FIRST", 0.01)
    mcp = HttpMcp()
    mcp.on["GET"] = fresh_ids(10)
    async with HttpServer(mcp) as server, reach(server):
        # Doubled each time, this would take more than ten seconds.
        with anyio.fail_after(8):
            await server.wait_received(verb="GET", count=12)


@pytest.mark.case("HTTP-03")
@pytest.mark.parametrize("identity", ["r1 ", "  r1", " ", "\u00a0r1", "ä \t ö"])
async def test_http_03_an_id_that_no_header_can_hold_costs_no_connection(
    reach: Reach, monkeypatch: pytest.MonkeyPatch, identity: str
) -> None:
    monkeypatch.setattr(delays, "FIRST", 0.01)

    async def read(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.send(f"id: {identity}\nretry: 1\ndata:\n\n")
        await stream.end()

    mcp = HttpMcp()
    mcp.on["resources/read"] = mcp.on["GET"] = read
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(ConnectionLost, match="memo://a"):
            await connection.read("memo://a")
        await server.wait_received(verb="GET", count=2)
        assert not connection.closed
        assert (await connection.list_resources()).entries


@pytest.mark.case("RD-08")
async def test_rd_08_a_notice_over_the_limit_does_not_end_the_stream_of_notices(
    reach: Reach, observer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delays, "FIRST", 0.01)
    first = iter([True])

    async def notices(request: Request, reply: Reply) -> None:
        assert "last-event-id" not in request.headers
        stream = await reply.stream()
        if next(first, False):
            await stream.send("id: 1\ndata:\n\nid: 2\ndata: " + "x" * 200_000 + "\n\n")
        await stream.message(CHANGED)
        await stream.closed()

    mcp = HttpMcp()
    mcp.on["GET"] = notices
    async with HttpServer(mcp) as server, reach(server, limits=Limits(read_bytes=100_000)):
        await server.wait_received(verb="GET", count=2)
        # What was missed may have been a change, and the next one is heard.
        await observer.wait_for(lambda: observer.changes == 2)
        assert observer.logged("100000 bytes") == 1


@pytest.mark.case("SUB-01")
@pytest.mark.parametrize("proper", [True, False])
async def test_sub_01_a_subscription_whose_answer_never_comes_is_asked_for_ever_later(
    reach: Reach, observer: Any, proper: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delays, "FIRST", 0.01)

    async def subscribe(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.send(": nothing\n\n")
        if proper:
            await stream.end()
        else:
            stream.cut()

    mcp = HttpMcp(capabilities={"resources": {"subscribe": True}})
    mcp.on["resources/subscribe"] = subscribe
    async with HttpServer(mcp) as server, reach(server) as connection:
        connection.subscribe("memo://a")
        await observer.wait_for(lambda: observer.logged("not subscribed") == 1)
        tries = len(server.received("resources/subscribe"))
        assert tries == TRIES
        assert (await connection.read("memo://a")).items
        assert len(server.received("resources/subscribe")) == tries


@pytest.mark.case("HTTP-05")
@pytest.mark.parametrize("status", [429, 503])
async def test_http_05_a_stream_of_notices_that_is_to_wait_waits(
    reach: Reach, observer: Any, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(delays, "FIRST", 0.01)
    first, asked = iter([True]), []

    async def busy(request: Request, reply: Reply) -> None:
        asked.append(anyio.current_time())
        if next(first, False):
            await reply.send(status, retry_after="1")
        else:
            stream = await reply.stream()
            await stream.message(CHANGED)
            await stream.closed()

    mcp = HttpMcp()
    mcp.on["GET"] = busy
    async with HttpServer(mcp) as server, reach(server):
        await observer.wait_for(lambda: observer.changes == 1)
    assert asked[1] - asked[0] >= 1

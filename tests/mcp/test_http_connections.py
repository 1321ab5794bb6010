"""Connections over real sockets: used again where that is certain, else closed, and none left over."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import httpx
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.http_mcp import TEXT, HttpMcp
from tests.support.http_server import HttpServer, Reply, Request

from mcp_lectern.mcp.connect import Connection
from mcp_lectern.mcp.errors import Unreachable
from mcp_lectern.mcp.transport.http_connection import MOST_WAITING
from mcp_lectern.mcp.transport.http_pool import HttpPool, NoConnectionError, Patience, Place
from mcp_lectern.mcp.wire.http_response import BadResponseError

pytestmark = pytest.mark.anyio
Reach = Callable[..., AbstractAsyncContextManager[Connection]]
Peer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

REQUEST = b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"
POISON = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"


def modern() -> HttpMcp:
    return HttpMcp("modern", capabilities={"resources": {}})


async def rendered(request: Request) -> bytes:
    """The bytes of a right answer."""
    written: list[bytes] = []

    class Writer:
        def write(self, data: bytes) -> None:
            written.append(data)

        async def drain(self) -> None:
            pass

    recorded: Any = Writer()
    await Reply(recorded).result(request, TEXT)
    return b"".join(written)


async def test_reads_one_after_another_share_a_connection(reach: Reach) -> None:
    async with HttpServer(modern()) as server, reach(server) as connection:
        for _ in range(20):
            assert (await connection.read("memo://a")).items
        assert server.connections == 1


async def test_a_kept_connection_that_the_server_closed_is_not_used(reach: Reach) -> None:
    mcp = modern()

    async def once(request: Request, reply: Reply) -> None:
        reply.keep = False
        await reply.result(request, TEXT)

    mcp.on["resources/read"] = once
    async with HttpServer(mcp) as server, reach(server) as connection:
        for _ in range(10):
            assert (await connection.read("memo://a")).items


@pytest.mark.parametrize("extra", [POISON, b"\x00", b"\r\n"])
async def test_what_follows_an_answer_answers_nothing(reach: Reach, extra: bytes) -> None:
    mcp = modern()

    async def more(request: Request, reply: Reply) -> None:
        await reply.raw(await rendered(request) + extra)

    mcp.on["resources/read"] = more
    async with HttpServer(mcp) as server, reach(server) as connection:
        for _ in range(3):
            assert (await connection.read("memo://a")).items
        assert server.connections >= 3


async def test_what_follows_an_answer_late_answers_nothing(reach: Reach) -> None:
    mcp, gone = modern(), asyncio.Event()

    async def more(request: Request, reply: Reply) -> None:
        await reply.result(request, TEXT)
        await asyncio.sleep(0)
        await reply.raw(POISON)
        await reply.gone.wait()
        gone.set()

    mcp.on["resources/read"] = more
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items
        with anyio.fail_after(10):
            await gone.wait()
        del mcp.on["resources/read"]
        assert (await connection.read("memo://a")).items


async def test_a_connection_that_is_half_closed_is_not_used(reach: Reach) -> None:
    mcp = modern()

    async def half(request: Request, reply: Reply) -> None:
        await reply.result(request, TEXT)
        reply.writer.write_eof()

    mcp.on["resources/read"] = half
    async with HttpServer(mcp) as server, reach(server) as connection:
        for _ in range(5):
            assert (await connection.read("memo://a")).items


async def test_name_and_password_of_an_address_are_sent(reach: Reach) -> None:
    async with HttpServer(modern()) as server:
        async with reach(server.url.replace("//", "//us%20er:p%40ss@")) as connection:
            assert (await connection.read("memo://a")).items
        expected = "Basic " + base64.b64encode(b"us er:p@ss").decode()
        assert {request.headers["authorization"] for request in server.requests} == {expected}


async def test_a_configured_header_that_cannot_be_sent_is_named_and_not_shown(reach: Reach) -> None:
    async with HttpServer(modern()) as server:
        with pytest.raises(Unreachable, match="the header X-Key") as caught:
            async with reach(server, parameters={"headers": {"X-Key": "tiger\nX: y"}}):
                pass
        assert "tiger" not in str(caught.value)
        assert server.requests == []


async def test_a_configured_header_about_the_connection_is_honoured(reach: Reach) -> None:
    async with HttpServer(modern()) as server:
        async with reach(server, parameters={"headers": {"Connection": "close", "X-A": "1"}}) as connection:
            for _ in range(3):
                assert (await connection.read("memo://a")).items
        assert {request.headers["connection"] for request in server.requests} == {"close"}
        assert {request.headers["x-a"] for request in server.requests} == {"1"}
        assert server.connections >= 3


class Signing(httpx.Auth):
    async def async_auth_flow(self, request: httpx.Request) -> Any:
        request.headers["Authorization"] = "Bearer tiger"
        yield request


async def test_signed_requests_share_connections_and_are_cancelled_alike(reach: Reach) -> None:
    mcp, gone = modern(), asyncio.Event()
    async with HttpServer(mcp) as server, reach(server, parameters={"auth": Signing()}) as connection:
        for _ in range(5):
            assert (await connection.read("memo://a")).items
        assert server.connections == 1
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer tiger"}

        async def never(request: Request, reply: Reply) -> None:
            await reply.gone.wait()
            gone.set()

        mcp.on["resources/read"] = never
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.read, "memo://a")
            await server.wait_received("resources/read", 6)
            tasks.cancel_scope.cancel()
        with anyio.fail_after(10):
            await gone.wait()


# The pool by itself.


@asynccontextmanager
async def peer(talk: Peer, *, write: float = 30, idle: float = 30) -> AsyncIterator[HttpPool]:
    """A pool of connections to a server that does whatever ``talk`` does."""
    talking: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talking.add(task)
        try:
            await talk(reader, writer)
        except (asyncio.CancelledError, OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        pool = HttpPool(Place("127.0.0.1", port, None), Patience(5, write, idle), 4)
        try:
            yield pool
        finally:
            pool.close()
            for task in talking:
                task.cancel()
            await asyncio.gather(*talking, return_exceptions=True)


async def body(pool: HttpPool, request: bytes = REQUEST) -> bytes:
    exchanged = await pool.exchange(request)
    try:
        return b"".join([piece async for piece in exchanged.pieces()])
    finally:
        exchanged.close()


async def test_a_body_that_nobody_takes_is_not_gathered_without_end() -> None:
    size = 64 * MOST_WAITING
    held = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(64):
            writer.write(b"x" * MOST_WAITING)
            with anyio.move_on_after(0.5) as scope:
                await writer.drain()
            if scope.cancelled_caught:
                held.set()
                await writer.drain()
        await reader.read()

    async with peer(talk) as pool:
        exchanged = await pool.exchange(REQUEST)
        with anyio.fail_after(20):
            await held.wait()
        assert exchanged.connection._waiting_bytes <= 2 * MOST_WAITING
        assert sum([len(piece) async for piece in exchanged.pieces()]) == size
        exchanged.close()


async def test_a_server_that_takes_nothing_is_given_up() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        await asyncio.Event().wait()

    async with peer(talk, write=0.2) as pool:
        with anyio.fail_after(10), pytest.raises(BadResponseError, match=r"taken for 0\.2 s"):
            await pool.exchange(REQUEST + b"x" * (64 << 20))


async def test_an_answer_that_comes_early_is_taken_and_its_connection_is_not_used_again() -> None:
    connections = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(ANSWER)
        await asyncio.Event().wait()

    async with peer(talk) as pool:
        for _ in range(2):
            with anyio.fail_after(10):
                assert await body(pool, REQUEST + b"x" * (64 << 20)) == b"fine"
    assert connections == 2


async def test_a_connection_that_nobody_needs_is_closed() -> None:
    closed = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        writer.write(ANSWER)
        assert await reader.read() == b""
        closed.set()

    async with peer(talk, idle=0.05) as pool:
        assert await body(pool) == b"fine"
        with anyio.fail_after(10):
            await closed.wait()


async def test_who_gives_up_closes_the_connection() -> None:
    asked, closed = asyncio.Event(), asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        asked.set()
        await reader.read()
        closed.set()

    async with peer(talk) as pool, anyio.create_task_group() as tasks:
        tasks.start_soon(pool.exchange, REQUEST)
        await asked.wait()
        tasks.cancel_scope.cancel()
        with anyio.fail_after(10, shield=True):
            await closed.wait()


async def test_nobody_there_is_an_error_with_a_cause() -> None:
    async with peer(lambda _reader, _writer: asyncio.sleep(0)) as pool:
        place = pool._place
    with pytest.raises(NoConnectionError) as caught:
        await HttpPool(place, Patience(5, 5, 5), 4).exchange(REQUEST)
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)


Act = tuple[bytes, list[int], str]
ACTS = st.lists(
    st.tuples(
        st.sampled_from([ANSWER, ANSWER + POISON, ANSWER[:-2], b"HTTP/1.1 204 No\r\n\r\n", b"\xff", b""]),
        st.lists(st.integers(0, 60), max_size=3),
        st.sampled_from(["keep", "close", "abort", "half"]),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(acts=ACTS, give_up=st.sets(st.integers(0, 7), max_size=2))
def test_whatever_a_server_does_no_answer_goes_astray_and_no_descriptor_is_left(
    acts: list[Act], give_up: set[int]
) -> None:
    before = psutil.Process(os.getpid()).num_fds()
    anyio.run(_play, acts, give_up)
    assert psutil.Process(os.getpid()).num_fds() == before


async def _play(acts: list[Act], give_up: set[int]) -> None:
    left = list(acts)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        going_on = True
        while going_on:
            await reader.readuntil(b"{}")
            going_on = await _act(left.pop(0) if left else (ANSWER, [], "keep"), writer)

    async with peer(talk) as pool:
        for number in range(len(acts) + 1):
            with anyio.fail_after(10), contextlib.suppress(BadResponseError, ConnectionError):
                if number in give_up:
                    (await pool.exchange(REQUEST)).close()
                else:
                    assert await body(pool) in (b"fine", b"")
        left.clear()
        healed = False
        while not healed:
            # Each failure costs one of the connections that were kept.
            with anyio.fail_after(10), contextlib.suppress(BadResponseError, ConnectionError):
                healed = await body(pool) == b"fine"
                assert healed


async def _act(act: Act, writer: asyncio.StreamWriter) -> bool:
    """Write an answer in pieces; whether the connection goes on."""
    whole, places, then = act
    start = 0
    for place in sorted(places):
        writer.write(whole[start:place])
        start = place
        await asyncio.sleep(0)
    writer.write(whole[start:])
    if then == "abort":
        return False
    if then == "close" or not whole.startswith(b"HTTP") or whole == ANSWER[:-2]:
        writer.close()
        return False
    if then == "half":
        writer.write_eof()
    return True

"""What a server says unasked: the GET stream of the handshake era, the listen stream of the stateless one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from itertools import pairwise
from typing import Any

import anyio
import pytest
from tests.support.http_mcp import HttpMcp, acknowledge, in_turn
from tests.support.http_server import Handler, HttpServer, Reply, Request

from mcp_lectern.mcp.connect import Connection, Timing
from mcp_lectern.mcp.transport import delays, http

pytestmark = pytest.mark.anyio
Reach = Callable[..., AbstractAsyncContextManager[Connection]]
CHANGED = {"method": "notifications/resources/list_changed"}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is waited for is as long as ever in proportion, and short enough for a test."""
    monkeypatch.setattr(delays, "FIRST", 0.01)
    monkeypatch.setattr(delays, "LONGEST", 0.1)


def status(code: int, body: str = "", **headers: str) -> Handler:
    async def answer(request: Request, reply: Reply) -> None:
        await reply.send(code, body, **headers)

    return answer


async def test_the_stream_is_asked_for_before_anything_that_may_be_answered_on_it(reach: Reach) -> None:
    async with HttpServer(HttpMcp()) as server:
        async with reach(server) as connection, anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(connection.read, "memo://a")
        order = [request.method or request.verb for request in server.requests]
    assert order.index("GET") == order.index("notifications/initialized") + 1


@pytest.mark.case("HTTP-02")
@pytest.mark.parametrize(
    "refusal",
    [
        status(405),
        status(404),
        status(406),
        status(400),
        status(401),
        status(200, "hello", content_type="text/plain"),
        status(200, "<p>hello</p>", content_type="text/html"),
    ],
    ids=["405", "404", "406", "400", "401", "text", "html"],
)
async def test_http_02_a_stream_that_is_refused_is_not_asked_for_again(
    reach: Reach, observer: Any, refusal: Handler
) -> None:
    mcp = HttpMcp()
    mcp.on["GET"] = refusal
    async with HttpServer(mcp) as server, reach(server) as connection:
        await observer.wait_for(lambda: observer.logged("no stream of notices") == 1)
        for _ in range(3):
            assert (await connection.read("memo://a")).items
        assert len(server.received(verb="GET")) == 1


@pytest.mark.case("HTTP-02")
async def test_http_02_a_stream_that_closes_at_once_is_opened_again_ever_later(
    reach: Reach, observer: Any
) -> None:
    moments: list[float] = []

    async def closed(request: Request, reply: Reply) -> None:
        moments.append(anyio.current_time())
        await (await reply.stream()).end()

    mcp = HttpMcp()
    mcp.on["GET"] = closed
    async with HttpServer(mcp) as server, reach(server) as connection:
        await server.wait_received(verb="GET", count=5)
        assert (await connection.read("memo://a")).items
    pauses = [later - earlier for earlier, later in pairwise(moments)]
    assert pauses[0] >= 0.01 * 2 * 0.8
    assert pauses[3] >= 0.01 * 8 * 0.8


@pytest.mark.case("HTTP-02")
@pytest.mark.parametrize("farewell", [status(405), status(404), status(500)], ids=["405", "404", "500"])
async def test_http_02_what_is_answered_to_delete_does_not_matter(reach: Reach, farewell: Handler) -> None:
    mcp = HttpMcp()
    mcp.on["DELETE"] = farewell
    async with HttpServer(mcp) as server:
        async with reach(server) as connection:
            await connection.read("memo://a")
        assert server.received(verb="DELETE")[0].headers["mcp-session-id"] == "session-1"


@pytest.mark.case("HTTP-02")
async def test_http_02_an_unanswered_delete_does_not_hold_the_end(reach: Reach) -> None:
    async def silent(request: Request, reply: Reply) -> None:
        await reply.gone.wait()

    mcp = HttpMcp()
    mcp.on["DELETE"] = silent
    async with HttpServer(mcp) as server:
        async with reach(server):
            began = anyio.current_time()
        assert anyio.current_time() - began < 5
        assert server.received(verb="DELETE")


@pytest.mark.case("HTTP-02")
async def test_http_02_the_stateless_era_has_neither_get_nor_delete(reach: Reach) -> None:
    async with HttpServer(HttpMcp("modern")) as server:
        async with reach(server) as connection:
            assert (await connection.read("memo://a")).items
        assert set(server.verbs()) == {"POST"}
        assert not [request for request in server.requests if "mcp-session-id" in request.headers]


async def test_a_change_is_heard_on_the_stream(reach: Reach, observer: Any) -> None:
    async def stream_of_changes(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.message(CHANGED)
        await stream.closed()

    mcp = HttpMcp()
    mcp.on["GET"] = stream_of_changes
    async with HttpServer(mcp) as server, reach(server):
        await observer.wait_for(lambda: observer.changes == 1)
        asked = server.received(verb="GET")[0].headers
        assert asked["accept"] == "text/event-stream"
        assert asked["mcp-session-id"] == "session-1"


async def test_a_stream_with_ids_is_taken_up_after_the_last_one_when_the_server_says(
    reach: Reach, observer: Any
) -> None:
    async def first(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.message(CHANGED, id="e7", retry=40)
        stream.cut()

    async def second(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.message(CHANGED, id="e8")
        await stream.closed()

    mcp = HttpMcp()
    mcp.on["GET"] = in_turn(first, second)
    async with HttpServer(mcp) as server, reach(server):
        await observer.wait_for(lambda: observer.changes == 2)
        assert server.received(verb="GET")[1].headers["last-event-id"] == "e7"


async def test_a_stream_without_ids_that_broke_off_counts_as_a_change(reach: Reach, observer: Any) -> None:
    async def cut(request: Request, reply: Reply) -> None:
        (await reply.stream()).cut()

    async def quiet(request: Request, reply: Reply) -> None:
        await (await reply.stream()).closed()

    mcp = HttpMcp()
    mcp.on["GET"] = in_turn(cut, quiet)
    async with HttpServer(mcp) as server, reach(server):
        await observer.wait_for(lambda: observer.changes == 1)
        assert "last-event-id" not in server.received(verb="GET")[1].headers


async def test_a_session_that_the_stream_finds_lost_is_opened_anew(reach: Reach, observer: Any) -> None:
    lost = anyio.Event()

    async def until_lost(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await lost.wait()
        stream.cut()

    async def quiet(request: Request, reply: Reply) -> None:
        await (await reply.stream()).closed()

    mcp = HttpMcp()
    mcp.on["GET"] = in_turn(until_lost, status(404), quiet)
    async with HttpServer(mcp) as server, reach(server) as connection:
        await server.wait_received(verb="GET")
        lost.set()
        await server.wait_received(verb="GET", count=3)
        assert server.received(verb="GET")[2].headers["mcp-session-id"] == "session-2"
        assert observer.changes >= 1
        assert (await connection.read("memo://a")).items
        assert len(server.received("initialize")) == 2


async def quietly(request: Request, reply: Reply) -> None:
    await (await reply.stream()).closed()


async def broken_off(request: Request, reply: Reply) -> None:
    (await reply.stream()).cut()


@pytest.mark.case("HTTP-01")
async def test_http_01_a_session_that_is_lost_twice_in_a_row_is_opened_anew_twice(reach: Reach) -> None:
    mcp = HttpMcp()
    mcp.on["GET"] = in_turn(broken_off, status(404), status(404), quietly)
    async with HttpServer(mcp) as server, reach(server):
        await server.wait_received(verb="GET", count=4)
        assert server.received(verb="GET")[3].headers["mcp-session-id"] == "session-3"
        assert len(server.received("initialize")) == 3


@pytest.mark.case("HTTP-01")
async def test_http_01_a_stream_that_is_lost_in_every_session_is_given_up(
    reach: Reach, observer: Any
) -> None:
    mcp = HttpMcp()
    mcp.on["GET"] = in_turn(broken_off, status(404))
    async with HttpServer(mcp) as server, reach(server) as connection:
        await observer.wait_for(lambda: observer.logged("no stream of notices") == 1)
        count = len(server.received("initialize"))
        assert 2 < count < 8
        assert (await connection.read("memo://a")).items
        assert len(server.received("initialize")) == count


@pytest.mark.case("HTTP-01")
async def test_http_01_a_new_session_asks_for_the_stream_that_a_lost_one_was_refused(
    reach: Reach, observer: Any
) -> None:
    mcp = HttpMcp()
    mcp.on["GET"] = in_turn(status(404), quietly)
    mcp.on["resources/read"] = in_turn(status(404), mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        await observer.wait_for(lambda: observer.logged("no stream of notices") == 1)
        assert (await connection.read("memo://a")).items
        asked = await server.wait_received(verb="GET", count=2)
        assert asked.headers["mcp-session-id"] == "session-2"


@pytest.mark.case("SUB-02")
async def test_sub_02_what_a_lost_session_could_not_subscribe_to_the_next_one_does(
    reach: Reach, observer: Any
) -> None:
    async def grant(request: Request, reply: Reply) -> None:
        await reply.result(request, {})

    mcp = HttpMcp(capabilities={"resources": {"subscribe": True}})
    mcp.on["GET"] = status(405)
    mcp.on["resources/subscribe"] = in_turn(status(404), status(404), grant)
    mcp.on["resources/read"] = in_turn(status(404), mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        connection.subscribe("memo://a")
        await observer.wait_for(lambda: observer.logged("not subscribed") == 1)
        assert (await connection.read("memo://a")).items
        await observer.wait_for(lambda: "memo://a" in connection.subscriptions)


async def test_a_server_that_vanished_ends_the_connection(reach: Reach, observer: Any) -> None:
    async def quiet(request: Request, reply: Reply) -> None:
        await (await reply.stream()).closed()

    mcp = HttpMcp()
    mcp.on["GET"] = quiet
    async with HttpServer(mcp) as server, reach(server) as connection:
        await server.wait_received(verb="GET")
        await server.stop()
        with anyio.fail_after(20):
            lost = await connection.wait_closed()
        assert "cannot be reached" in str(lost)


async def test_a_request_of_the_server_is_answered_in_a_post(reach: Reach) -> None:
    async def asking(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.message({"id": "ping-1", "method": "ping"})
        await stream.closed()

    mcp = HttpMcp()
    mcp.on["GET"] = asking
    async with HttpServer(mcp) as server, reach(server):
        await server.wait_received(verb="GET")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.wait_received, None, 5)
        answer = next(request for request in server.requests if "result" in request.message)
        assert answer.message == {"jsonrpc": "2.0", "id": "ping-1", "result": {}}
        assert answer.headers["mcp-session-id"] == "session-1"


async def test_a_listen_stream_that_broke_off_is_opened_again_and_counts_as_a_change(
    reach: Reach, observer: Any
) -> None:
    async def cut(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await acknowledge(stream, request)
        stream.cut()

    mcp = HttpMcp("modern")
    mcp.on["subscriptions/listen"] = in_turn(cut, mcp.serve)
    async with HttpServer(mcp) as server, reach(server):
        await observer.wait_for(lambda: observer.changes == 1)
        first, second = server.received("subscriptions/listen")
        assert first.message["id"] != second.message["id"]


async def test_leaving_closes_the_listen_stream(reach: Reach) -> None:
    gone = anyio.Event()
    mcp = HttpMcp("modern")

    async def listen(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await acknowledge(stream, request)
        await stream.closed()
        gone.set()

    mcp.on["subscriptions/listen"] = listen
    async with HttpServer(mcp) as server:
        async with reach(server):
            await server.wait_received("subscriptions/listen")
        with anyio.fail_after(20):
            await gone.wait()


@pytest.mark.case("HTTP-01")
async def test_http_01_a_new_sessions_stream_begins_anew(reach: Reach) -> None:
    async def told(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.message(CHANGED, id="e7")
        await stream.closed()

    mcp = HttpMcp()
    mcp.on["GET"] = told
    mcp.on["resources/read"] = in_turn(status(404), mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        await server.wait_received(verb="GET")
        assert (await connection.read("memo://a")).items
        again = await server.wait_received(verb="GET", count=2)
        assert again.headers["mcp-session-id"] == "session-2"
        assert "last-event-id" not in again.headers


@pytest.mark.case("SUB-02")
async def test_sub_02_an_open_stream_of_notices_takes_no_requests_turn(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "AT_ONCE", 1)
    mcp = HttpMcp("modern")
    async with HttpServer(mcp) as server, reach(server, timing=Timing(request=3, total=3)) as connection:
        await server.wait_received("subscriptions/listen")
        assert (await connection.read("memo://a")).items

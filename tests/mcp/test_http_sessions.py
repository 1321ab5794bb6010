"""Sessions of the handshake era over HTTP: opened once, lost and opened again, taken leave of."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest
from tests.support.http_mcp import HttpMcp, in_turn
from tests.support.http_server import HttpServer, Reply, Request

from mcp_lectern.mcp.connect import Connection, Timing
from mcp_lectern.mcp.errors import HttpFailure, McpError, NotUnderstood, ResourceNotFound, ServerError
from mcp_lectern.mcp.transport import gate, http

pytestmark = pytest.mark.anyio
Reach = Callable[..., AbstractAsyncContextManager[Connection]]


async def test_the_session_and_the_version_are_on_every_request_after_the_first(reach: Reach) -> None:
    async with HttpServer(HttpMcp()) as server:
        async with reach(server) as connection:
            await connection.read("memo://a")
        first, *others = [request for request in server.requests if request.method != "server/discover"]
        assert "mcp-session-id" not in first.headers
        assert "mcp-protocol-version" not in first.headers
        assert {request.headers["mcp-session-id"] for request in others} == {"session-1"}
        assert {request.headers["mcp-protocol-version"] for request in others} == {"2025-11-25"}
        assert server.verbs()[-1] == "DELETE"


async def test_nothing_is_asked_before_the_server_has_taken_the_initialized_notice(reach: Reach) -> None:
    taken = anyio.Event()
    mcp = HttpMcp()

    async def slowly(request: Request, reply: Reply) -> None:
        await anyio.lowlevel.checkpoint()
        assert not server.received("resources/list")
        await reply.send(202)
        taken.set()

    mcp.on["notifications/initialized"] = slowly
    async with HttpServer(mcp) as server, reach(server) as connection:
        await connection.list_resources()
        assert taken.is_set()


async def gone(request: Request, reply: Reply) -> None:
    await reply.error(request, -32001, "Session not found", 404)


async def gone_without_words(request: Request, reply: Reply) -> None:
    await reply.send(404)


async def gone_with_400(request: Request, reply: Reply) -> None:
    await reply.error(request, -32000, "Bad Request: No valid session ID provided", 400)


async def gone_in_an_event(request: Request, reply: Reply) -> None:
    stream = await reply.stream()
    await stream.send('data: {"error": "Session not found"}\n\n')
    await stream.end()


async def gone_in_a_response(request: Request, reply: Reply) -> None:
    await reply.error(request, -32001, "Session expired")


@pytest.mark.case("HTTP-01")
@pytest.mark.parametrize(
    "loss", [gone, gone_without_words, gone_with_400, gone_in_an_event, gone_in_a_response]
)
async def test_http_01_a_lost_session_is_opened_once_more_and_the_call_succeeds(
    reach: Reach, observer: Any, loss: Any
) -> None:
    mcp = HttpMcp()
    mcp.on["resources/read"] = in_turn(mcp.serve, loss, mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        for _ in range(3):
            assert (await connection.read("memo://a")).items
        await observer.wait_for(lambda: observer.changes == 1)
        assert len(server.received("initialize")) == 2
        assert "mcp-session-id" not in server.received("initialize")[1].headers
        reads = server.received("resources/read")
        sessions = [request.headers["mcp-session-id"] for request in reads]
        assert sessions == ["session-1", "session-1", "session-2", "session-2"]
        assert len(server.received("notifications/initialized")) == 2


@pytest.mark.case("HTTP-01")
async def test_http_01_a_session_lost_again_at_once_fails_the_call_and_makes_no_loop(reach: Reach) -> None:
    mcp = HttpMcp()
    mcp.on["resources/read"] = gone
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(McpError, match="Session not found"):
            await connection.read("memo://a")
        assert len(server.received("initialize")) == 2
        assert len(server.received("resources/read")) == 2
        assert (await connection.list_resources()).entries


@pytest.mark.case("HTTP-01")
async def test_http_01_a_404_with_method_not_found_is_no_lost_session(reach: Reach) -> None:
    mcp = HttpMcp()

    async def missing(request: Request, reply: Reply) -> None:
        await reply.error(request, -32601, "Method not found", 404)

    mcp.on["resources/templates/list"] = missing
    mcp.on["resources/read"] = missing
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert (await connection.list_templates()).entries == ()
        with pytest.raises(ServerError) as caught:
            await connection.read("memo://a")
        assert caught.value.code == -32601
        assert len(server.received("initialize")) == 1


@pytest.mark.case("HTTP-01")
async def test_http_01_without_a_session_these_are_failures_of_the_call(reach: Reach) -> None:
    mcp = HttpMcp(sessions=False)
    mcp.on["resources/read"] = in_turn(gone_with_400, gone_without_words)
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(ServerError, match="No valid session"):
            await connection.read("memo://a")
        with pytest.raises(NotUnderstood, match="404"):
            await connection.read("memo://a")
        assert len(server.received("initialize")) == 1
        assert not server.received(verb="DELETE")


@pytest.mark.case("HTTP-01")
async def test_http_01_many_calls_share_the_one_new_session(reach: Reach) -> None:
    mcp = HttpMcp()
    lost = {"session-1"}

    async def read(request: Request, reply: Reply) -> None:
        if request.headers.get("mcp-session-id") in lost:
            await gone(request, reply)
        else:
            await mcp.serve(request, reply)

    mcp.on["resources/read"] = read
    async with HttpServer(mcp) as server, reach(server) as connection:
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(connection.read, "memo://a")
        assert len(server.received("initialize")) == 2


@pytest.mark.case("HTTP-01")
async def test_http_01_a_restarted_server_that_speaks_otherwise_ends_the_connection(reach: Reach) -> None:
    mcp = HttpMcp()

    async def older(request: Request, reply: Reply) -> None:
        await reply.result(request, {"protocolVersion": "2024-11-05", "capabilities": {}})

    async with HttpServer(mcp) as server, reach(server) as connection:
        mcp.on["resources/read"] = gone
        mcp.on["initialize"] = older
        with pytest.raises(McpError):
            await connection.read("memo://a")
        with anyio.fail_after(20):
            assert "another version" in str(await connection.wait_closed())


async def test_a_new_session_that_cannot_be_had_fails_the_call_with_the_servers_words(reach: Reach) -> None:
    mcp = HttpMcp()

    async def full(request: Request, reply: Reply) -> None:
        await reply.error(request, -32000, "Too many sessions", 503)

    async with HttpServer(mcp) as server, reach(server) as connection:
        mcp.on["resources/read"] = in_turn(gone, gone, mcp.serve)
        mcp.on["initialize"] = in_turn(full, mcp.serve)
        with pytest.raises(HttpFailure, match="Too many sessions") as caught:
            await connection.read("memo://a")
        assert caught.value.retryable
        assert (await connection.read("memo://a")).items


async def never(request: Request, reply: Reply) -> None:
    await reply.gone.wait()


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is never said is waited for for a moment alone."""
    monkeypatch.setattr(gate, "GATE_SECONDS", 0.1)
    monkeypatch.setattr(http, "GATE_SECONDS", 0.1)


@pytest.mark.usefixtures("soon")
async def test_an_initialized_notice_that_is_never_answered_holds_nothing(reach: Reach) -> None:
    mcp = HttpMcp()
    mcp.on["notifications/initialized"] = never
    async with HttpServer(mcp) as server, reach(server, timing=Timing(request=5)) as connection:
        assert (await connection.read("memo://a")).items
        await server.wait_received(verb="GET")


@pytest.mark.usefixtures("soon")
@pytest.mark.case("HTTP-01")
async def test_http_01_nor_does_it_hold_a_new_session(reach: Reach) -> None:
    mcp = HttpMcp()
    mcp.on["notifications/initialized"] = in_turn(mcp.serve, never)
    mcp.on["resources/read"] = in_turn(gone, mcp.serve)
    async with HttpServer(mcp) as server, reach(server, timing=Timing(request=5)) as connection:
        assert (await connection.read("memo://a")).items


@pytest.mark.case("HTTP-01")
async def test_http_01_a_404_that_answers_the_request_itself_is_no_lost_session(reach: Reach) -> None:
    mcp = HttpMcp()

    async def missing(request: Request, reply: Reply) -> None:
        await reply.error(request, -32002, "Resource not found", 404)

    mcp.on["resources/read"] = missing
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(ResourceNotFound):
            await connection.read("memo://a")
        assert len(server.received("initialize")) == 1


SUBSCRIBED = {"resources": {"subscribe": True}}


@pytest.mark.case("HTTP-01")
async def test_http_01_in_a_new_session_everything_is_subscribed_to_again_and_may_have_changed(
    reach: Reach, observer: Any
) -> None:
    mcp = HttpMcp(capabilities=SUBSCRIBED)

    async def subscribe(request: Request, reply: Reply) -> None:
        await reply.result(request, {})

    mcp.on["resources/subscribe"] = subscribe
    mcp.on["resources/read"] = in_turn(gone, mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        connection.subscribe("memo://a")
        await observer.wait_for(lambda: connection.subscriptions == {"memo://a"})
        assert (await connection.read("memo://a")).items
        again = await server.wait_received("resources/subscribe", 2)
        assert again.headers["mcp-session-id"] == "session-2"
        await observer.wait_for(lambda: observer.updates == ["memo://a"])
        assert connection.subscriptions == {"memo://a"}


@pytest.mark.case("HTTP-01")
async def test_http_01_a_new_session_may_have_what_the_lost_one_lacked(reach: Reach, observer: Any) -> None:
    mcp = HttpMcp(capabilities=SUBSCRIBED)

    async def subscribe(request: Request, reply: Reply) -> None:
        if len(mcp.sessions) > 1:
            await reply.result(request, {})
        else:
            await reply.error(request, -32601, "Method not found")

    mcp.on["resources/subscribe"] = subscribe
    mcp.on["resources/read"] = in_turn(gone, mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        connection.subscribe("memo://a")
        await observer.wait_for(lambda: observer.logged("not subscribed") == 1)
        assert (await connection.read("memo://a")).items
        await observer.wait_for(lambda: connection.subscriptions == {"memo://a"})


@pytest.mark.case("RD-01")
@pytest.mark.parametrize("code", [-32602, -32002])
@pytest.mark.parametrize("status", [200, 400, 404])
async def test_rd_01_a_resource_that_is_a_session_may_be_missing(
    reach: Reach, code: int, status: int
) -> None:
    async def missing(request: Request, reply: Reply) -> None:
        await reply.error(request, code, "Unknown session: memo://a not found", status)

    mcp = HttpMcp()
    mcp.on["resources/read"] = missing
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(ResourceNotFound, match="Unknown session: memo://a"):
            await connection.read("memo://a")
        assert len(server.received("initialize")) == 1


@pytest.mark.case("HTTP-01")
async def test_http_01_what_a_new_session_is_told_too_is_told_to_the_user(reach: Reach) -> None:
    async def broken(request: Request, reply: Reply) -> None:
        await reply.error(request, -32603, "the notes of this session are not found")

    mcp = HttpMcp()
    mcp.on["resources/read"] = broken
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(ServerError, match="the notes of this session") as caught:
            await connection.read("memo://a")
        assert caught.value.code == -32603
        assert len(server.received("initialize")) == 2


@pytest.mark.case("HTTP-01")
@pytest.mark.parametrize("slow", ["initialize", "notifications/initialized"])
async def test_http_01_a_new_session_is_whole_even_if_the_read_that_wanted_it_is_given_up(
    reach: Reach, observer: Any, slow: str
) -> None:
    go = anyio.Event()
    mcp = HttpMcp(capabilities={"resources": {"subscribe": True}})

    async def held(request: Request, reply: Reply) -> None:
        await go.wait()
        await mcp.serve(request, reply)

    mcp.on[slow] = in_turn(mcp.serve, held)
    mcp.on["resources/read"] = in_turn(gone, mcp.serve)
    mcp.on["resources/subscribe"] = empty
    async with HttpServer(mcp) as server, reach(server) as connection:
        connection.subscribe("memo://a")
        await server.wait_received("resources/subscribe")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.read, "memo://a")
            await server.wait_received(slow, count=2)
            tasks.cancel_scope.cancel()
        go.set()
        await observer.wait_for(lambda: observer.changes == 1)
        again = await server.wait_received("resources/subscribe", count=2)
        assert again.headers["mcp-session-id"] == "session-2"
        assert len(server.received("notifications/initialized")) == 2
        assert (await connection.read("memo://a")).items
        assert len(server.received("initialize")) == 2


async def empty(request: Request, reply: Reply) -> None:
    await reply.result(request, {})

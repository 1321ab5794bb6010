"""What is posted to a remote server: a few at a time, for so long, and once more where it got lost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest
from tests.support.http_mcp import TEXT, HttpMcp
from tests.support.http_server import Handler, HttpServer, Reply, Request, Stream

from mcp_lectern.mcp.connect import Connection
from mcp_lectern.mcp.transport import posts, turns
from mcp_lectern.mcp.wire import elicitation

pytestmark = pytest.mark.anyio
Reach = Callable[..., AbstractAsyncContextManager[Connection]]
QUESTION = {"message": "Which?", "requestedSchema": {"type": "object", "properties": {}}}


def is_answer(request: Request) -> bool:
    return request.verb == "POST" and "method" not in request.message


def pinged(number: int) -> Handler:
    """A read that is answered after so many requests of the server."""

    async def read(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        for identity in range(number):
            await stream.message({"id": f"p{identity}", "method": "ping"})
        await stream.result(request, TEXT)
        await stream.end()

    return read


async def test_a_server_that_asks_and_does_not_listen_gets_few_connections(reach: Reach) -> None:
    mcp = HttpMcp()
    mcp.on["resources/read"] = pinged(100)

    async def answer(request: Request, reply: Reply) -> None:
        if is_answer(request):
            await reply.gone.wait()
        else:
            await mcp(request, reply)

    async with HttpServer(answer) as server, reach(server) as connection:
        before = server.connections
        assert (await connection.read("memo://a")).items
        assert (await connection.read("memo://a")).items
        assert server.connections <= before + posts.AT_ONCE + 2
        assert sum(map(is_answer, server.requests)) <= posts.AT_ONCE


async def test_all_that_a_server_listens_to_is_answered(reach: Reach) -> None:
    mcp = HttpMcp()
    mcp.on["resources/read"] = pinged(100)
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items
        with anyio.fail_after(20):
            while sum(map(is_answer, server.requests)) < 100:
                await server.wait_received(count=len(server.received(None)) + 1)


async def test_what_cannot_be_said_in_time_is_dropped_and_told(
    reach: Reach, observer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posts, "MOST", 5)
    monkeypatch.setattr(posts, "SECONDS", 0.1)
    mcp = HttpMcp()
    mcp.on["resources/read"] = pinged(12)
    left: list[anyio.Event] = []

    async def answer(request: Request, reply: Reply) -> None:
        if is_answer(request):
            left.append(closed := anyio.Event())
            await reply.gone.wait()
            closed.set()
        else:
            await mcp(request, reply)

    async with HttpServer(answer) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items
        await observer.wait_for(lambda: observer.logged("did not take it within 0.1 s") == 5)
        assert observer.logged("5 others wait") == 7
        with anyio.fail_after(20):
            for closed in left:
                await closed.wait()
        assert (await connection.read("memo://a")).items


async def test_a_cancellation_that_is_never_taken_keeps_no_connection(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posts, "SECONDS", 0.1)
    closed = anyio.Event()

    async def cancelled(request: Request, reply: Reply) -> None:
        await reply.gone.wait()
        closed.set()

    async def read(request: Request, reply: Reply) -> None:
        await reply.gone.wait()

    mcp = HttpMcp()
    mcp.on["resources/read"], mcp.on["notifications/cancelled"] = read, cancelled
    async with HttpServer(mcp) as server, reach(server) as connection:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.read, "memo://a")
            await server.wait_received("resources/read")
            tasks.cancel_scope.cancel()
        with anyio.fail_after(20):
            await closed.wait()


class Yes:
    """A person who accepts."""

    modes = frozenset(("form",))

    async def answer(self, question: elicitation.Question) -> elicitation.Reply:
        return elicitation.Reply("accept", {})

    async def finished(self, question: elicitation.UrlQuestion) -> bool:
        return True


async def test_an_answer_of_a_person_is_not_lost_with_its_connection(reach: Reach) -> None:
    answered = anyio.Event()

    async def read(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.message({"id": "q1", "method": "elicitation/create", "params": QUESTION})
        await answered.wait()
        await stream.result(request, TEXT)
        await stream.end()

    mcp = HttpMcp()
    mcp.on["resources/read"] = read
    lost = iter([True])

    async def answer(request: Request, reply: Reply) -> None:
        if not is_answer(request):
            await mcp(request, reply)
        elif next(lost, False):
            reply.cut()
        else:
            answered.set()
            await reply.send(202)

    async with HttpServer(answer) as server, reach(server, answers=Yes()) as connection:
        with anyio.fail_after(20):
            assert (await connection.read("memo://a", asked=True)).items
        assert [request.message["id"] for request in server.requests if is_answer(request)] == ["q1", "q1"]


async def test_the_older_transport_takes_turns_too(reach: Reach) -> None:
    streams: list[Stream] = []
    go = anyio.Event()

    async def answer(request: Request, reply: Reply) -> None:
        if request.verb == "GET":
            streams.append(stream := await reply.stream())
            await stream.send("event: endpoint\ndata: /messages\n\n")
            await stream.closed()
        elif request.method == "resources/read":
            await go.wait()
            await reply.send(202)
            await streams[0].result(request, TEXT)
        else:
            await reply.send(202)
            if request.method == "initialize":
                result = {"protocolVersion": "2024-11-05", "capabilities": {"resources": {}}}
                await streams[0].result(request, result)

    async with HttpServer(answer) as server, reach(server, parameters={"kind": "sse"}) as connection:
        async with anyio.create_task_group() as tasks:
            for number in range(5 * turns.AT_ONCE):
                tasks.start_soon(connection.read, f"memo://{number}")
            await server.wait_received("resources/read", count=turns.AT_ONCE)
            assert server.connections <= 2 + turns.AT_ONCE
            go.set()
        assert len(server.received("resources/read")) == 5 * turns.AT_ONCE
        assert server.connections <= 3 + turns.AT_ONCE


async def test_over_the_older_transport_a_read_that_is_given_up_gives_its_turn_back(reach: Reach) -> None:
    streams: list[Stream] = []

    async def answer(request: Request, reply: Reply) -> None:
        if request.verb == "GET":
            streams.append(stream := await reply.stream())
            await stream.send("event: endpoint\ndata: /messages\n\n")
            await stream.closed()
        elif request.method == "resources/read" and request.message["params"]["uri"] == "memo://held":
            await reply.gone.wait()
        else:
            await reply.send(202)
            result: Any = TEXT
            if request.method == "initialize":
                result = {"protocolVersion": "2024-11-05", "capabilities": {"resources": {}}}
            if "id" in request.message:
                await streams[0].result(request, result)

    async with HttpServer(answer) as server, reach(server, parameters={"kind": "sse"}) as connection:
        async with anyio.create_task_group() as tasks:
            for _ in range(turns.AT_ONCE):
                tasks.start_soon(connection.read, "memo://held")
            await server.wait_received("resources/read", count=turns.AT_ONCE)
            tasks.cancel_scope.cancel()
        with anyio.fail_after(20):
            assert (await connection.read("memo://a")).items

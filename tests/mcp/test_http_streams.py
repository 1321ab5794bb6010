"""Answers that come as event streams: odd spellings, cuts, resumption, limits, cancellation."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest
from tests.support.http_mcp import TEXT, HttpMcp, in_turn
from tests.support.http_server import HttpServer, Reply, Request

from mcp_lectern.mcp.connect import Connection, Limits, Timing
from mcp_lectern.mcp.errors import ConnectionLost, InvalidResult, RequestTimeout, ServerError, TooLarge
from mcp_lectern.mcp.transport import delays, parts
from mcp_lectern.mcp.transport.exchange import RESUMPTIONS

pytestmark = pytest.mark.anyio
Reach = Callable[..., AbstractAsyncContextManager[Connection]]
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delays, "FIRST", 0.01)


def answer_of(request: Request) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "result": TEXT}, ensure_ascii=False)


@ERAS
@pytest.mark.case("HTTP-03")
@pytest.mark.parametrize("kind", ["Text/Event-Stream;charset=UTF-8", "text/event-stream"])
async def test_http_03_the_answer_and_what_trails_it_arrive_on_one_stream(
    reach: Reach, observer: Any, era: str, kind: str
) -> None:
    async def read(request: Request, reply: Reply) -> None:
        stream = await reply.stream(content_type=kind)
        await stream.send(": warming up\r\n\r\n")
        await stream.message({"method": "notifications/message", "params": {"data": "before"}})
        await stream.send(f"data: {answer_of(request)}\r\n\r\n")
        await stream.message({"method": "notifications/resources/list_changed"})
        await stream.end()

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = read
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items
        await observer.wait_for(lambda: observer.changes == 1)
        assert observer.logged("before") == 1


@ERAS
@pytest.mark.case("HTTP-03")
@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
async def test_http_03_a_json_answer_may_spell_its_type_as_it_likes(
    reach: Reach, era: str, kind: str
) -> None:
    async def read(request: Request, reply: Reply) -> None:
        await reply.send(200, "\ufeff" + answer_of(request), content_type=kind)

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = read
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items


@ERAS
@pytest.mark.parametrize("flood", [b":\n", b"data\n:"])
async def test_a_stream_of_nothing_but_short_lines_leaves_others_their_turns(
    reach: Reach, era: str, flood: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However fast the machine is, each part takes long.
    monkeypatch.setattr(parts, "STRETCH", 0.0)
    whole = flood * (1_000_000 // len(flood))

    async def read(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.send(whole + b"\n\n")
        await stream.result(request, TEXT)
        await stream.end()

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = read
    async with HttpServer(mcp) as server, reach(server) as connection:
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                await anyio.lowlevel.checkpoint()
                turns += 1

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(others)
            assert (await connection.read("memo://a")).items
            tasks.cancel_scope.cancel()
    assert turns > len(whole) // parts.PART


@ERAS
async def test_a_stream_that_stays_open_after_the_answer_holds_nobody(reach: Reach, era: str) -> None:
    closed = anyio.Event()

    async def read(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.result(request, TEXT)
        await stream.closed()
        closed.set()

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = read
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items
        assert not closed.is_set()
        with anyio.fail_after(20):
            await closed.wait()


async def cut(request: Request, reply: Reply) -> None:
    stream = await reply.stream()
    await stream.send(": nothing yet\n\n")
    stream.cut()


async def primed_and_cut(request: Request, reply: Reply) -> None:
    stream = await reply.stream()
    await stream.send("id: r1\nretry: 30\ndata:\n\n")
    stream.cut()


@pytest.mark.case("HTTP-03")
@pytest.mark.parametrize("proper", [True, False])
async def test_http_03_a_cut_stream_with_ids_is_resumed(reach: Reach, proper: bool) -> None:
    async def primed(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.send("id: r1\nretry: 30\ndata:\n\n")
        if proper:
            await stream.end()
        else:
            stream.cut()

    asked: list[Request] = []

    async def read(request: Request, reply: Reply) -> None:
        asked.append(request)
        await primed(request, reply)

    async def stream_of(request: Request, reply: Reply) -> None:
        if "last-event-id" not in request.headers:
            await reply.send(405)
        elif request.headers["last-event-id"] == "r1":
            stream = await reply.stream()
            await stream.message({"method": "notifications/message", "params": {"data": "x"}}, id="r2")
            stream.cut()
        else:
            stream = await reply.stream()
            await stream.result(asked[0], TEXT, id="r3")
            await stream.end()

    mcp = HttpMcp()
    mcp.on["resources/read"], mcp.on["GET"] = read, stream_of
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items
        resumptions = [
            request for request in server.received(verb="GET") if "last-event-id" in request.headers
        ]
        assert [request.headers["last-event-id"] for request in resumptions] == ["r1", "r2"]
        assert {request.headers["mcp-session-id"] for request in resumptions} == {"session-1"}
        assert len(asked) == 1


@pytest.mark.case("HTTP-03")
async def test_http_03_a_resumption_that_is_refused_fails_the_request_alone(reach: Reach) -> None:
    mcp = HttpMcp()
    mcp.on["resources/read"] = in_turn(primed_and_cut, mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(Exception, match="405"):
            await connection.read("memo://a")
        assert (await connection.read("memo://a")).items


@pytest.mark.case("HTTP-03")
async def test_http_03_a_resumption_that_never_gets_further_gives_up(reach: Reach) -> None:
    async def nothing(request: Request, reply: Reply) -> None:
        if "last-event-id" in request.headers:
            await (await reply.stream()).end()
        else:
            await reply.send(405)

    mcp = HttpMcp()
    mcp.on["resources/read"], mcp.on["GET"] = primed_and_cut, nothing
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(ConnectionLost, match="broke off"):
            await connection.read("memo://a")
        assert not connection.closed
        assert len(server.received(verb="GET")) <= 7


@pytest.mark.case("HTTP-03")
async def test_http_03_a_cut_stream_without_ids_fails_the_request_in_the_handshake_era(reach: Reach) -> None:
    mcp = HttpMcp()
    mcp.on["resources/read"] = in_turn(cut, mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(ConnectionLost, match="broke off"):
            await connection.read("memo://a")
        assert (await connection.read("memo://a")).items


@pytest.mark.case("HTTP-03")
@pytest.mark.case("PAG-03")
async def test_pag_03_a_page_whose_stream_is_cut_leaves_the_earlier_ones(reach: Reach) -> None:
    async def first(request: Request, reply: Reply) -> None:
        await reply.result(request, {"resources": [{"uri": "a://1", "name": "one"}], "nextCursor": "two"})

    mcp = HttpMcp()
    mcp.on["resources/list"] = in_turn(first, cut)
    async with HttpServer(mcp) as server, reach(server) as connection:
        listing = await connection.list_resources()
    assert [entry.uri for entry in listing.entries] == ["a://1"]
    assert "broke off" in (listing.partial or "")


@pytest.mark.case("HTTP-03")
async def test_http_03_a_cut_stream_is_asked_for_once_more_in_the_stateless_era(reach: Reach) -> None:
    mcp = HttpMcp("modern")
    mcp.on["resources/read"] = in_turn(primed_and_cut, mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items
        first, second = server.received("resources/read")
        assert first.message["id"] != second.message["id"]
        assert "last-event-id" not in second.headers


@pytest.mark.case("HTTP-03")
async def test_http_03_a_stream_that_is_always_cut_fails_after_the_second_time(reach: Reach) -> None:
    mcp = HttpMcp("modern")
    mcp.on["resources/read"] = cut
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(ConnectionLost, match="broke off"):
            await connection.read("memo://a")
        assert len(server.received("resources/read")) == 2
        assert (await connection.list_resources()).entries


@ERAS
async def test_a_connection_that_is_dropped_before_any_answer_is_tried_once_more(
    reach: Reach, era: str
) -> None:
    async def drop(request: Request, reply: Reply) -> None:
        reply.cut()

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = in_turn(drop, mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items
        assert len(server.received("resources/read")) == 2


@ERAS
async def test_an_error_without_an_id_answers_the_request_of_its_stream(reach: Reach, era: str) -> None:
    async def nameless(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        await stream.message({"id": None, "error": {"code": -32603, "message": "out of paper"}})
        await stream.end()

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = nameless
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(ServerError, match="out of paper") as caught:
            await connection.read("memo://a")
        assert caught.value.code == -32603


@ERAS
@pytest.mark.parametrize("body", ["[]", "nothing", '{"jsonrpc":"2.0","id":999,"result":{}}'])
async def test_nonsense_fails_the_request_at_once(reach: Reach, era: str, body: str) -> None:
    async def nonsense(request: Request, reply: Reply) -> None:
        await reply.send(200, body, content_type="application/json")

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = nonsense
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(InvalidResult):
            await connection.read("memo://a")
        assert (await connection.list_resources()).entries


@ERAS
@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("encoding", [None, "gzip", "deflate"])
async def test_the_limit_is_counted_on_what_a_body_really_is(
    reach: Reach, era: str, streamed: bool, encoding: str | None
) -> None:
    async def bomb(request: Request, reply: Reply) -> None:
        padding = "x" * 4_000_000
        body = answer_of(request).replace("hello", padding)
        data = (f"data: {body}\n\n" if streamed else body).encode()
        packed = {"gzip": gzip.compress, "deflate": zlib.compress}.get(encoding or "", bytes)(data)
        kind = "text/event-stream" if streamed else "application/json"
        named = {"content_encoding": encoding} if encoding else {}
        await reply.send(200, packed, content_type=kind, **named)

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = bomb
    async with HttpServer(mcp) as server:
        async with reach(server, limits=Limits(read_bytes=1_000_000)) as connection:
            with pytest.raises(TooLarge, match="1000000 bytes"):
                await connection.read("memo://a")
            assert (await connection.list_resources()).entries
        async with reach(server) as connection:
            assert (await connection.read("memo://a")).items


async def test_giving_up_closes_the_stream_and_says_nothing_in_the_stateless_era(reach: Reach) -> None:
    closed = anyio.Event()

    async def never(request: Request, reply: Reply) -> None:
        await (await reply.stream()).closed()
        closed.set()

    mcp = HttpMcp("modern")
    mcp.on["resources/read"] = never
    async with HttpServer(mcp) as server, reach(server, timing=Timing(request=0.3)) as connection:
        with pytest.raises(RequestTimeout):
            await connection.read("memo://a")
        with anyio.fail_after(20):
            await closed.wait()
        assert (await connection.list_resources()).entries
        assert not server.received("notifications/cancelled")


async def test_giving_up_is_said_in_words_in_the_handshake_era(reach: Reach) -> None:
    async def never(request: Request, reply: Reply) -> None:
        await (await reply.stream()).closed()

    mcp = HttpMcp()
    mcp.on["resources/read"] = never
    async with HttpServer(mcp) as server, reach(server, timing=Timing(request=0.3)) as connection:
        with pytest.raises(RequestTimeout):
            await connection.read("memo://a")
        notice = await server.wait_received("notifications/cancelled")
        read = server.received("resources/read")[0]
        assert notice.message["params"]["requestId"] == read.message["id"]


@ERAS
async def test_progress_on_the_stream_keeps_a_slow_read_alive(reach: Reach, era: str) -> None:
    async def slow(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        token = request.message["params"]["_meta"]["progressToken"]
        for step in range(5):
            await anyio.sleep(0.15)
            params = {"progressToken": token, "progress": step}
            await stream.message({"method": "notifications/progress", "params": params})
        await stream.result(request, TEXT)
        await stream.end()

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = slow
    async with HttpServer(mcp) as server, reach(server, timing=Timing(request=0.4)) as connection:
        assert (await connection.read("memo://a")).items


@ERAS
async def test_connections_are_used_again(reach: Reach, era: str) -> None:
    async with HttpServer(HttpMcp(era, capabilities={"resources": {}})) as server:
        async with reach(server) as connection:
            for _ in range(20):
                await connection.read("memo://a")
        assert server.connections <= 3


@ERAS
@pytest.mark.case("HTTP-03")
async def test_http_03_an_event_of_another_name_is_no_message(reach: Reach, era: str) -> None:
    async def read(request: Request, reply: Reply) -> None:
        stream = await reply.stream()
        wrong = {"contents": [{"uri": "memo://a", "text": "wrong"}]}
        await stream.result(request, wrong, event="ping")
        await stream.result(request, TEXT)
        await stream.end()

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = read
    async with HttpServer(mcp) as server, reach(server) as connection:
        (item,) = (await connection.read("memo://a")).items
        assert "hello" in repr(item)


@pytest.mark.case("HTTP-03")
async def test_http_03_a_stream_that_breaks_off_after_each_event_is_followed_to_its_end(reach: Reach) -> None:
    asked: list[Request] = []

    async def read(request: Request, reply: Reply) -> None:
        asked.append(request)
        stream = await reply.stream()
        await stream.send("id: 0\nretry: 1\ndata:\n\n")
        stream.cut()

    async def go_on(request: Request, reply: Reply) -> None:
        if "last-event-id" not in request.headers:
            await reply.send(405)
            return
        number = int(request.headers["last-event-id"]) + 1
        stream = await reply.stream()
        if number < 2 * RESUMPTIONS:
            await stream.message({"method": "notifications/message", "params": {"data": "x"}}, id=number)
            stream.cut()
        else:
            await stream.result(asked[0], TEXT, id=number)
            await stream.end()

    mcp = HttpMcp()
    mcp.on["resources/read"], mcp.on["GET"] = read, go_on
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items
        assert len(asked) == 1

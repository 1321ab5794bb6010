"""A remote server that is replaced by one of the other era: every call goes on as if nothing had happened."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from tests.support.http_mcp import HttpMcp, acknowledge
from tests.support.http_server import Handler, HttpServer, Reply, Request, Stream
from tests.support.hubs import News, hub_of

from mcp_lectern.hub import link
from mcp_lectern.hub.hub import Hub
from mcp_lectern.hub.status import State

pytestmark = pytest.mark.anyio
LIVE = {"resources": {"subscribe": True, "listChanged": True}, "completions": {}}
BOTH_WAYS = pytest.mark.parametrize(
    ("before", "after"), [("legacy", "modern"), ("modern", "legacy")], ids=["up", "down"]
)
ERAS = {"legacy": "handshake", "modern": "stateless"}


def server_of(era: str, text: str) -> Handler:
    """A server of this era alone, whose one resource has this text."""
    mcp = HttpMcp(era, capabilities=LIVE)

    async def read(request: Request, reply: Reply) -> None:
        await reply.result(request, {"contents": [{"uri": "memo://a", "text": text}]})

    async def nothing(request: Request, reply: Reply) -> None:
        await reply.result(request, {})

    async def complete(request: Request, reply: Reply) -> None:
        await reply.result(request, {"completion": {"values": [text]}})

    for method, handler in {
        "resources/read": read,
        "resources/subscribe": nothing,
        "completion/complete": complete,
    }.items():
        mcp.on[method] = _guarded(mcp, handler)

    async def strict(request: Request, reply: Reply) -> None:
        stated = request.headers.get("mcp-protocol-version") == "2026-07-28"
        if era == "modern" and request.verb == "POST" and not stated:
            error = {"code": -32022, "message": "Unsupported", "data": {"supported": ["2026-07-28"]}}
            await reply.json({"jsonrpc": "2.0", "id": request.message.get("id"), "error": error}, 400)
        else:
            await mcp(request, reply)

    return strict


def _guarded(mcp: HttpMcp, handler: Handler) -> Handler:
    """A server of the handshake era answers nobody who has not shaken hands."""

    async def answer(request: Request, reply: Reply) -> None:
        session = mcp.sessions[-1] if mcp.sessions else "none"
        if mcp.era == "legacy" and request.headers.get("mcp-session-id") != session:
            await reply.error(request, -32000, "Bad Request: Server not initialized", 400)
        else:
            await handler(request, reply)

    return answer


@contextlib.asynccontextmanager
async def far(era: str) -> AsyncIterator[tuple[HttpServer, Hub, News]]:
    """A hub that knows one server, which can be replaced by another at its address."""
    async with (
        HttpServer(server_of(era, "old")) as server,
        hub_of({"far": {"url": server.url}}) as (hub, news),
    ):
        yield server, hub, news


def text(result: Any) -> str:
    (item,) = result.items
    assert isinstance(item.text, str)
    return item.text


@pytest.mark.case("VER-01")
@BOTH_WAYS
async def test_ver_01_reads_go_on_and_the_list_is_walked_again(before: str, after: str) -> None:
    async with far(before) as (server, hub, _):
        assert text(await hub.read("far", "memo://a")) == "old"
        await hub.ensure_listed()
        lists = len(server.received("resources/list"))
        server._handler = server_of(after, "new")
        reads = len(server.received("resources/read"))
        assert text(await hub.read("far", "memo://a")) == "new"
        assert len(server.received("resources/read")) == reads + 2
        await hub.ensure_listed()
        assert len(server.received("resources/list")) == lists + 1
        (status,) = hub.status()
        assert (status.state, status.era, status.last_error) == (State.READY, ERAS[after], None)


@pytest.mark.case("VER-01")
@BOTH_WAYS
async def test_ver_01_completing_and_listing_again_go_on(before: str, after: str) -> None:
    async with far(before) as (server, hub, _):
        await hub.ensure_listed()
        server._handler = server_of(after, "new")
        assert (await hub.complete("far", "a://{b}", "b", "", {})).values == ("new",)
        server._handler = server_of(before, "old")
        await hub.list_again(["far"])
        (status,) = hub.status()
        assert (status.state, status.era, status.partial) == (State.READY, ERAS[before], None)


@pytest.mark.case("SUB-02")
@BOTH_WAYS
async def test_sub_02_subscriptions_come_back_and_open_documents_are_read_again(
    before: str, after: str
) -> None:
    async with far(before) as (server, hub, news):
        hub.opened("far", "memo://a")
        await hub.read("far", "memo://a")
        await news.until(lambda: hub.status()[0].subscriptions == 1)
        server._handler = server_of(after, "new")
        await hub.list_again(["far"])
        await news.until(lambda: hub.status()[0].subscriptions == 1)
        await news.until(lambda: ("far", "memo://a") in news.contents)
        kept = hub.contents.kept("far", "memo://a")
        assert text(kept) == "new"


@pytest.mark.case("SUB-02")
@BOTH_WAYS
async def test_sub_02_a_change_is_found_out_while_nobody_asks_for_anything(before: str, after: str) -> None:
    streams: list[Stream] = []
    first = server_of(before, "old")

    async def noting(request: Request, reply: Reply) -> None:
        if request.verb != "GET" and request.method != "subscriptions/listen":
            await first(request, reply)
            return
        streams.append(await reply.stream())
        if request.verb == "POST":
            await acknowledge(streams[-1], request)
        await streams[-1].closed()

    async with far(before) as (server, hub, news):
        server._handler = noting
        hub.opened("far", "memo://a")
        await hub.read("far", "memo://a")
        await news.until(lambda: hub.status()[0].subscriptions == 1)
        server._handler = server_of(after, "new")
        for stream in streams:
            stream.cut()
        await news.until(lambda: hub.status()[0].era == ERAS[after])
        await news.until(lambda: ("far", "memo://a") in news.contents)
        assert hub.status()[0].subscriptions == 1


@pytest.mark.case("IO-05")
async def test_io_05_a_server_that_goes_to_and_fro_is_opened_ever_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    delays: list[float] = []
    right = link.Link._ended

    def noted(self: link.Link, error: Any, uptime: float) -> float | None:
        delay = right(self, error, uptime)
        delays.append(delay or 0.0)
        return delay

    monkeypatch.setattr(link.Link, "_ended", noted)
    async with far("legacy") as (server, hub, _):
        for number in range(4):
            era = ("legacy", "modern")[number % 2]
            server._handler = server_of(era, str(number))
            with anyio.fail_after(20):
                assert text(await hub.read("far", "memo://a")) == str(number)
    assert delays == [0.0, 2.0, 4.0]

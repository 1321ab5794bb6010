"""What a connection promises, the same over every transport and in every era."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from tests.support.http_bridge import bridged
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.mcp.connect import Connection, Limits, Root, Timing
from mcp_lectern.mcp.errors import McpError, RequestTimeout, ResourceNotFound, ServerError, TooLarge
from mcp_lectern.mcp.wire.resources import BlobItem, TextItem

pytestmark = pytest.mark.anyio
HANDSHAKES = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
ENTRIES = [{"uri": f"memo://{number}", "name": f"n{number}"} for number in range(7)]
TEMPLATES = [{"uriTemplate": "memo://{x}", "name": "t"}]


@dataclass(frozen=True)
class World:
    """One cell of the matrix: opens a connection to a scripted server with these keys."""

    kind: str
    version: str
    script: Callable[..., ScriptedServer]
    over: dict[str, Callable[..., AbstractAsyncContextManager[Connection]]]

    @property
    def modern(self) -> bool:
        return self.version == "2026-07-28"

    @asynccontextmanager
    async def connect(
        self, *, options: dict[str, Any] | None = None, **keys: Any
    ) -> AsyncIterator[tuple[Connection, ScriptedServer]]:
        era = {"era": "modern"} if self.modern else {"era": "legacy", "versions": [self.version]}
        server = self.script(**era, **keys)
        if self.kind == "stdio":
            async with self.over["stdio"](server, **(options or {})) as connection:
                yield connection, server
            return
        era_name = "modern" if self.modern else "legacy"
        async with (
            bridged(server, self.kind, era_name) as http,
            self.over["http"](http, **(options or {})) as connection,
        ):
            yield connection, server


MATRIX = [(kind, version) for kind in ("stdio", "http", "sse") for version in [*HANDSHAKES, "2026-07-28"]]
MATRIX.remove(("sse", "2026-07-28"))


CORNERS = [(kind, version) for kind, version in MATRIX if version in ("2025-11-25", "2026-07-28")]


@pytest.fixture(params=MATRIX, ids="-".join)
def world(request: pytest.FixtureRequest, script: Any, connected: Any, reach: Any) -> World:
    kind, version = request.param
    return World(kind, version, script, {"stdio": connected, "http": reach})


@pytest.fixture(params=CORNERS, ids="-".join)
def corner(request: pytest.FixtureRequest, script: Any, connected: Any, reach: Any) -> World:
    """The newest revision of each era alone, for what takes its time."""
    kind, version = request.param
    return World(kind, version, script, {"stdio": connected, "http": reach})


async def test_the_version_is_agreed_on(world: World) -> None:
    async with world.connect() as (connection, _):
        assert connection.protocol_version == world.version
        assert connection.era == ("stateless" if world.modern else "handshake")
        assert connection.transport == world.kind
        assert connection.server_info is not None
        assert connection.server_info.name == "scripted"


async def test_lists_and_reads(world: World) -> None:
    contents: dict[str, Any] = {
        "memo://0": "text",
        "memo://1": [{"uri": "memo://1", "blob": base64.b64encode(b"\0\1").decode()}],
    }
    keys = {"resources": ENTRIES, "templates": TEMPLATES, "contents": contents, "page_size": 3}
    async with world.connect(**keys) as (connection, _):
        listing = await connection.list_resources()
        assert [entry.uri for entry in listing.entries] == [entry["uri"] for entry in ENTRIES]
        assert listing.partial is None
        assert [entry.uri_template for entry in (await connection.list_templates()).entries] == ["memo://{x}"]
        (text,) = (await connection.read("memo://0")).items
        assert isinstance(text, TextItem)
        assert text.text == "text"
        (blob,) = (await connection.read("memo://1")).items
        assert isinstance(blob, BlobItem)


async def test_errors_cost_one_call(world: World) -> None:
    errors = [
        {"error": {"code": -32603, "message": "broken"}},
        {"error": {"code": "odd", "message": "what"}},
        {},
    ]
    keys = {"contents": {"memo://0": "text"}, "answers": {"resources/read": errors}}
    async with world.connect(**keys) as (connection, _):
        with pytest.raises(ServerError, match="broken") as caught:
            await connection.read("memo://0")
        assert caught.value.retryable
        with pytest.raises(ServerError, match="what") as second:
            await connection.read("memo://0")
        assert second.value.code == "odd"
        assert (await connection.read("memo://0")).items
        with pytest.raises(ResourceNotFound):
            await connection.read("memo://missing")


@pytest.mark.case("CAP-01")
async def test_cap_01_what_is_missing_is_not_asked_for_twice(world: World) -> None:
    missing = {"resources/templates/list": {"error": {"code": -32601, "message": "Method not found"}}}
    async with world.connect(resources=ENTRIES, answers=missing) as (connection, server):
        for _ in range(2):
            assert (await connection.list_templates()).entries == ()
        assert len((await connection.list_resources()).entries) == 7
        assert len(server.received("resources/templates/list")) == 1


async def test_many_reads_at_once_get_their_own_answers(corner: World) -> None:
    contents = {f"memo://{number}": f"text {number}" for number in range(100)}
    texts: dict[str, str] = {}
    async with corner.connect(contents=contents) as (connection, _):

        async def read(uri: str) -> None:
            (item,) = (await connection.read(uri)).items
            assert isinstance(item, TextItem)
            texts[uri] = item.text

        async with anyio.create_task_group() as tasks:
            for uri in contents:
                tasks.start_soon(read, uri)
    assert texts == contents


@pytest.mark.case("RD-08")
async def test_rd_08_a_large_answer_arrives_and_too_large_a_one_costs_one_call(corner: World) -> None:
    contents = {"memo://big": "x" * 12_000_000, "memo://huge": "x" * 30_000_000, "memo://small": "x"}
    limits = {"limits": Limits(read_bytes=20_000_000)}
    async with corner.connect(options=limits, contents=contents) as (connection, _):
        (item,) = (await connection.read("memo://big")).items
        assert isinstance(item, TextItem)
        assert len(item.text) == 12_000_000
        with pytest.raises(TooLarge, match="20000000"):
            await connection.read("memo://huge")
        assert (await connection.read("memo://small")).items


async def test_giving_up_is_told_to_the_server(corner: World) -> None:
    answers = {"resources/read": [{"silent": True}, {}]}
    timing = {"timing": Timing(request=0.5)}
    async with corner.connect(options=timing, answers=answers, contents={"memo://0": "x"}) as (
        connection,
        server,
    ):
        with pytest.raises(RequestTimeout):
            await connection.read("memo://0")
        notice = await server.wait_received("notifications/cancelled")
        assert notice["params"]["requestId"] == server.received("resources/read")[0]["id"]
        assert (await connection.read("memo://0")).items


async def test_progress_keeps_a_slow_read_alive(corner: World) -> None:
    async with (
        corner.connect(
            options={"timing": Timing(request=1.5)},
            contents={"memo://0": "x"},
            answers={"resources/read": {"gate": "go"}},
        ) as (connection, server),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(connection.read, "memo://0")
        read = await server.wait_received("resources/read")
        token = read["params"]["_meta"]["progressToken"]
        for step in range(4):
            await anyio.sleep(0.6)
            params = {"progressToken": token, "progress": step}
            server.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        server.open("go")


async def test_a_change_of_the_list_is_heard(world: World, observer: Any) -> None:
    async with world.connect(resources=ENTRIES) as (connection, server):
        assert len((await connection.list_resources()).entries) == 7
        if world.modern:
            await server.wait_received("subscriptions/listen")
        server.change(resources=ENTRIES[:2])
        await observer.wait_for(lambda: observer.changes >= 1)
        assert len((await connection.list_resources()).entries) == 2


async def test_a_subscription_brings_updates(world: World, observer: Any) -> None:
    capabilities = {"resources": {"subscribe": True, "listChanged": True}}
    async with world.connect(capabilities=capabilities, contents={"memo://0": "x"}) as (connection, server):
        connection.subscribe("memo://0")
        await observer.wait_for(lambda: "memo://0" in connection.subscriptions)
        server.notify("notifications/resources/updated", {"uri": "memo://0"})
        await observer.wait_for(lambda: "memo://0" in observer.updates)
        connection.unsubscribe("memo://0")


async def test_the_servers_requests_are_answered_where_the_era_has_answers(world: World) -> None:
    roots = {"roots": lambda: [Root("file:///home/x", "x")]}
    async with world.connect(options=roots, resources=ENTRIES) as (connection, server):
        await connection.list_resources()
        for number, method in enumerate(["ping", "roots/list", "sampling/createMessage"]):
            server.send({"jsonrpc": "2.0", "id": f"q{number}", "method": method})
        answers = {}
        if not world.modern:
            with anyio.fail_after(20):
                while len(answers) < 3:
                    await anyio.sleep(0.01)
                    answers = {m["id"]: m for m in server.received() if str(m.get("id", "")).startswith("q")}
            assert answers["q0"]["result"] == {}
            assert answers["q1"]["result"]["roots"][0]["uri"] == "file:///home/x"
            assert answers["q2"]["error"]["code"] == -32601
        assert (await connection.list_resources()).entries
        assert not [m for m in server.received() if world.modern and "method" not in m]


async def test_the_end_of_the_server_is_noticed_or_costs_the_calls_under_way(corner: World) -> None:
    answers = {"resources/read": {"exit": 3}}
    async with corner.connect(answers=answers) as (connection, _):
        with pytest.raises(McpError):
            await connection.read("memo://0")
        if corner.kind != "http":
            with anyio.fail_after(20):
                await connection.wait_closed()

"""A remote server that is replaced by one of the other era, while nothing closes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest
from tests.support.http_mcp import HttpMcp
from tests.support.http_server import Handler, HttpServer, Reply, Request

from mcp_lectern.mcp.connect import Connection
from mcp_lectern.mcp.eras.change import EraName, Outcome, is_other, is_suspicious
from mcp_lectern.mcp.errors import EraChanged, NotUnderstood, RequestTimeout, ServerError
from mcp_lectern.mcp.wire.failures import Asked
from mcp_lectern.mcp.wire.jsonrpc import Answer, Refusal

Reach = Callable[..., AbstractAsyncContextManager[Connection]]
OTHER: dict[str, Any] = {"data": {"supported": ["2026-07-28"]}}
READ = "resources/read"
LATER = RequestTimeout("too late", server="s")
MODERN = Answer(1, {"supportedVersions": ["2026-07-28"], "capabilities": {}})
OLDER = Answer(1, {"supportedVersions": ["2025-11-25"], "capabilities": {}})


def refused(code: int, message: str = "no", data: Any = None) -> Refusal:
    return Refusal(1, code, message, data)


def status(message: str, method: str = READ) -> NotUnderstood:
    return NotUnderstood(message, server="s", status=400, method=method)


@pytest.mark.parametrize(
    ("era", "method", "outcome", "suspicious"),
    [
        ("handshake", READ, refused(-32022), True),
        ("handshake", READ, refused(-32020), True),
        ("handshake", READ, refused(-32021), True),
        ("handshake", READ, Asked("s", "initialize").refused(refused(-32601)), True),
        ("handshake", READ, status("no", "initialize"), True),
        ("handshake", READ, status("Server not initialized"), False),
        ("handshake", READ, refused(-32601), False),
        ("handshake", READ, LATER, False),
        ("handshake", READ, None, False),
        ("handshake", READ, Answer(1, {}), False),
        ("stateless", READ, refused(-32022), True),
        ("stateless", READ, refused(-32000, "Bad Request: Server not initialized"), True),
        ("stateless", READ, refused(-32600, "Missing session ID"), True),
        ("stateless", READ, refused(-32000, "Unsupported protocol version: 2026-07-28"), True),
        ("stateless", READ, status("400: Mcp-Session-Id header is required"), True),
        ("stateless", READ, status("404: not found"), False),
        ("stateless", READ, refused(-32601), False),
        ("stateless", "subscriptions/listen", refused(-32601), True),
        ("stateless", READ, refused(-32602, "Unknown resource"), False),
        ("stateless", READ, LATER, False),
    ],
)
def test_only_what_the_other_era_would_say_is_suspicious(
    era: EraName, method: str, outcome: Outcome | None, suspicious: bool
) -> None:
    assert is_suspicious(era, method, outcome) == suspicious


@pytest.mark.parametrize(
    ("era", "probed", "other"),
    [
        ("handshake", MODERN, True),
        ("handshake", refused(-32022, data={"supported": ["2026-07-28"]}), True),
        ("handshake", refused(-32022, data={"supported": ["2025-11-25"]}), False),
        ("handshake", OLDER, False),
        ("handshake", refused(-32601), False),
        ("handshake", None, False),
        ("handshake", LATER, False),
        ("stateless", MODERN, False),
        ("stateless", refused(-32021), False),
        ("stateless", OLDER, True),
        ("stateless", refused(-32601), True),
        ("stateless", refused(-32602), True),
        ("stateless", refused(-32000, "Server not initialized"), True),
        ("stateless", refused(-32022, data={"supported": ["2025-11-25"]}), True),
        ("stateless", refused(-32603), False),
        ("stateless", status("400: no session"), True),
        ("stateless", status("404: not found"), False),
        ("stateless", None, False),
        ("stateless", ServerError("x", server="s", method=None, code=1, server_message="x"), False),
    ],
)
def test_only_an_answer_of_the_other_era_is_a_verdict(
    era: EraName, probed: Outcome | None, other: bool
) -> None:
    assert is_other(era, probed) == other


async def unsupported(request: Request, reply: Reply) -> None:
    """What a server of the stateless era alone says to a request of the other."""
    error = {"code": -32022, "message": "Unsupported protocol version", **OTHER}
    await reply.json({"jsonrpc": "2.0", "id": request.message.get("id"), "error": error}, 400)


def strictly_modern() -> Handler:
    modern = HttpMcp("modern")

    async def handler(request: Request, reply: Reply) -> None:
        if request.verb == "POST" and request.headers.get("mcp-protocol-version") != "2026-07-28":
            await unsupported(request, reply)
        else:
            await modern(request, reply)

    return handler


@pytest.mark.anyio
@pytest.mark.case("VER-01")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (HttpMcp(), strictly_modern()),
        (HttpMcp(sessions=False), strictly_modern()),
        (HttpMcp("modern"), HttpMcp()),
    ],
    ids=["with a session", "without", "back"],
)
async def test_ver_01_a_server_of_the_other_era_ends_the_connection_once_it_is_known(
    reach: Reach, before: Handler, after: Handler
) -> None:
    async with HttpServer(before) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items
        probes = len(server.received("server/discover"))
        server._handler = after
        async with anyio.create_task_group() as tasks:

            async def read() -> None:
                with pytest.raises(EraChanged):
                    await connection.read("memo://a")

            for _ in range(5):
                tasks.start_soon(read)
        assert isinstance(await connection.wait_closed(), EraChanged)
        assert len(server.received("server/discover")) == probes + 1


@pytest.mark.anyio
@pytest.mark.case("VER-01")
async def test_ver_01_a_session_that_cannot_be_renewed_since_the_era_is_another(reach: Reach) -> None:
    modern = HttpMcp("modern")
    modern.on["initialize"] = unsupported

    async def lost(request: Request, reply: Reply) -> None:
        if "mcp-session-id" in request.headers:
            await reply.send(404)
        else:
            await modern(request, reply)

    async with HttpServer(HttpMcp()) as server, reach(server) as connection:
        server._handler = lost
        with pytest.raises(EraChanged):
            await connection.read("memo://a")


@pytest.mark.anyio
@pytest.mark.case("VER-01")
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_ver_01_a_wrong_suspicion_costs_one_probe_and_nothing_else(reach: Reach, era: str) -> None:
    mcp = HttpMcp(era)

    async def odd(request: Request, reply: Reply) -> None:
        if era == "legacy":
            await reply.error(request, -32022, "not this version of the database", 400)
        else:
            await reply.error(request, -32000, "the session of the database is not initialized", 400)

    mcp.on["resources/read"] = odd
    async with HttpServer(mcp) as server, reach(server) as connection:
        for _ in range(3):
            with pytest.raises(ServerError, match="of the database"):
                await connection.read("memo://a")
        assert (await connection.list_resources()).entries
        assert not connection.closed
        assert len(server.received("server/discover")) == 2


@pytest.mark.anyio
@pytest.mark.case("VER-01")
async def test_ver_01_a_stream_that_the_server_does_not_know_any_more_tells_of_the_change(
    reach: Reach,
) -> None:
    mcp = HttpMcp("modern")
    older = HttpMcp(sessions=False)

    async def ends(request: Request, reply: Reply) -> None:
        server._handler = older
        await reply.error(request, -32601, "Method not found", 404)

    mcp.on["subscriptions/listen"] = ends
    async with HttpServer(mcp) as server, reach(server) as connection:
        with anyio.fail_after(20):
            assert isinstance(await connection.wait_closed(), EraChanged)

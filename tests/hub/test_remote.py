"""Remote entries in the hub: reached, listed, read, remembered, and told apart from processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.http_bridge import bridged
from tests.support.http_mcp import HttpMcp, in_turn
from tests.support.http_server import HttpServer, Reply, Request
from tests.support.hubs import entries_of, hub_of
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.config.model import Remote
from mcp_lectern.hub import prepare
from mcp_lectern.hub.failure import Refused
from mcp_lectern.hub.status import State
from mcp_lectern.trust.approvals import Approvals

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_remote_server_is_listed_read_and_shown(era: str) -> None:
    async with HttpServer(HttpMcp(era)) as server:
        entry = {"url": server.url, "headers": {"Authorization": "Bearer tiger-7"}}
        async with hub_of({"far": entry}) as (hub, news):
            await hub.ensure_listed()
            assert (await hub.read("far", "memo://a")).items
            (status,) = hub.status()
            assert (status.transport, status.state, status.pid) == ("http", State.READY, None)
            assert status.era == ("handshake" if era == "legacy" else "stateless")
            assert not any("tiger" in line for _, line in news.logs)
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer tiger-7"}


async def test_the_transport_that_was_found_is_shown_and_remembered(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, contents={"a://1": "x"}) as scripted:
        async with bridged(scripted, "sse") as server, hub_of({"far": {"url": server.url}}) as (hub, news):
            assert (await hub.read("far", "a://1")).items
            assert hub.status()[0].transport == "sse"
            posts = [request.target for request in server.requests if request.verb == "POST"]
            scripted.exit(0)
            await news.until(lambda: ("far", "backingOff") in news.states)
            assert (await hub.read("far", "a://1")).items
            again = [request.target for request in server.requests if request.verb == "POST"][len(posts) :]
            assert "/sse" not in again, "neither the probe nor the newer transport is tried again"


async def test_an_era_that_was_found_is_not_probed_for_again() -> None:
    async with HttpServer(HttpMcp()) as server, hub_of({"far": {"url": server.url}}) as (hub, _):
        assert (await hub.read("far", "memo://a")).items
        await hub.restart(["far"])
        assert (await hub.read("far", "memo://a")).items
        assert len(server.received("server/discover")) == 1
        assert len(server.received("initialize")) == 2


async def test_a_remote_server_is_told_no_folders_by_default() -> None:
    async with HttpServer(HttpMcp()) as server:
        for entry, offered in (({}, False), ({"roots": True}, True)):
            async with hub_of({"far": {"url": server.url, **entry}}) as (hub, _):
                await hub.read("far", "memo://a")
            greeting = server.received("initialize")[-1].message["params"]["capabilities"]
            assert ("roots" in greeting) == offered


async def test_a_server_that_is_not_there_is_tried_again_by_itself(tmp_path: Path) -> None:
    async with HttpServer(HttpMcp()) as server:
        url = server.url
    async with hub_of({"far": {"url": url}}) as (hub, _):
        with pytest.raises(Refused, match="Connection refused") as caught:
            await hub.read("far", "memo://a")
        assert caught.value.failure.kind == "serverFailed"
        assert hub.states()["far"] is State.BACKING_OFF


async def test_credentials_that_are_refused_wait_for_their_owner() -> None:
    async def refuse(request: Request, reply: Reply) -> None:
        await reply.send(401)

    async with HttpServer(refuse) as server:
        entry = {"url": server.url, "headers": {"Authorization": "Bearer tiger-7"}}
        async with hub_of({"far": entry}) as (hub, _):
            with pytest.raises(Refused, match="refused the credentials") as caught:
                await hub.read("far", "memo://a")
            assert caught.value.failure.kind == "serverFailed"
            assert hub.states()["far"] is State.FAILED


async def test_a_retry_after_at_the_start_sets_the_back_off() -> None:
    async def busy(request: Request, reply: Reply) -> None:
        await reply.send(503, retry_after="40")

    mcp = HttpMcp()
    mcp.on["server/discover"] = in_turn(busy, mcp.serve)
    async with HttpServer(mcp) as server, hub_of({"far": {"url": server.url}}) as (hub, _):
        with pytest.raises(Refused, match="try again in 40 s"):
            await hub.read("far", "memo://a")
        assert hub.states()["far"] is State.BACKING_OFF
        assert (await hub.read("far", "memo://a")).items, "an explicit wish overrides it"


def test_a_proxy_or_an_authority_from_an_untrusted_source_is_not_used(tmp_path: Path) -> None:
    network = {"network": {"proxy": "http://evil:1", "caFile": "/evil.pem"}}
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"servers": {"far": {"url": "https://x"}}}))

    def prepared(**options: Any) -> tuple[Remote, tuple[str, ...]]:
        request = prepare.Request(
            layers=prepare.layer("the client", network), config_files=[config], discover=False, **options
        )
        found = prepare.prepare(request, approvals=Approvals(tmp_path / "approvals.json"))
        launched = found.entries[0].launched
        assert isinstance(launched, Remote)
        return launched, found.warnings

    untrusted, warnings = prepared()
    assert (untrusted.proxy, untrusted.ca_file) == (None, None)
    assert any("“network.proxy”" in warning for warning in warnings)
    trusted, warnings = prepared(trusted_settings=True)
    assert (trusted.proxy, trusted.ca_file) == ("http://evil:1", Path("/evil.pem"))
    assert warnings == ()


def test_credentials_in_the_clear_are_told_at_once() -> None:
    prepared = entries_of(
        {"far": {"url": "http://x.example", "headers": {"Authorization": "Bearer tiger-7"}}}
    )
    (warning,) = prepared.warnings
    assert "far" in warning
    assert "tiger" not in warning


@pytest.mark.case("SUB-01")
async def test_sub_01_a_server_that_promises_notices_and_has_no_way_to_give_them_is_shown_as_such() -> None:
    async def missing(request: Request, reply: Reply) -> None:
        await reply.error(request, -32601, "Method not found", 404)

    mcp = HttpMcp("modern")
    mcp.on["subscriptions/listen"] = missing
    async with HttpServer(mcp) as server, hub_of({"far": {"url": server.url}}) as (hub, news):
        await hub.ensure_listed()
        await news.until(lambda: "subscriptions/listen" in (hub.status()[0].last_error or ""))
        assert hub.states()["far"] is State.READY

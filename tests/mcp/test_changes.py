"""Change notices, in both eras."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from mcp_lectern.mcp.client.listening import Listening

from .conftest import Connect, RecordingObserver, Script

pytestmark = pytest.mark.anyio

CHANGED = {"notify": ["notifications/resources/list_changed"]}
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


@pytest.mark.case("PAG-04")
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_pag_04_a_change_is_told_and_the_new_list_is_there(
    era: str, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(era=era, resources=[{"uri": "a"}])
    async with connected(server) as connection:
        assert len((await connection.list_resources()).entries) == 1
        server.change(resources=[{"uri": "b"}, {"uri": "c"}])
        await observer.wait_for(lambda: observer.changes == 1)
        assert [entry.uri for entry in (await connection.list_resources()).entries] == ["b", "c"]


@pytest.mark.case("PAG-04")
@pytest.mark.parametrize(
    "answers",
    [
        {"initialize": {"before": [CHANGED]}},
        {"initialize": {"after": [CHANGED]}},
        {"notifications/initialized": {"before": [CHANGED]}},
        {"resources/list": {"before": [CHANGED]}},
        {"resources/list": {"after": [CHANGED]}},
    ],
)
async def test_pag_04_a_notice_at_any_moment_is_told_once(
    answers: dict[str, Any], script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    async with connected(script(answers=answers, resources=[{"uri": "a"}])) as connection:
        assert len((await connection.list_resources()).entries) == 1
        await observer.wait_for(lambda: observer.changes == 1)
        await connection.list_templates()
    assert observer.changes == 1


@pytest.mark.case("PAG-04")
async def test_pag_04_a_notice_between_two_pages_is_told_before_the_walk_ends(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    pages = [
        {"result": {"resources": [{"uri": "a"}], "nextCursor": "2"}, "after": [CHANGED]},
        {"result": {"resources": [{"uri": "b"}]}},
    ]
    async with connected(script(answers={"resources/list": pages})) as connection:
        await connection.list_resources()
        assert observer.changes == 1


async def test_updates_are_passed_on(script: Script, connected: Connect, observer: RecordingObserver) -> None:
    notices = [
        {"notify": ["notifications/resources/updated", {"uri": "a://1"}]},
        {"notify": ["notifications/resources/updated"]},
    ]
    async with connected(script(answers={"resources/list": {"before": notices}})) as connection:
        await connection.list_resources()
    assert observer.updates == ["a://1", None]


async def test_a_server_without_list_changes_is_not_listened_to(script: Script, connected: Connect) -> None:
    server = script(era="modern", capabilities={"resources": {}})
    async with connected(server) as connection:
        await connection.list_resources()
    assert not server.received("subscriptions/listen")


async def test_the_listen_stream_is_open_before_anything_is_listed(
    script: Script, connected: Connect
) -> None:
    server = script(era="modern")
    async with connected(server) as connection:
        await connection.list_resources()
    methods = [message["method"] for message in server.received()]
    assert methods == ["server/discover", "subscriptions/listen", "resources/list"]
    assert server.received("subscriptions/listen")[0]["params"]["notifications"] == {
        "resourcesListChanged": True
    }


@pytest.mark.case("SUB-01")
@pytest.mark.parametrize("granted", [{}, {"resourcesListChanged": False}, {"toolsListChanged": True}])
async def test_sub_01_an_empty_acknowledgement_is_no_subscription(
    granted: dict[str, Any], script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    acknowledgement = {
        "method": ACKNOWLEDGED,
        "params": {"_meta": {SUBSCRIPTION: 2}, "notifications": granted},
    }
    listen = {"before": [{"request": acknowledgement}], "silent": True}
    server = script(era="modern", answers={"subscriptions/listen": listen})
    async with connected(server) as connection:
        await observer.wait_for(lambda: observer.logged("grants no notices") == 1)
        cancelled = await server.wait_received("notifications/cancelled")
        assert cancelled["params"]["requestId"] == 2
        await connection.list_resources()
    assert len(server.received("subscriptions/listen")) == 1


@pytest.mark.case("SUB-01")
async def test_sub_01_a_refused_listen_is_quiet(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    refused = {"error": {"code": -32601, "message": "Method not found"}}
    server = script(era="modern", answers={"subscriptions/listen": refused}, resources=[{"uri": "a"}])
    async with connected(server) as connection:
        assert len((await connection.list_resources()).entries) == 1
        await observer.wait_for(lambda: observer.logged("refuses subscriptions/listen") == 1)
    assert len(server.received("subscriptions/listen")) == 1


@pytest.mark.case("SUB-02")
@pytest.mark.parametrize("way", ["result", "cancelled"])
async def test_sub_02_a_closed_stream_is_opened_again_and_what_was_missed_is_told(
    way: str, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(era="modern")
    async with connected(server):
        first = await server.wait_received("subscriptions/listen")
        if way == "result":
            server.send({"jsonrpc": "2.0", "id": first["id"], "result": {"resultType": "complete"}})
        else:
            params = {"requestId": first["id"]}
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        second = await server.wait_received("subscriptions/listen", 2)
        assert second["id"] != first["id"]
        await observer.wait_for(lambda: observer.changes == 1)
    cancelled = [message["params"]["requestId"] for message in server.received("notifications/cancelled")]
    assert first["id"] not in cancelled


async def test_a_dead_server_ends_the_listening(script: Script, connected: Connect) -> None:
    server = script(era="modern")
    async with connected(server) as connection:
        await server.wait_received("subscriptions/listen")
        server.exit(0)
        with anyio.fail_after(5):
            assert (await connection.wait_closed()).exit_code == 0


@pytest.mark.parametrize(
    ("params", "line"),
    [
        ({"level": "warning", "logger": "db", "data": "slow"}, "the server says (warning, db): slow"),
        ({"level": "info", "data": {"a": [1]}}, 'the server says (info): {"a": [1]}'),
        ({"data": "x" * 1000}, f"the server says: {'x' * 500}"),
        ({}, "the server says: null"),
        ({"level": 7, "logger": None, "data": ["\u001b"]}, 'the server says: ["\\u001b"]'),
    ],
)
async def test_what_a_server_logs_goes_into_its_log(
    params: dict[str, Any], line: str, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    logging = {"resources/list": {"before": [{"notify": ["notifications/message", params]}]}}
    async with connected(script(answers=logging)) as connection:
        await connection.list_resources()
    assert observer.logged(line) == 1


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream is opened again after moments."""
    monkeypatch.setattr(Listening, "_delay", 0.01)


@pytest.mark.case("SUB-02")
@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("code", [-32603, -32000, -32602])
async def test_sub_02_a_refusal_of_what_exists_passes(
    code: int, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    refused = {"error": {"code": code, "message": "starting up"}}
    server = script(era="modern", answers={"subscriptions/listen": [refused, refused, {}]})
    async with connected(server) as connection:
        await server.wait_received("subscriptions/listen", 3)
        server.change()
        await observer.wait_for(lambda: observer.changes == 1)
        assert connection.trouble is None


@pytest.mark.case("SUB-01")
async def test_sub_01_a_promise_that_is_not_kept_is_told(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    missing = {"error": {"code": -32601, "message": "Method not found"}}
    server = script(era="modern", answers={"subscriptions/listen": missing})
    async with connected(server) as connection:
        await observer.wait_for(lambda: connection.trouble is not None)
        assert "subscriptions/listen" in str(connection.trouble)
        await connection.list_resources()

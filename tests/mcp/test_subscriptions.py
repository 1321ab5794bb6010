"""Subscriptions, in both eras: one call for those who use them, whatever goes down the pipe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.mcp.client import listening, subscribing
from mcp_lectern.mcp.client.listening import Listening
from mcp_lectern.mcp.connect import Connection

from .conftest import Connect, RecordingObserver, Script

pytestmark = pytest.mark.anyio

OFFERED = {"resources": {"subscribe": True, "listChanged": True}}
QUIET = {"resources": {"subscribe": True}}
REFUSED = {"error": {"code": -32602, "message": "not this one"}}
BUSY = {"error": {"code": -32603, "message": "busy"}}
MISSING = {"error": {"code": -32601, "message": "Method not found"}}
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])


def updated(uri: str) -> list[Any]:
    return ["notifications/resources/updated", {"uri": uri}]


def asked_for(server: ScriptedServer) -> list[list[str]]:
    """The URIs of each listen stream, in the order of opening."""
    listens = server.received("subscriptions/listen")
    return [message["params"]["notifications"].get("resourceSubscriptions", []) for message in listens]


def methods(server: ScriptedServer) -> set[str]:
    return {message["method"] for message in server.received()}


async def granted(connection: Connection, observer: RecordingObserver, *uris: str) -> None:
    await observer.wait_for(lambda: connection.subscriptions == frozenset(uris))


@ERAS
async def test_what_is_subscribed_to_is_told_of(
    era: str, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(era=era, capabilities=QUIET)
    async with connected(server) as connection:
        connection.subscribe("a://1")
        await granted(connection, observer, "a://1")
        server.notify(*updated("a://1"))
        await observer.wait_for(lambda: observer.updates == ["a://1"])


@pytest.mark.case("SUB-01")
@ERAS
@pytest.mark.parametrize("declared", [{}, {"subscribe": False}, {"subscribe": None}, {"subscribe": "yes"}])
async def test_sub_01_what_is_not_offered_is_not_asked_for(
    era: str, declared: dict[str, Any], script: Script, connected: Connect
) -> None:
    server = script(era=era, capabilities={"resources": declared})
    async with connected(server) as connection:
        connection.subscribe("a://1")
        await connection.list_resources()
        await connection.list_templates()
        connection.unsubscribe("a://1")
        await connection.list_resources()
        assert connection.subscriptions == frozenset()
    assert not methods(server) & {"resources/subscribe", "resources/unsubscribe", "subscriptions/listen"}


@pytest.mark.case("SUB-01")
async def test_sub_01_a_missing_method_is_asked_for_once_and_reading_goes_on(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(capabilities=QUIET, answers={"resources/subscribe": MISSING}, contents={"a://1": "x"})
    async with connected(server) as connection:
        connection.subscribe("a://1")
        await observer.wait_for(lambda: observer.logged("not subscribed") == 1)
        connection.subscribe("a://2")
        connection.unsubscribe("a://1")
        connection.subscribe("a://1")
        assert (await connection.read("a://1")).items
        assert connection.subscriptions == frozenset()
    assert len(server.received("resources/subscribe")) == 1
    assert not server.received("resources/unsubscribe")


@pytest.mark.case("SUB-02")
async def test_sub_02_what_fails_for_a_while_is_tried_again_and_counts_as_missed(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(capabilities=QUIET, answers={"resources/subscribe": [BUSY, BUSY, {}]})
    async with connected(server) as connection:
        connection.subscribe("a://1")
        await granted(connection, observer, "a://1")
        await observer.wait_for(lambda: observer.updates == ["a://1"])
    assert len(server.received("resources/subscribe")) == 3
    assert observer.logged("not subscribed") == 0


@pytest.mark.case("SUB-02")
async def test_sub_02_what_goes_on_failing_is_given_up_and_what_nobody_wants_is_let_be(
    script: Script, connected: Connect, observer: RecordingObserver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscribing, "TRIES", 2)
    server = script(capabilities=QUIET, answers={"resources/subscribe": BUSY})
    async with connected(server) as connection:
        connection.subscribe("a://1")
        await observer.wait_for(lambda: observer.logged("not subscribed") == 1)
        assert len(server.received("resources/subscribe")) == 2
        connection.subscribe("a://2")
        await server.wait_received("resources/subscribe", 3)
        connection.unsubscribe("a://2")
        connection.subscribe("a://3")
        await observer.wait_for(lambda: observer.logged("not subscribed") == 2)
    asked = [message["params"]["uri"] for message in server.received("resources/subscribe")]
    assert asked.count("a://2") == 1


@pytest.mark.case("SUB-01")
async def test_sub_01_a_refused_uri_leaves_the_others_alone(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(capabilities=QUIET, answers={"resources/subscribe": [REFUSED, {}]})
    async with connected(server) as connection:
        connection.subscribe("a://1")
        await observer.wait_for(lambda: observer.logged("not subscribed") == 1)
        connection.subscribe("a://2")
        await granted(connection, observer, "a://2")
    assert len(server.received("resources/subscribe")) == 2


@pytest.mark.case("SUB-01")
@pytest.mark.parametrize("given", [{}, {"resourceSubscriptions": []}, {"resourceSubscriptions": "a://1"}])
async def test_sub_01_an_acknowledgement_without_the_uri_is_no_subscription(
    given: dict[str, Any], script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    params = {"_meta": {"io.modelcontextprotocol/subscriptionId": 2}, "notifications": given}
    acknowledged = {"method": "notifications/subscriptions/acknowledged", "params": params}
    listen = {"before": [{"request": acknowledged}], "silent": True}
    server = script(era="modern", capabilities=QUIET, answers={"subscriptions/listen": listen})
    async with connected(server) as connection:
        connection.subscribe("a://1")
        cancelled = await server.wait_received("notifications/cancelled")
        assert cancelled["params"]["requestId"] == 2
        assert connection.subscriptions == frozenset()
        await connection.list_resources()
    assert len(server.received("subscriptions/listen")) == 1


@pytest.mark.case("SUB-01")
async def test_sub_01_a_part_that_is_granted_counts(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    given = {"resourcesListChanged": True, "resourceSubscriptions": ["a://2", "never://asked"]}
    second = {"_meta": {"io.modelcontextprotocol/subscriptionId": 3}, "notifications": given}
    acknowledged = {"method": "notifications/subscriptions/acknowledged", "params": second}
    listens = [{}, {"before": [{"request": acknowledged}], "silent": True}]
    server = script(era="modern", capabilities=OFFERED, answers={"subscriptions/listen": listens})
    async with connected(server) as connection:
        await server.wait_received("subscriptions/listen")
        connection.subscribe("a://1")
        connection.subscribe("a://2")
        await granted(connection, observer, "a://2")
        assert observer.logged("grants no subscription to a://1") == 1
    assert asked_for(server) == [[], ["a://1", "a://2"]]


@pytest.mark.case("SUB-01")
@ERAS
async def test_sub_01_a_notice_without_a_subscription_is_passed_on_and_harmless(
    era: str, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(era=era, capabilities={"resources": {}}, contents={"a://1": "x"})
    async with connected(server) as connection:
        server.notify(*updated("a://1"))
        await observer.wait_for(lambda: observer.updates == ["a://1"])
        assert (await connection.read("a://1")).items


@pytest.mark.case("SUB-02")
@ERAS
async def test_sub_02_the_server_hears_of_the_first_and_of_the_last_alone(
    era: str, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(era=era, capabilities=QUIET)
    async with connected(server) as connection:
        for _ in range(3):
            connection.subscribe("a://1")
        await granted(connection, observer, "a://1")
        connection.unsubscribe("a://1")
        connection.unsubscribe("a://1")
        await connection.list_resources()
        assert connection.subscriptions == {"a://1"}
        connection.unsubscribe("a://1")
        connection.unsubscribe("a://1")
        end = "resources/unsubscribe" if era == "legacy" else "notifications/cancelled"
        await server.wait_received(end)
        await granted(connection, observer)
        await connection.list_resources()
        assert len(server.received(end)) == 1
    begin = "resources/subscribe" if era == "legacy" else "subscriptions/listen"
    assert len(server.received(begin)) == 1


async def test_another_wish_opens_its_stream_before_the_old_one_is_closed(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    listens = [{}, {"gate": "second"}]
    server = script(era="modern", capabilities=OFFERED, answers={"subscriptions/listen": listens})
    async with connected(server) as connection:
        first = await server.wait_received("subscriptions/listen")
        connection.subscribe("a://1")
        await server.wait_waiting("second")
        server.notify("notifications/resources/list_changed")
        await observer.wait_for(lambda: observer.changes == 1)
        assert not server.received("notifications/cancelled")
        server.open("second")
        await granted(connection, observer, "a://1")
        cancelled = await server.wait_received("notifications/cancelled")
        assert cancelled["params"]["requestId"] == first["id"]
        server.notify(*updated("a://1"))
        await observer.wait_for(lambda: "a://1" in observer.updates)
    assert [message["params"]["notifications"] for message in server.received("subscriptions/listen")] == [
        {"resourcesListChanged": True},
        {"resourcesListChanged": True, "resourceSubscriptions": ["a://1"]},
    ]


async def test_wishes_of_one_moment_share_one_stream(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(era="modern", capabilities=QUIET)
    uris = [f"a://{number}" for number in range(20)]
    async with connected(server) as connection:
        for uri in uris:
            connection.subscribe(uri)
        await granted(connection, observer, *uris)
    assert len(server.received("subscriptions/listen")) == 1


async def test_a_stream_that_is_refused_keeps_the_one_that_is_open(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(era="modern", capabilities=OFFERED, answers={"subscriptions/listen": [{}, REFUSED, {}]})
    async with connected(server) as connection:
        await server.wait_received("subscriptions/listen")
        connection.subscribe("a://1")
        await observer.wait_for(lambda: observer.logged("refuses subscriptions/listen") == 1)
        server.notify("notifications/resources/list_changed")
        await observer.wait_for(lambda: observer.changes == 1)
        connection.subscribe("a://2")
        await granted(connection, observer, "a://2")
    assert asked_for(server) == [[], ["a://1"], ["a://2"]]


@pytest.mark.case("SUB-02")
@pytest.mark.parametrize("way", ["result", "cancelled", "error"])
async def test_sub_02_a_closed_stream_is_asked_for_again_and_each_uri_counts_as_changed(
    way: str, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(era="modern", capabilities=OFFERED)
    async with connected(server) as connection:
        connection.subscribe("a://1")
        await granted(connection, observer, "a://1")
        stream = server.received("subscriptions/listen")[-1]["id"]
        count = len(server.received("subscriptions/listen"))
        endings: dict[str, dict[str, Any]] = {
            "result": {"id": stream, "result": {"resultType": "complete"}},
            "cancelled": {"method": "notifications/cancelled", "params": {"requestId": stream}},
            "error": {"id": stream, "error": {"code": -32603, "message": "shutting down"}},
        }
        server.send({"jsonrpc": "2.0", **endings[way]})
        await server.wait_received("subscriptions/listen", count + 1)
        await granted(connection, observer, "a://1")
        await observer.wait_for(lambda: (observer.updates, observer.changes) == (["a://1"], 1))
        assert observer.logged("the change stream closed; it is opened again in 1 s") == 1


@pytest.mark.case("SUB-02")
@ERAS
async def test_sub_02_what_was_missed_before_the_subscription_is_told_once_it_stands(
    era: str, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(era=era, capabilities=QUIET)
    async with connected(server) as connection:
        connection.subscribe("a://1", missed=True)
        connection.subscribe("a://2")
        await granted(connection, observer, "a://1", "a://2")
        assert observer.updates == ["a://1"]


async def test_a_stream_that_is_never_acknowledged_is_given_back_and_asked_for_again(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    from mcp_lectern.mcp.connect import Timing

    server = script(
        era="modern", capabilities=QUIET, answers={"subscriptions/listen": [{"silent": True}, {}]}
    )
    async with connected(server, timing=Timing(request=0.3)) as connection:
        connection.subscribe("a://1")
        await server.wait_received("notifications/cancelled")
        await granted(connection, observer, "a://1")
    assert len(server.received("subscriptions/listen")) == 2


@ERAS
async def test_the_end_of_the_server_ends_the_subscriptions_quietly(
    era: str, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(era=era, capabilities=OFFERED)
    async with connected(server) as connection:
        connection.subscribe("a://1")
        await granted(connection, observer, "a://1")
        server.exit(0)
        with anyio.fail_after(5):
            await connection.wait_closed()


@pytest.mark.case("SUB-02")
async def test_sub_02_a_stream_that_closes_while_its_successor_is_waited_for_loses_nothing(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    listens = [{}, {}, {"gate": "second"}]
    server = script(era="modern", capabilities=OFFERED, answers={"subscriptions/listen": listens})
    async with connected(server) as connection:
        connection.subscribe("a://1")
        await granted(connection, observer, "a://1")
        first = server.received("subscriptions/listen")[-1]
        connection.subscribe("a://2")
        await server.wait_waiting("second")
        server.send({"jsonrpc": "2.0", "id": first["id"], "result": {"resultType": "complete"}})
        server.open("second")
        await granted(connection, observer, "a://1", "a://2")
        await observer.wait_for(lambda: (observer.updates, observer.changes) == (["a://1"], 1))


@pytest.mark.case("SUB-02")
async def test_sub_02_what_was_granted_once_is_not_refused_for_good(
    monkeypatch: pytest.MonkeyPatch, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    monkeypatch.setattr(Listening, "_delay", 0.01)
    server = script(era="modern", capabilities=QUIET)
    async with connected(server) as connection:
        connection.subscribe("a://1")
        await granted(connection, observer, "a://1")
        server.change(answers={"subscriptions/listen": [REFUSED, REFUSED, {}]}, notify=False)
        stream = server.received("subscriptions/listen")[-1]["id"]
        server.send({"jsonrpc": "2.0", "id": stream, "result": {"resultType": "complete"}})
        await granted(connection, observer)
        await granted(connection, observer, "a://1")
        await observer.wait_for(lambda: observer.updates == ["a://1"])


@pytest.mark.case("SUB-01")
@pytest.mark.parametrize("meta", [None, {}, {"io.modelcontextprotocol/subscriptionId": "2"}])
async def test_sub_01_an_acknowledgement_that_names_no_stream_is_the_waiting_ones(
    meta: dict[str, Any] | None, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    params = {
        "notifications": {"resourceSubscriptions": ["a://1"]},
        **({} if meta is None else {"_meta": meta}),
    }
    acknowledged = {"method": "notifications/subscriptions/acknowledged", "params": params}
    listen = {"before": [{"request": acknowledged}], "silent": True}
    server = script(era="modern", capabilities=QUIET, answers={"subscriptions/listen": listen})
    async with connected(server) as connection:
        connection.subscribe("a://1")
        await granted(connection, observer, "a://1")


@pytest.mark.case("SUB-02")
async def test_sub_02_a_stream_that_lasted_is_opened_again_as_soon_as_the_first_time(
    monkeypatch: pytest.MonkeyPatch, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    monkeypatch.setattr(Listening, "_delay", 0.01)
    monkeypatch.setattr(listening, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(listening, "STEADY", 0.0)
    server = script(era="modern", capabilities=QUIET)
    async with connected(server) as connection:
        connection.subscribe("a://1")
        for _ in range(3):
            await granted(connection, observer, "a://1")
            stream = server.received("subscriptions/listen")[-1]["id"]
            server.send({"jsonrpc": "2.0", "id": stream, "result": {"resultType": "complete"}})
            await granted(connection, observer)
        await granted(connection, observer, "a://1")
    assert observer.logged("the change stream closed; it is opened again in 0.01 s") == 3


@pytest.mark.case("SUB-01")
async def test_sub_01_a_refusal_is_forgotten_when_nobody_wants_the_uri_any_more(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(capabilities=QUIET, answers={"resources/subscribe": [REFUSED, {}]})
    async with connected(server) as connection:
        connection.subscribe("a://1")
        await observer.wait_for(lambda: observer.logged("not subscribed") == 1)
        connection.unsubscribe("a://1")
        connection.subscribe("a://1")
        await granted(connection, observer, "a://1")


SHY = '''
def handle(server, message):
    """Refuses every stream that names what it does not have."""
    if message.get("method") != "subscriptions/listen":
        return False
    uris = message["params"]["notifications"].get("resourceSubscriptions", [])
    if not any("gone" in uri for uri in uris):
        return False
    error = {"code": -32602, "message": "there is something that is not there"}
    server.send({"jsonrpc": "2.0", "id": message["id"], "error": error})
    return True
'''


@pytest.mark.case("SUB-01")
@pytest.mark.parametrize("capabilities", [OFFERED, QUIET], ids=["with lists", "without"])
async def test_sub_01_one_uri_that_a_stream_is_refused_for_takes_no_other_with_it(
    tmp_path: Path,
    capabilities: Any,
    script: Script,
    connected: Connect,
    observer: RecordingObserver,
) -> None:
    (tmp_path / "shy.py").write_text(SHY)
    server = script(era="modern", capabilities=capabilities, hook=str(tmp_path / "shy.py"))
    async with connected(server) as connection:
        for uri in ("a://1", "a://gone", "b://gone", "c://1", "d://1"):
            connection.subscribe(uri)
        await granted(connection, observer, "a://1", "c://1", "d://1")
        server.notify(*updated("c://1"))
        await observer.wait_for(lambda: "c://1" in observer.updates)
        listens = len(asked_for(server))
        connection.subscribe("e://1")
        connection.subscribe("f://1")
        await granted(connection, observer, "a://1", "c://1", "d://1", "e://1", "f://1")
        assert asked_for(server)[listens:] == [["a://1", "c://1", "d://1", "e://1", "f://1"]]

"""The JSON-RPC peer by itself, over a transport in memory."""

from __future__ import annotations

import gc
import json
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.memory_duplex import MemoryDuplex

from mcp_lectern.mcp.eras.handshake import Handshake
from mcp_lectern.mcp.eras.stateless import Stateless
from mcp_lectern.mcp.errors import ConnectionLost, ServerError, TooLarge
from mcp_lectern.mcp.session import Patience, Session
from mcp_lectern.mcp.transport.duplex import Ending
from mcp_lectern.mcp.transport.throttle import BURST, WINDOW, Throttle
from mcp_lectern.mcp.wire.framing import Oversize
from mcp_lectern.mcp.wire.jsonrpc import Notification

PATIENCE = Patience(5, 10)
ERAS = [Handshake("2025-03-26"), Stateless("2026-07-28", "1")]

# Anything but an answer to request 1, which is the one that the tests ask.
MESSAGES = st.one_of(
    st.binary(max_size=50),
    st.builds(
        lambda value: json.dumps(value).encode(),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.integers(2),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        ["id", "method", "params", "result", "error", "code", "progressToken", "_meta"]
                    ),
                    inner,
                    max_size=5,
                )
            ),
        ),
    ),
    st.builds(
        lambda method, params: json.dumps({"method": method, "params": params}).encode(),
        st.sampled_from(["notifications/progress", "notifications/cancelled", "ping", "x"]),
        st.dictionaries(st.sampled_from(["progressToken", "requestId"]), st.lists(st.integers()) | st.text()),
    ),
)


def session_over(duplex: MemoryDuplex, **options: Any) -> Session:
    log: list[str] = []
    values = {"server": "peer", "limit": 100, "log": log.append, "on_notification": lambda _: None, **options}
    return Session(duplex, values.pop("era", ERAS[0]), **values)


@given(st.lists(MESSAGES, max_size=20), st.sampled_from(ERAS))
def test_whatever_arrives_the_next_answer_is_heard(noise: list[bytes], era: Handshake | Stateless) -> None:
    async def scenario() -> None:
        duplex = MemoryDuplex()
        session = session_over(duplex, era=era)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.run)
            duplex.arrive(*noise)
            pending = session.begin(session.asked("resources/read"), {})
            duplex.arrive(b'{"jsonrpc":"2.0","id":1,"result":{"ok":true}}')
            outcome = await session.outcome(pending, PATIENCE)
            duplex.end()
        assert getattr(outcome, "result", None) == {"ok": True}

    anyio.run(scenario)


@pytest.mark.anyio
async def test_when_the_peer_ends_everything_pending_fails_with_its_words() -> None:
    duplex = MemoryDuplex(Ending(3, "boom"))
    session = session_over(duplex)
    failures: list[ConnectionLost] = []

    async def ask(method: str) -> None:
        with pytest.raises(ConnectionLost) as caught:
            await session.request(session.asked(method), {}, PATIENCE)
        failures.append(caught.value)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.run)
        tasks.start_soon(ask, "resources/list")
        tasks.start_soon(ask, "resources/read")
        await anyio.wait_all_tasks_blocked()
        duplex.end()
    assert sorted(str(failure.method) for failure in failures) == ["resources/list", "resources/read"]
    assert {(failure.exit_code, failure.stderr_tail) for failure in failures} == {(3, "boom")}
    await ask("resources/read")


@pytest.mark.anyio
@pytest.mark.case("RD-08")
async def test_rd_08_an_endless_line_among_several_requests_fails_the_oldest_at_its_end() -> None:
    duplex = MemoryDuplex()
    session = session_over(duplex)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.run)
        first, second = (session.begin(session.asked(method), {}) for method in ("a", "b"))
        duplex.arrive(Oversize(b"xxx", None, 101))
        await anyio.wait_all_tasks_blocked()
        assert first.outcome is None
        duplex.arrive(Oversize(b"xxx", b"xxx", 300), b'{"id":2,"error":{"code":1,"message":"no"}}')
        assert isinstance(await session.outcome(first, PATIENCE), TooLarge)
        assert getattr(await session.outcome(second, PATIENCE), "message", None) == "no"
        duplex.end()


@pytest.mark.anyio
async def test_ids_are_never_used_twice_and_errors_name_the_request() -> None:
    duplex = MemoryDuplex()
    session = session_over(duplex)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.run)
        for number in (1, 2, 3):
            duplex.arrive(json.dumps({"id": number, "error": {"code": -1, "message": "no"}}).encode())
            with pytest.raises(ServerError, match=r'"peer" refused m for x: no \(code -1\)'):
                await session.request(session.asked("m", "x"), {}, PATIENCE)
        duplex.end()
    assert [message["id"] for message in duplex.posted if isinstance(message, dict)] == [1, 2, 3]


@pytest.mark.anyio
async def test_notifications_reach_the_layer_above() -> None:
    duplex, heard = MemoryDuplex(), list[Notification]()
    session = session_over(duplex, on_notification=heard.append)
    duplex.arrive(
        b'{"method":"a","params":{"x":1}}', b'{"method":"notifications/progress"}', b'{"method":"b"}'
    )
    duplex.end()
    await session.run()
    assert heard == [Notification("a", {"x": 1}), Notification("b", {})]


@pytest.mark.anyio
async def test_the_collector_is_on_again_after_good_and_bad_messages() -> None:
    duplex = MemoryDuplex()
    duplex.arrive(b"{}", b"[[", b"[" * 100_000)
    duplex.end()
    await session_over(duplex).run()
    assert gc.isenabled()


def test_a_throttle_counts_what_it_keeps_back() -> None:
    lines, now = list[str](), [0.0]
    throttle = Throttle(lines.append, lambda: now[0])
    for number in range(BURST + 5):
        throttle(str(number))
    assert len(lines) == BURST
    now[0] = WINDOW + 1
    throttle("later")
    assert lines[-2:] == ["… and 5 more such lines", "later"]


@pytest.mark.anyio
async def test_an_initialize_is_never_cancelled_in_words() -> None:
    duplex = MemoryDuplex()
    session = session_over(duplex)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.run)
        greeting = session.begin(session.asked("initialize"), {}, progress=False)
        duplex.arrive(Oversize(b'{"id":1,"result":{', b"}}", 300))
        assert isinstance(await session.outcome(greeting, PATIENCE), TooLarge)
        duplex.end()
    assert duplex.released == [1]
    assert [message["method"] for message in duplex.posted if isinstance(message, dict)] == ["initialize"]


@pytest.mark.anyio
@pytest.mark.case("RD-08")
async def test_rd_08_an_endless_line_is_not_taken_for_the_answer_to_a_stream_of_notices() -> None:
    duplex = MemoryDuplex()
    session = session_over(duplex, era=ERAS[1])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.run)
        stream = session.begin(session.asked("subscriptions/listen"), {}, progress=False, again=False)
        read = session.begin(session.asked("resources/read"), {})
        duplex.arrive(Oversize(b"xxx", None, 101))
        assert isinstance(await session.outcome(read, PATIENCE), TooLarge)
        assert stream.outcome is None
        duplex.end()

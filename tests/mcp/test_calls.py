"""Single calls in time: timeouts, progress, cancellation."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest

from mcp_lectern.mcp.connect import Timing
from mcp_lectern.mcp.errors import RequestTimeout

from .conftest import Connect, RecordingObserver, Script

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_timeout_cancels_the_request_once(era: str, script: Script, connected: Connect) -> None:
    server = script(era=era, answers={"resources/read": {"silent": True}})
    async with connected(server, timing=Timing(request=0.2)) as connection:
        with pytest.raises(RequestTimeout, match=r"a://x within 0\.2 s.*timeouts\.request"):
            await connection.read("a://x")
        await connection.list_resources()
    identity = server.received("resources/read")[0]["id"]
    cancelled = [message["params"]["requestId"] for message in server.received("notifications/cancelled")]
    assert cancelled.count(identity) == 1


async def test_cancelling_a_call_cancels_the_request_once(script: Script, connected: Connect) -> None:
    server = script(answers={"resources/read": {"silent": True}})
    async with connected(server) as connection:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.read, "a")
            await server.wait_received("resources/read")
            tasks.cancel_scope.cancel()
        await server.wait_received("notifications/cancelled")
        await connection.list_resources()
    (cancelled,) = server.received("notifications/cancelled")
    assert cancelled["params"]["requestId"] == server.received("resources/read")[0]["id"]


async def test_an_answer_that_comes_after_the_cancellation_is_dropped(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(answers={"resources/read": {"gate": "go", "result": {"contents": []}}})
    async with connected(server, timing=Timing(request=0.2)) as connection:
        with pytest.raises(RequestTimeout):
            await connection.read("a")
        server.open("go")
        await observer.wait_for(lambda: observer.logged("not waiting") == 1)
        assert (await connection.read("a")).items == ()


@pytest.mark.parametrize("spelling", [int, str, float])
async def test_progress_extends_the_wait(
    spelling: Callable[[int], int | str | float], script: Script, connected: Connect
) -> None:
    server = script(answers={"resources/read": {"gate": "go", "result": {"contents": []}}})
    async with connected(server, timing=Timing(request=0.6)) as connection:

        async def work() -> None:
            message = await server.wait_received("resources/read")
            token = message["params"]["_meta"]["progressToken"]
            for progress in range(6):
                await anyio.sleep(0.2)
                params = {"progressToken": spelling(token), "progress": progress}
                server.notify("notifications/progress", params)
            server.open("go")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            began = anyio.current_time()
            assert (await connection.read("a")).items == ()
            assert anyio.current_time() - began > 0.6


async def test_progress_extends_nothing_beyond_the_total(script: Script, connected: Connect) -> None:
    server = script(answers={"resources/read": {"silent": True}})
    async with connected(server, timing=Timing(request=0.4, total=0.8)) as connection:

        async def work() -> None:
            message = await server.wait_received("resources/read")
            token = message["params"]["_meta"]["progressToken"]
            while True:
                server.notify("notifications/progress", {"progressToken": token, "progress": 1})
                await anyio.sleep(0.1)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            with anyio.fail_after(5), pytest.raises(RequestTimeout, match=r"0\.8 s.*timeouts\.total"):
                await connection.read("a")
            tasks.cancel_scope.cancel()


async def test_progress_for_another_token_extends_nothing(script: Script, connected: Connect) -> None:
    stray = [{"notify": ["notifications/progress", {"progressToken": 9999, "progress": 1}]}]
    server = script(answers={"resources/read": {"before": stray, "silent": True}})
    async with connected(server, timing=Timing(request=0.2)) as connection:
        with anyio.fail_after(5), pytest.raises(RequestTimeout):
            await connection.read("a")


async def test_a_server_that_stops_reading_holds_nobody_longer_than_the_timeout(
    script: Script, connected: Connect
) -> None:
    server = script(answers={"resources/list": {"after": [{"gate": "never"}]}})
    async with connected(server, timing=Timing(request=0.3)) as connection:
        await connection.list_resources()
        await server.wait_waiting("never")
        for _ in range(3):
            with anyio.fail_after(5), pytest.raises(RequestTimeout):
                await connection.read("a://" + "x" * 5_000_000)

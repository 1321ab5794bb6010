"""However a connection ends, nothing that it started is left."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from mcp_lectern.mcp.connect import Connection, StdioParameters, Timing, connect
from mcp_lectern.mcp.errors import ConnectionLost
from mcp_lectern.mcp.transport.processes import Process
from mcp_lectern.mcp.transport.stdio import start_process

from .conftest import Connect, RecordingObserver, Script

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")]


def left_of(pids: list[int]) -> list[int]:
    """Those that still run; a zombie that nobody collects does not."""
    alive = []
    for pid in pids:
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                alive.append(pid)
        except psutil.NoSuchProcess:
            continue
    return alive


@pytest.mark.case("IO-06")
@pytest.mark.parametrize(
    "manners",
    [
        {},
        {"ignore_eof": True},
        {"ignore_sigterm": True},
        {"ignore_eof": True, "ignore_sigterm": True},
        {"grandchild": True},
        {"grandchild": True, "ignore_eof": True, "ignore_sigterm": True},
    ],
)
async def test_io_06_nothing_is_left_whatever_the_server_ignores(
    manners: dict[str, Any], script: Script, connected: Connect
) -> None:
    server = script(**manners)
    with anyio.fail_after(10):
        async with connected(server):
            pids = server.pids + server.children
            assert left_of(pids) == pids
            began = anyio.current_time()
    assert anyio.current_time() - began < 5
    assert left_of(pids) == []


@pytest.mark.case("IO-06")
async def test_io_06_a_polite_server_sees_the_end_of_its_input_and_no_signal(
    script: Script, connected: Connect
) -> None:
    server = script()
    async with connected(server):
        began = anyio.current_time()
    assert anyio.current_time() - began < 0.8
    await server.wait_eof()


@pytest.mark.case("IO-06")
async def test_io_06_a_server_behind_a_shell_ends_with_it(
    script: Script, observer: RecordingObserver, tmp_path: Path
) -> None:
    server = script(grandchild=True, ignore_eof=True, ignore_sigterm=True)
    line = " ".join(f"'{part}'" for part in (server.command, *server.args)) + "; true"
    parameters = StdioParameters("sh", ("-c", line), server.env, tmp_path)
    async with connect(parameters, server="docs", observer=observer, version="1") as connection:
        assert connection.pid not in server.pids
        pids = [*server.pids, *server.children, connection.pid or 0]
    assert left_of(pids) == []


@pytest.mark.case("IO-06")
async def test_io_06_cancelled_during_the_handshake(script: Script, connected: Connect) -> None:
    server = script(grandchild=True, ignore_eof=True, answers={"initialize": {"silent": True}})

    async def open_it() -> None:
        async with connected(server):
            pytest.fail("a connection opened")

    task = asyncio.create_task(open_it())
    await server.wait_received("initialize")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert left_of(server.pids + server.children) == []
    assert not server.received("notifications/cancelled")


@pytest.mark.case("IO-06")
def test_io_06_cancelled_while_it_is_started_it_is_waited_for_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    parameters = StdioParameters(sys.executable, ("-c", "input()"), dict(os.environ), tmp_path)

    async def cancelled() -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            async with start_process(parameters, server="docs", log=list[str]().append, limit=1000):
                await anyio.sleep_forever()
        assert scope.cancelled_caught

    before = threading.enumerate()
    for _ in range(10):
        anyio.run(cancelled)
    for thread in threading.enumerate():
        if thread not in before:
            thread.join(20)
    # asyncio complains of a process that ends when its event loop is closed.
    assert caplog.messages == []


@pytest.mark.case("IO-06")
async def test_io_06_cancelled_twice_it_is_killed_at_once(script: Script, connected: Connect) -> None:
    server = script(grandchild=True, ignore_eof=True, ignore_sigterm=True)
    opened = asyncio.Event()

    async def hold() -> None:
        async with connected(server):
            opened.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(hold())
    await opened.wait()
    task.cancel()
    await server.wait_eof()
    began = anyio.current_time()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert anyio.current_time() - began < 0.8
    await server.wait_ended()
    assert left_of(server.pids + server.children) == []


@pytest.mark.case("IO-06")
async def test_io_06_a_server_that_floods_its_output_ends_all_the_same(
    script: Script, connected: Connect
) -> None:
    flood = {"after": [{"repeat": "x" * 1000 + "\n", "times": 100_000}], "silent": True}
    server = script(answers={"resources/read": flood})
    with anyio.fail_after(10):
        async with connected(server) as connection, anyio.create_task_group() as tasks:
            tasks.start_soon(connection.read, "a")
            await server.wait_received("resources/read")
            tasks.cancel_scope.cancel()
    assert left_of(server.pids) == []


async def test_pending_calls_fail_at_once_when_the_server_dies(script: Script, connected: Connect) -> None:
    server = script(answers={"resources/read": {"before": [{"stderr": "out of memory\n"}], "exit": 9}})
    async with connected(server) as connection:
        with (
            anyio.fail_after(5),
            pytest.raises(ConnectionLost, match=r'"scripted".*code 9.*out of memory') as caught,
        ):
            await connection.read("a")
        assert (caught.value.exit_code, caught.value.stderr_tail) == (9, "out of memory")
        assert caught.value.method == "resources/read"
        assert caught.value.retryable
        with pytest.raises(ConnectionLost):
            await connection.read("a")
        lost = await connection.wait_closed()
    assert (lost.exit_code, lost.method) == (9, None)


async def test_an_answer_that_a_death_cuts_off_fails_by_the_death(script: Script, connected: Connect) -> None:
    """Half of an answer is no fault of the server's author, and trying again makes sense."""
    raw = '{"jsonrpc": "2.0", "id": $ID, "result": {"contents": [{"uri": "a", "te'
    dying = {"before": [{"stderr": "out of memory\n"}], "raw": raw, "after": [{"exit": 9}]}
    server = script(answers={"resources/read": dying})
    async with connected(server) as connection:
        with anyio.fail_after(5), pytest.raises(ConnectionLost, match="code 9") as caught:
            await connection.read("a")
        assert (caught.value.retryable, caught.value.stderr_tail) == (True, "out of memory")


async def test_a_last_answer_without_its_newline_counts(script: Script, connected: Connect) -> None:
    raw = '{"jsonrpc": "2.0", "id": $ID, "result": {"contents": [{"uri": "a", "text": "x"}]}}'
    server = script(answers={"resources/read": {"raw": raw, "after": [{"exit": 0}]}})
    async with connected(server) as connection:
        with anyio.fail_after(5):
            assert (await connection.read("a")).items


async def test_a_dead_server_is_noticed_though_a_grandchild_holds_its_output(
    script: Script, connected: Connect
) -> None:
    server = script(grandchild=True, answers={"resources/read": {"exit": 3}})
    async with connected(server) as connection:
        with anyio.fail_after(5), pytest.raises(ConnectionLost) as caught:
            await connection.read("a")
    assert caught.value.exit_code == 3
    assert left_of(server.children) == []


async def test_a_server_that_closes_its_output_is_gone(script: Script, connected: Connect) -> None:
    server = script(answers={"resources/read": {"before": [{"close_stdout": True}], "silent": True}})
    async with connected(server) as connection:
        with anyio.fail_after(5), pytest.raises(ConnectionLost):
            await connection.read("a")


async def test_calls_of_other_tasks_fail_when_the_context_is_left(script: Script, connected: Connect) -> None:
    server = script(answers={"resources/read": {"silent": True}})
    outcome: list[BaseException] = []

    async def read(connection: Connection) -> None:
        try:
            await connection.read("a")
        except ConnectionLost as error:
            outcome.append(error)

    async with anyio.create_task_group() as tasks, connected(server) as connection:
        tasks.start_soon(read, connection)
        await server.wait_received("resources/read")
    assert len(outcome) == 1


async def test_the_last_answer_of_a_dying_server_counts(script: Script, connected: Connect) -> None:
    answer = {"raw": '{"id":$ID,"result":{"contents":[]}}', "after": [{"exit": 0}]}
    async with connected(script(answers={"resources/read": answer})) as connection:
        assert (await connection.read("a")).items == ()


async def test_stderr_is_drained_logged_and_kept_as_a_bounded_tail(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    noise = [{"stderr": "y" * 100_000 + "\n"}, {"stderr": "line é\n" * 10_000}, {"stderr": "the end"}]
    server = script(answers={"resources/read": {"before": noise, "exit": 1}})
    async with connected(server) as connection:
        with pytest.raises(ConnectionLost) as caught:
            await connection.read("a")
    assert 1_000 <= observer.logged("line é") < 10_000
    assert observer.logged("lines of a flood were left out")
    assert caught.value.stderr_tail.endswith("line é\nthe end")
    assert len(caught.value.stderr_tail.encode()) <= 8 * 1024
    assert max(len(line) for line in observer.lines) < 5_000


async def test_a_server_that_reads_nothing_does_not_hold_the_caller(
    observer: RecordingObserver, tmp_path: Path
) -> None:
    sleeper = shutil.which("sleep")
    assert sleeper
    parameters = StdioParameters(sleeper, ("600",), dict(os.environ), tmp_path)
    with anyio.fail_after(5), pytest.raises(Exception, match="not ready"):
        async with connect(
            parameters, server="docs", observer=observer, version="1", timing=Timing(start=0.3, probe=0.1)
        ):
            pytest.fail("a connection opened")


@pytest.mark.case("IO-06")
@pytest.mark.parametrize("last_words", [[], [b"last words"]])
async def test_io_06_an_output_that_ends_just_after_its_process_has_ended_is_at_its_end(
    last_words: list[bytes],
) -> None:
    process = Process(lambda _: None)
    process.process_exited()

    async def end() -> None:
        for chunk in last_words:
            process.pipe_data_received(1, chunk)
        process.pipe_connection_lost(1, None)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            # It begins once the reader below waits for more.
            group.start_soon(end)
            assert [chunk async for chunk in process.chunks()] == last_words

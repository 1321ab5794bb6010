"""Every way in which the language server ends takes its servers and their children along."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from tests.support.lsp_client import environment
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.lsp.editor import Editor, serving, started

pytestmark = pytest.mark.anyio

GONE_WITHIN = 8.0
"""Seconds: close, wait, TERM, KILL take about three, and a loaded machine its own."""


def _gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def _all_gone(pids: list[int]) -> bool:
    processes = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    await asyncio.to_thread(psutil.wait_procs, processes, GONE_WITHIN)
    return all(map(_gone, pids))


@asynccontextmanager
async def _editing(
    tmp_path: Path, server: ScriptedServer, process_id: int | None = None
) -> AsyncIterator[Editor]:
    entry = server.entry()
    through_a_shell = {"command": "sh", "args": ["-c", '"$@"; :', "sh", entry["command"], *entry["args"]]}
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"servers": {"fake": through_a_shell}}), encoding="utf-8")
    home = tmp_path / "home"
    home.mkdir()
    command = serving("--config", str(config), "--no-discover")
    async with started(command, folder=home, environment=environment(home)) as editor:
        await editor.initialize(process_id=process_id)
        await editor.command("lectern.refresh")
        yield editor


async def _by_shutdown(editor: Editor) -> int:
    return await editor.end()


async def _by_exit_alone(editor: Editor) -> int:
    editor.notify("exit")
    return await editor.process.wait()


async def _by_end_of_input(editor: Editor) -> int:
    assert editor.process.stdin is not None
    editor.process.stdin.close()
    return await editor.process.wait()


async def _by_signal(editor: Editor) -> int:
    editor.process.send_signal(signal.SIGTERM)
    return await editor.process.wait()


@pytest.mark.case("IO-06")
@pytest.mark.skipif(
    sys.platform == "win32", reason="signals and sh are POSIX; Windows ends a job object instead"
)
@pytest.mark.parametrize("stubborn", [False, True], ids=["obedient", "stubborn"])
@pytest.mark.parametrize(
    ("end", "code"), [(_by_shutdown, 0), (_by_exit_alone, 1), (_by_end_of_input, 1), (_by_signal, 1)]
)
async def test_io_06_no_process_outlives_the_language_server(
    tmp_path: Path, end: Callable[[Editor], Awaitable[int]], code: int, stubborn: bool
) -> None:
    script = {"ignore_eof": True, "ignore_sigterm": True} if stubborn else {}
    with ScriptedServer(tmp_path, grandchild=True, **script) as server:
        async with _editing(tmp_path, server) as editor:
            pids = [*server.pids, *server.children]
            assert len(pids) == 2
            async with asyncio.timeout(GONE_WITHIN):
                assert await end(editor) == code
            assert await _all_gone(pids)


@pytest.mark.case("IO-06")
@pytest.mark.skipif(sys.platform == "win32", reason="the parent is watched through a handle there")
async def test_io_06_the_death_of_the_editor_is_noticed_though_input_stays_open(tmp_path: Path) -> None:
    parent = await asyncio.create_subprocess_exec("sleep", "600")
    with ScriptedServer(tmp_path, grandchild=True) as server:
        async with _editing(tmp_path, server, process_id=parent.pid) as editor:
            pids = [*server.pids, *server.children]
            parent.kill()
            await parent.wait()
            async with asyncio.timeout(GONE_WITHIN):
                assert await editor.process.wait() == 1
            assert await _all_gone(pids)


@pytest.mark.case("IO-06")
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
async def test_io_06_a_killed_language_server_leaves_its_servers_an_end_of_input(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path) as server:
        async with _editing(tmp_path, server) as editor:
            pids = server.pids
            editor.process.kill()
            await editor.process.wait()
            assert await _all_gone(pids)

"""A profile that takes long holds the programs that need its environment, and nothing else."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.lsp_client import running
from tests.support.scripted_server import ScriptedServer

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="login shells are POSIX"),
]


@contextmanager
def slow_profile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """An editor that a desktop started, and a shell that goes on when something is written to this pipe."""
    gate, shell = folder / "gate", folder / "shell"
    os.mkfifo(gate)
    # With "<>" it waits for a line, whoever else has the pipe open.
    shell.write_text(f'#!/bin/sh\nread line <> "{gate}"\nshift 3\nexec /bin/sh -c "$1"\n', encoding="utf-8")
    shell.chmod(0o755)
    monkeypatch.setenv("SHELL", str(shell))
    for name in ("TERM", "SHLVL"):
        monkeypatch.delenv(name, raising=False)
    opened = os.open(gate, os.O_RDWR)
    try:
        yield opened
    finally:
        os.write(opened, b"go\n")
        os.close(opened)


@pytest.mark.case("IO-09")
async def test_io_09_a_slow_profile_holds_no_remote_server_and_no_wish_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = {"memo://plan": "the plan"}
    resources = [{"uri": "memo://plan", "name": "plan"}]
    with ScriptedServer(tmp_path, resources=resources, contents=contents) as server:
        servers = {"docs": server.entry(), "far": {"url": "http://127.0.0.1:9/mcp"}}
        with slow_profile(tmp_path, monkeypatch) as gate:
            async with running(tmp_path, servers) as editor:
                uri = editor.open("a.md", "@plan and @docs:memo://plan and @nobody:memo://plan")
                await editor.labels(uri, 0, 5)
                states = await editor.servers()
                assert states["docs"]["state"] == "idle"
                assert states["far"]["state"] != "idle"
                assert (await editor.command("resources", query="plan"))["incomplete"]
                reading = asyncio.create_task(editor.command("expand", text="@docs:memo://plan"))
                assert (await editor.servers())["docs"]["state"] == "idle"
                assert server.starts == 0
                os.write(gate, b"go\n")
                answer = await reading
                assert "the plan" in str(answer)
                assert await editor.labels(uri, 0, 5) == ["plan"]
                assert server.starts == 1

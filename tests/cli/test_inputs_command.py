"""What an entry asks for (``${input:id}``), typed in a terminal, kept for the next command, and forgotten."""

from __future__ import annotations

import json
import os
import pty
import select
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.support.scripted_server import ScriptedServer

RESOURCES = [{"uri": "memo://plan", "name": "plan"}]
CONTENTS = {"memo://plan": [{"mimeType": "text/plain", "text": "the plan"}]}
KEY = {"id": "key", "description": "API Key", "password": True}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ScriptedServer]:
    with ScriptedServer(tmp_path, resources=RESOURCES, contents=CONTENTS) as scripted:
        yield scripted


@pytest.fixture
def config(workspace: Path, server: ScriptedServer) -> Path:
    file = workspace / "servers.json"
    entry = server.entry(env={"K": "${input:key}", "WHO": "${input:who}"})
    who = {"id": "who", "default": "Ada"}
    file.write_text(json.dumps({"inputs": [KEY, who], "servers": {"docs": entry}}))
    return file


def typed(environment: Mapping[str, str], answers: dict[str, str], *words: str | Path) -> tuple[int, str]:
    """Run in a terminal of its own, typing each answer at its prompt; the exit code and the screen."""
    pid, terminal = pty.fork()
    if pid == 0:
        command = [sys.executable, "-P", "-m", "mcp_lectern", *map(str, words)]
        os.execve(sys.executable, command, dict(environment))
    screen, left = b"", dict(answers)
    while select.select([terminal], [], [], 30)[0]:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        screen += piece
        for prompt in [prompt for prompt in left if screen.endswith(prompt.encode())]:
            os.write(terminal, left.pop(prompt).encode() + b"\n")
    os.close(terminal)
    assert not left, screen
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), screen.decode()


def test_a_value_is_typed_once_and_used_by_every_command(
    environment: Mapping[str, str],
    lectern: Callable[..., Any],
    config: Path,
    server: ScriptedServer,
    home: Path,
) -> None:
    options = ("--config", config, "--no-discover")
    refused = lectern("read", "@docs:memo://plan", *options)
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert "asks for “API Key”, and there is nobody to ask".encode() in refused.stderr
    assert server.starts == 0
    code, screen = typed(
        environment, {"  key: ": "hush-hush", "  who [Ada]: ": ""}, "sign-in", "docs", *options
    )
    assert code == 0, screen
    assert "The entry of the server “docs” asks for “API Key”" in screen
    assert "hush-hush" not in screen
    assert (server.started[-1]["env"]["K"], server.started[-1]["env"]["WHO"]) == ("hush-hush", "Ada")
    read = lectern("read", "@docs:memo://plan", *options)
    assert (read.returncode, read.stdout, read.stderr) == (0, b"the plan", b"")
    assert server.started[-1]["env"]["K"] == "hush-hush"
    kept = [path for path in home.rglob("*.json") if "tokens" in path.parts]
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}
    assert lectern("sign-out", "docs", *options).returncode == 0
    assert not [path for path in home.rglob("*.json") if "tokens" in path.parts]
    assert lectern("read", "@docs:memo://plan", *options).returncode == 1


def test_list_and_read_ask_where_there_is_a_terminal(environment: Mapping[str, str], config: Path) -> None:
    options = ("--config", config, "--no-discover")
    answers = {"  key: ": "hush-hush", "  who [Ada]: ": "Eve"}
    code, screen = typed(environment, answers, "list", *options)
    assert code == 0, screen
    assert "@docs:memo://plan" in screen
    code, screen = typed(environment, {}, "read", "@docs:memo://plan", *options)
    assert code == 0
    assert screen.endswith("the plan")


def test_doctor_asks_for_nothing_and_says_what_is_missing(lectern: Callable[..., Any], config: Path) -> None:
    report = lectern("doctor", "--config", config, "--no-discover", "--json")
    (docs,) = json.loads(report.stdout)["servers"]
    assert docs["state"] == "needsSignIn"
    assert "asks for what only you can give it (“API Key”, “who”)" in docs["lastError"]
    assert report.returncode == 1

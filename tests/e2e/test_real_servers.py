"""Servers that we did not write, from npm and PyPI and on the official SDK, listed and read as by a user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(180)

SDK_SERVER = """
from mcp.server import MCPServer

server = MCPServer("sdk")


@server.resource("memo://today", mime_type="text/markdown")
def today() -> str:
    return "# Today\\n"


@server.resource("memo://{day}")
def day(day: str) -> str:
    return day


server.run("stdio")
"""


@pytest.fixture
def servers(tmp_path: Path, part: Callable[[str], Path]) -> dict[str, Mapping[str, Any]]:
    """Every server's entry."""
    npm, python, old_python = (part(f"{kind}-servers") for kind in ("npm", "python", "old-python"))
    sdk = tmp_path / "sdk_server.py"
    sdk.write_text(SDK_SERVER)
    memory = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}
    return {
        "everything": {"command": str(npm / "mcp-server-everything"), "args": ["stdio"]},
        "memory": {"command": str(npm / "mcp-server-memory"), "env": memory},
        "git": {"command": str(python / "mcp-server-git")},
        "time": {"command": str(python / "mcp-server-time")},
        "sqlite": {
            "command": str(old_python / "mcp-server-sqlite"),
            "args": ["--db-path", str(tmp_path / "db")],
        },
        "sample": {"command": str(old_python / "sample-mcp-server"), "args": ["--transport", "stdio"]},
        "sdk": {"command": sys.executable, "args": [str(sdk)]},
    }


@pytest.fixture
def lectern(tmp_path: Path, servers: dict[str, Mapping[str, Any]]) -> Callable[..., str]:
    """Runs a command of ``mcp-lectern`` over all these servers, in a home of its own; what it prints."""
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers}))
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}

    def run(command: str, *arguments: str) -> str:
        options = ["--no-discover", "--config", str(config)]
        done = subprocess.run(
            [sys.executable, "-P", "-m", "mcp_lectern", command, *options, *arguments],
            cwd=tmp_path,
            env=home,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_every_server_is_listed_with_all_that_it_has(lectern: Callable[..., str]) -> None:
    states = json.loads(lectern("doctor", "--json"))["servers"]
    assert {state["name"]: (state["state"], state["resources"], state["templates"]) for state in states} == {
        "everything": ("ready", 7, 2),
        "memory": ("ready", 1, 0),
        "git": ("ready", 0, 0),
        "time": ("ready", 0, 0),
        "sqlite": ("ready", 1, 0),
        "sample": ("ready", 4, 1),
        "sdk": ("ready", 1, 1),
    }
    versions = {state["name"]: state["protocolVersion"] for state in states}
    assert versions["everything"] == versions["sqlite"] == "2025-11-25"
    assert versions["git"] == versions["time"] == versions["sdk"] == "2026-07-28"


@pytest.mark.parametrize(
    ("mention", "text"),
    [
        ("@everything:demo://resource/static/document/architecture.md", "Everything Server"),
        ("@everything:demo://resource/dynamic/text/1", "Resource 1"),
        ("@memory:memory://knowledge-graph", "entities"),
        ("@sqlite:memo://insights", "insights"),
        ("@sample:resource://server/info", ""),
        ("@sdk:memo://today", "# Today"),
        ("@sdk:memo://sunday", "sunday"),
    ],
)
def test_a_resource_is_read(lectern: Callable[..., str], mention: str, text: str) -> None:
    content = lectern("read", mention)
    assert content.strip()
    assert text in content

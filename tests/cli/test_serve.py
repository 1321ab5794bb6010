"""``mcp-lectern serve``: what its own options do, seen by an editor."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import DEMO

from mcp_lectern.lsp.editor import serving, started

pytestmark = pytest.mark.anyio


async def servers(
    options: list[str], home: Path, workspace: Path, environment: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """The servers that an editor with this workspace is told of, by name."""
    async with started(serving(*options), folder=home, environment=environment) as editor:
        await editor.initialize([workspace])
        answer = await editor.command("lectern.servers")
        assert await editor.end() == 0
        return {server["name"]: server for server in answer["servers"]}


@pytest.mark.parametrize(
    ("option", "states"),
    [
        ([], {"demo": "notTrusted"}),
        (["--workspace-servers", "ask"], {"demo": "notTrusted"}),
        (["--workspace-servers", "always"], {"demo": "idle"}),
        (["--workspace-servers", "never"], {}),
    ],
)
async def test_the_command_line_decides_about_a_workspace_s_servers(
    option: list[str], states: dict[str, str], home: Path, workspace: Path, environment: Mapping[str, str]
) -> None:
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"demo": DEMO}}))
    found = await servers(option, home, workspace, environment)
    assert {name: server["state"] for name, server in found.items()} == states


async def test_files_of_the_command_line_are_the_user_s_and_the_last_one_wins(
    home: Path, workspace: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    for name in ("one", "two"):
        entry = {**DEMO, "env": {"FROM": name}}
        (tmp_path / f"{name}.json").write_text(json.dumps({"servers": {"demo": entry, name: DEMO}}))
    options = [
        "--no-discover",
        "--config",
        str(tmp_path / "one.json"),
        "--config",
        str(tmp_path / "two.json"),
    ]
    found = await servers(options, home, workspace, environment)
    assert set(found) == {"demo", "one", "two"}
    assert all(server["trust"]["approved"] for server in found.values())
    assert found["demo"]["trust"]["shows"]["env"] == {"FROM": "two"}


async def test_a_file_that_is_not_there_is_told_at_once_and_to_the_client(
    home: Path, workspace: Path, environment: Mapping[str, str], config: Callable[..., Path], tmp_path: Path
) -> None:
    missing, there = tmp_path / "missing.json", config(demo=DEMO)
    options = ["--no-discover", "--config", str(missing), "--config", str(there)]
    async with started(
        serving(*options), folder=home, environment=environment, stderr=subprocess.PIPE
    ) as editor:
        assert editor.process.stderr
        line = (await editor.process.stderr.readline()).decode()
        assert f"{missing} does not exist" in line
        await editor.initialize([workspace])
        shown = await editor.heard("window/showMessage", lambda params: str(missing) in params["message"])
        assert "does not exist" in shown["message"]
        assert [server["name"] for server in (await editor.command("lectern.servers"))["servers"]] == ["demo"]
        assert await editor.end() == 0


async def test_no_discover_finds_nothing(home: Path, workspace: Path, environment: Mapping[str, str]) -> None:
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"demo": DEMO}}))
    assert await servers(["--no-discover"], home, workspace, environment) == {}


async def test_a_relative_config_file_is_found_from_where_it_was_typed(
    home: Path, workspace: Path, environment: Mapping[str, str]
) -> None:
    (home / "here.json").write_text(json.dumps({"servers": {"demo": DEMO}}))
    assert set(await servers(["--config", "here.json"], home, workspace, environment)) == {"demo"}


@pytest.mark.parametrize(("level", "told"), [("debug", True), ("error", False)])
async def test_the_log_goes_to_its_file(
    level: str, told: bool, home: Path, config: Callable[..., Path], environment: Mapping[str, str]
) -> None:
    log = home / "lectern.log"
    options = ["--log-file", str(log), "--log-level", level, "--config", str(config(demo=DEMO))]
    async with started(
        serving(*options), folder=home, environment=environment, stderr=subprocess.PIPE
    ) as editor:
        await editor.initialize()
        await editor.command("lectern.refresh")
        await editor.end()
        assert editor.process.stderr
        assert await editor.process.stderr.read() == b""
    assert ("[demo]" in log.read_text(encoding="utf-8")) is told

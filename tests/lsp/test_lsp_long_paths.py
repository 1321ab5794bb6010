"""What no file system takes as a path costs the entry that holds it, never the user's own servers."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from tests.support.hubs import News
from tests.support.lsp_client import running

from mcp_lectern.config.model import Configuration
from mcp_lectern.lsp.engine import CommandLine, Engine
from mcp_lectern.lsp.session import Session

pytestmark = pytest.mark.anyio

LONG = "/" + "a" * 5000
MINE = {"command": sys.executable, "args": ["-P", "-m", "mcp_lectern", "demo-server"]}


@pytest.mark.case("CFG-05")
@pytest.mark.parametrize(
    "entry",
    [
        {"command": LONG},
        {"command": LONG[1:]},
        {"command": sys.executable, "cwd": LONG},
        {"command": sys.executable, "envFile": LONG},
        {"command": sys.executable, "args": [LONG]},
    ],
    ids=["path", "name", "cwd", "envFile", "argument"],
)
async def test_cfg_05_a_cloned_folder_cannot_switch_off_the_users_servers(
    tmp_path: Path, entry: dict[str, Any]
) -> None:
    folder = tmp_path / "cloned"
    folder.mkdir()
    sibling = {"command": sys.executable}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"long": entry, "sibling": sibling}}))
    async with running(tmp_path, {"mine": MINE}, workspace=folder, arguments=()) as editor:
        await editor.listed()
        servers = await editor.servers()
        assert {name: server["state"] for name, server in servers.items()} == {
            "mine": "ready",
            "long": "notTrusted",
            "sibling": "notTrusted",
        }


async def test_an_over_long_file_among_the_settings_costs_itself(tmp_path: Path) -> None:
    async with running(tmp_path, {"mine": MINE}, options={"configFiles": [LONG]}) as editor:
        assert list(await editor.servers()) == ["mine"]


@pytest.mark.parametrize("uri", [f"file://{LONG}", "file:///tmp/%00x", "file:///%ff%fe"])
async def test_a_folder_that_cannot_be_costs_itself(tmp_path: Path, uri: str) -> None:
    async with running(tmp_path, {"mine": MINE}, options={"servers": {"two": MINE}}, arguments=()) as editor:
        config = json.dumps({"servers": {"mine": MINE, "later": MINE}})
        (tmp_path / "lectern-config.json").write_text(config)
        event = types.WorkspaceFoldersChangeEvent(
            added=[types.WorkspaceFolder(uri, "odd")],
            removed=[types.WorkspaceFolder(editor.workspace.as_uri(), "workspace")],
        )
        editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        async with asyncio.timeout(20):
            while set(await editor.servers()) != {"mine", "two", "later"}:
                pass


async def test_a_configuration_that_cannot_be_applied_is_told() -> None:
    said: list[str] = []

    async def fail() -> None:
        raise OSError("no such luck")

    def configured(_: Configuration, warnings: Sequence[str]) -> None:
        said.extend(warnings)

    engine = Engine(Session(), CommandLine(discover=False), News(), None, fail, configured)  # type: ignore[arg-type]
    await engine.start()
    await engine.close()
    await engine.ended()
    (message,) = said
    assert "could not be applied" in message
    assert "no such luck" in message

"""What a cloned folder brings along is started by nobody but a person."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException
from tests.support.lsp_client import Editor, running

pytestmark = pytest.mark.anyio


def _entry(marker: Path, **more: object) -> dict[str, object]:
    """An entry whose command touches the marker as soon as it runs."""
    return {"command": sys.executable, "args": ["-c", f"open({str(marker)!r}, 'w').close()"], **more}


def _workspace(tmp_path: Path, files: dict[str, object]) -> Path:
    folder = tmp_path / "cloned"
    for name, value in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return folder


async def _use_everything(editor: Editor) -> None:
    """Type, hover, follow, search: all that a person does without approving anything."""
    uri = editor.open("a.md", "see @bad:memo://a and @")
    await editor.complete(uri, 0, 23)
    await editor.hover(uri, 0, 8)
    await editor.links(uri)
    await editor.definition(uri, 0, 8)
    await editor.command("resources", query="a")
    await editor.command("refresh")


@pytest.mark.case("CFG-05")
@pytest.mark.parametrize("name", [".mcp.json", ".vscode/mcp.json"])
async def test_cfg_05_a_workspace_server_starts_only_after_approval(tmp_path: Path, name: str) -> None:
    marker = tmp_path / "marker"
    key = "mcpServers" if name == ".mcp.json" else "servers"
    folder = _workspace(tmp_path, {name: {key: {"bad": _entry(marker)}}})
    async with running(tmp_path, workspace=folder, arguments=()) as editor:
        await _use_everything(editor)
        server = (await editor.servers())["bad"]
        assert (server["state"], server["trust"]["approved"]) == ("notTrusted", False)
        assert server["trust"]["shows"]["args"][0] == "-c"
        with pytest.raises(JsonRpcException) as refusal:
            await editor.command("open", server="bad", uri="memo://a")
        assert refusal.value.data["kind"] == "notTrusted"
        assert not marker.exists()
        await editor.command("approve", server="bad", fingerprint=server["trust"]["fingerprint"])
        await editor.command("refresh", server="bad")
        assert marker.exists()


@pytest.mark.case("CFG-05")
async def test_cfg_05_a_workspace_entry_cannot_take_a_users_name(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    folder = _workspace(tmp_path, {".mcp.json": {"mcpServers": {"mine": _entry(marker)}}})
    mine = {"command": sys.executable, "args": ["-P", "-m", "mcp_lectern", "demo-server"]}
    async with running(tmp_path, {"mine": mine}, workspace=folder, arguments=()) as editor:
        await editor.listed()
        assert (await editor.servers())["mine"]["resources"] > 0
        await editor.until(lambda: any(".mcp.json" in params.uri for params in editor.published))
        assert not marker.exists()


@pytest.mark.case("SEC-02")
@pytest.mark.parametrize("change", ["env", "cwd", "envFile", "script", "args"])
async def test_sec_02_what_was_approved_and_then_changed_asks_again(tmp_path: Path, change: str) -> None:
    marker, script = tmp_path / "marker", "server.py"
    body = f"open({str(marker)!r}, 'a').close()"
    entry = {"command": sys.executable, "args": [script], "env": {"A": "1"}, "cwd": ".", "envFile": ".env"}
    folder = _workspace(
        tmp_path,
        {".mcp.json": {"mcpServers": {"it": entry}}, script: body, ".env": "B=1\n", "sub/x": ""},
    )
    async with running(tmp_path, workspace=folder, arguments=()) as editor:
        first = (await editor.servers())["it"]["trust"]["fingerprint"]
        await editor.command("approve", server="it", fingerprint=first)
    marker.unlink(missing_ok=True)
    changed = {
        **entry,
        **{"env": {"env": {"A": "2"}}, "cwd": {"cwd": "sub"}, "args": {"args": [script, "-x"]}}.get(
            change, {}
        ),
    }
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"it": changed}}), encoding="utf-8")
    if change == "script":
        (folder / script).write_text(body + "\n#changed", encoding="utf-8")
    if change == "envFile":
        (folder / ".env").write_text("B=2\n", encoding="utf-8")
    async with running(tmp_path, workspace=folder, arguments=()) as editor:
        server = (await editor.servers())["it"]
        assert server["state"] == "notTrusted"
        assert "changed" in server["lastError"]
        with pytest.raises(JsonRpcException, match="look at it again"):
            await editor.command("approve", server="it", fingerprint=first)
        await _use_everything(editor)
    assert not marker.exists()


@pytest.mark.case("SEC-02")
async def test_sec_02_settings_that_may_come_from_a_folder_start_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    planted = _workspace(tmp_path, {"planted.json": {"servers": {"other": _entry(marker)}}})
    settings = {
        "servers": {"bad": _entry(marker)},
        "configFiles": [str(planted / "planted.json")],
        "workspaceServers": "always",
    }
    async with running(tmp_path, options=settings, workspace=planted) as editor:
        await _use_everything(editor)
        servers = await editor.servers()
        assert {name: server["state"] for name, server in servers.items()} == {
            "bad": "notTrusted",
            "other": "notTrusted",
        }
    assert not marker.exists()


@pytest.mark.case("SEC-02")
async def test_sec_02_settings_that_a_client_vouches_for_are_the_users(tmp_path: Path) -> None:
    mine = {"command": sys.executable, "args": ["-P", "-m", "mcp_lectern", "demo-server"]}
    async with running(
        tmp_path, options={"servers": {"mine": mine}}, experimental={"trustedSettings": True}
    ) as editor:
        await editor.listed()
        assert (await editor.servers())["mine"]["state"] == "ready"


@pytest.mark.case("SEC-03")
async def test_sec_03_nothing_is_imported_or_run_from_the_workspace(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    code = f"open({str(marker)!r}, 'w').close()\n"
    script = f"#!/bin/sh\ntouch {marker}\n"
    folder = _workspace(
        tmp_path,
        {
            **dict.fromkeys(("lsprotocol.py", "json.py", "mcp_lectern.py", "pydantic.py", "anyio.py"), code),
            **dict.fromkeys(("node_modules/.bin/npx", ".venv/bin/python", "npx"), script),
        },
    )
    for name in ("node_modules/.bin/npx", ".venv/bin/python", "npx"):
        (folder / name).chmod(0o755)
    safe = tmp_path / "bin"
    safe.mkdir()
    entry = {"command": "npx", "args": ["-y", "something"], "env": {"PATH": f".:{safe}::node_modules/.bin"}}
    before = Path.cwd()
    os.chdir(folder)
    try:
        async with running(tmp_path, {"it": entry}, workspace=folder) as editor:
            await _use_everything(editor)
            server = (await editor.servers())["it"]
            assert server["state"] == "failed"
            assert "npx" in server["lastError"]
    finally:
        os.chdir(before)
    assert not marker.exists()

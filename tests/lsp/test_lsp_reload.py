"""A configuration that changes under a running language server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lsprotocol import types
from tests.support.lsp_client import Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

ONE = [{"uri": "memo://plan", "name": "plan"}]
ALWAYS = ("--workspace-servers", "always")


def _saved(editor: Editor, file: Path) -> None:
    event = types.FileEvent(file.as_uri(), types.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))


def _write(file: Path, servers: dict[str, object]) -> None:
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    fresh.replace(file)


@pytest.mark.case("CFG-06")
async def test_cfg_06_only_what_changed_is_restarted(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    file = folder / ".mcp.json"
    with (
        ScriptedServer(tmp_path, name="a", resources=ONE) as a,
        ScriptedServer(tmp_path, name="b", resources=ONE) as b,
    ):
        _write(file, {"a": a.entry(), "b": b.entry()})
        async with running(tmp_path, workspace=folder, arguments=ALWAYS) as editor:
            await editor.listed()
            uri = editor.open("a.md", "@b:memo://nowhere")
            await editor.until_diagnostics(uri)
            for number in range(20):
                _write(file, {"a": a.entry(), **({"b": b.entry()} if number % 2 else {})})
                _saved(editor, file)
            _write(file, {"a": a.entry()})
            _saved(editor, file)
            await b.wait_ended()
            await editor.until(lambda: "configured" in str(editor.diagnostics(uri)))
            assert list(await editor.servers()) == ["a"]
            assert a.starts == 1
            assert b.starts == 1
            file.unlink()
            _saved(editor, file)
            await a.wait_ended()


@pytest.mark.case("CFG-01")
async def test_cfg_01_the_problems_of_a_file_stand_beside_those_of_its_mentions(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    file = folder / ".mcp.json"
    with ScriptedServer(tmp_path, resources=ONE) as server:
        _write(file, {"a": server.entry()})
        options = {"lectern": {"languages": ["*"]}}
        async with running(tmp_path, workspace=folder, arguments=ALWAYS, options=options) as editor:
            await editor.listed()
            broken = '{\n  "mcpServers": {\n    "a": {, "@a:memo://nowhere"\n'
            file.write_text(broken, encoding="utf-8")
            _saved(editor, file)
            await editor.until_diagnostics(file.as_uri())
            editor.open(file.as_uri(), broken, "json")
            await editor.until(lambda: len(editor.diagnostics(file.as_uri())) == 2)
            editor.close(file.as_uri())
            await editor.until(lambda: len(editor.diagnostics(file.as_uri())) == 1)
            editor.open(file.as_uri(), broken, "json")
            await editor.until(lambda: len(editor.diagnostics(file.as_uri())) == 2)
            _write(file, {"a": server.entry()})
            _saved(editor, file)
            await editor.until(lambda: len(editor.diagnostics(file.as_uri())) == 1)
            (left,) = editor.diagnostics(file.as_uri())
            assert "memo://nowhere" in left.message


@pytest.mark.case("CFG-01")
async def test_cfg_01_a_broken_file_is_marked_where_it_breaks_and_the_old_one_stays(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    file = folder / ".mcp.json"
    with ScriptedServer(tmp_path, resources=ONE) as server:
        _write(file, {"a": server.entry()})
        async with running(tmp_path, workspace=folder, arguments=ALWAYS) as editor:
            await editor.listed()
            file.write_text('{\n  "mcpServers": {\n    "a": {,\n', encoding="utf-8")
            _saved(editor, file)
            (found,) = await editor.until_diagnostics(file.as_uri())
            assert found.range.start.line == 2
            assert (await editor.servers())["a"]["state"] == "ready"
            _write(file, {"a": server.entry()})
            _saved(editor, file)
            await editor.until(lambda: not editor.diagnostics(file.as_uri()))
            assert server.starts == 1


async def test_settings_that_change_take_effect(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            await editor.listed()
            uri = editor.open("a.md", "`@docs:memo://nowhere`")
            other = editor.open("b.md", "@docs:memo://nowhere")
            await editor.until_diagnostics(other)
            assert not editor.diagnostics(uri)
            change = types.DidChangeConfigurationParams({"lectern": {"codeFences": True, "nonsense": 1}})
            editor.client.workspace_did_change_configuration(change)
            await editor.until_diagnostics(uri)
            await editor.until(lambda: any("nonsense" in message.message for message in editor.messages))
            assert server.starts == 1

"""Code actions and lenses as an editor gets them, and what happens when they are used."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from tests.support.lsp_client import CONTENT, PLAIN, Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

DEMO = {"command": sys.executable, "args": ["-P", "-m", "mcp_lectern", "demo-server"]}
LENSES = {**CONTENT, "workspace": {**CONTENT["workspace"], "codeLens": {"refreshSupport": True}}}


async def _run(editor: Editor, action: types.CodeAction | types.Command) -> Any:
    assert isinstance(action, types.Command)
    return await editor.client.workspace_execute_command_async(
        types.ExecuteCommandParams(action.command, action.arguments)
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_a_fix_replaces_exactly_the_mention_and_goes_with_its_diagnostic(
    tmp_path: Path, encoding: str
) -> None:
    async with running(tmp_path, {"demo": DEMO}, encodings=[encoding]) as editor:
        await editor.listed()
        uri = editor.open("a.md", "🙂 @demo:tour://welcom!")
        (found,) = await editor.until_diagnostics(uri)
        at = found.range.start.character
        offered = await editor.actions(uri, 0, at + 3, found)
        fix = offered["Write @demo:tour://welcome"]
        assert isinstance(fix, types.CodeAction)
        assert fix.kind == types.CodeActionKind.QuickFix
        assert [one.message for one in fix.diagnostics or ()] == [found.message]
        assert fix.edit is not None
        assert fix.edit.changes is not None
        (edit,) = fix.edit.changes[uri]
        assert (edit.new_text, edit.range) == ("@demo:tour://welcome", found.range)
        assert "Lectern: Refresh demo" in offered
        assert not await editor.actions(uri, 0, 0)
        only = await editor.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri),
                found.range,
                types.CodeActionContext([found], only=[types.CodeActionKind.QuickFix]),
            )
        )
        assert [one.title for one in only or ()] == ["Write @demo:tour://welcome"]


async def test_every_suggestion_is_a_fix_of_its_own_for_a_resource_and_for_a_server(tmp_path: Path) -> None:
    listed = [{"uri": f"memo://plan-{year}", "name": str(year)} for year in (2026, 2025, 2024)]
    with (
        ScriptedServer(tmp_path, name="a", resources=listed) as first,
        ScriptedServer(tmp_path, name="b", resources=listed) as second,
    ):
        async with running(tmp_path, {"notes-a": first.entry(), "notes-b": second.entry()}) as editor:
            await editor.listed()
            for text, expected in (
                ("@notes-a:memo://plan-2023", {f"@notes-a:{one['uri']}" for one in listed}),
                ("@notes:memo://plan-2026", {"@notes-a:memo://plan-2026", "@notes-b:memo://plan-2026"}),
            ):
                uri = editor.open(f"{len(text)}.md", text)
                (found,) = await editor.until_diagnostics(uri)
                offered = await editor.actions(uri, 0, 3, found)
                fixes = [one for one in offered.values() if isinstance(one, types.CodeAction)]
                assert {one.title for one in fixes} == {f"Write {mention}" for mention in expected}
                for one in fixes:
                    assert [each.message for each in one.diagnostics or ()] == [found.message]
                    assert one.edit is not None
                    assert one.edit.changes is not None
                    assert [each.new_text for each in one.edit.changes[uri]] == [one.title[len("Write ") :]]


async def test_an_editor_without_literals_gets_commands_alone(tmp_path: Path) -> None:
    async with running(tmp_path, {"demo": DEMO}, capabilities=PLAIN) as editor:
        await editor.listed()
        offered = await editor.actions(editor.open("a.md", "@demo:tour://welcom"), 0, 3)
        assert list(offered) == ["Lectern: Open this resource", "Lectern: Refresh demo"]
        assert all(isinstance(one, types.Command) for one in offered.values())


async def test_a_server_is_started_from_a_mention_of_it(tmp_path: Path) -> None:
    async with running(tmp_path, {"demo": DEMO}) as editor:
        uri = editor.open("a.md", "@demo:tour://welcome")
        assert (await editor.servers())["demo"]["state"] == "idle"
        answer = await _run(editor, (await editor.actions(uri, 0, 3))["Lectern: Start demo"])
        assert [one["state"] if isinstance(one, dict) else one.state for one in _servers(answer)] == ["ready"]


def _servers(answer: Any) -> Any:
    return answer["servers"] if isinstance(answer, dict) else answer.servers


async def test_a_server_is_approved_from_a_mention_of_it_after_it_was_shown(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"demo": DEMO}}), encoding="utf-8")
    async with running(tmp_path, workspace=folder, arguments=()) as editor:
        asked: list[types.ShowMessageRequestParams] = []
        editor.client.protocol.fm.features.pop(types.WINDOW_SHOW_MESSAGE_REQUEST, None)

        @editor.client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
        def choose(params: types.ShowMessageRequestParams) -> types.MessageActionItem:
            asked.append(params)
            assert params.actions
            return params.actions[0]

        await editor.servers()
        uri = editor.open("a.md", "@demo:tour://welcome")
        await _run(editor, (await editor.actions(uri, 0, 3))["Lectern: Approve demo…"])
        assert "demo-server" in asked[0].message
        assert (await editor.servers())["demo"]["trust"]["approved"]


async def _lenses(editor: Editor, uri: str) -> list[tuple[int, str]]:
    answer = await editor.client.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(uri))
    )
    assert all(one.command for one in answer or ())
    return [(one.range.start.line, one.command.title) for one in answer or () if one.command]


async def test_lenses_stand_over_each_entry_and_follow_its_state(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / ".vscode").mkdir(parents=True)
    theirs = folder / ".vscode" / "mcp.json"
    theirs.write_text('{\n  "servers": {\n    "theirs": {"command": "x"}\n  }\n}', encoding="utf-8")
    with ScriptedServer(tmp_path, resources=[{"uri": "a://1", "name": "a"}]) as server:
        async with running(
            tmp_path, {"mine": server.entry()}, workspace=folder, arguments=(), capabilities=LENSES
        ) as editor:
            await editor.servers()
            assert await _lenses(editor, theirs.as_uri()) == [(2, "Lectern: Approve"), (2, "Log")]
            own = (tmp_path / "lectern-config.json").as_uri()
            assert await _lenses(editor, own) == [(0, "Lectern: Start"), (0, "Log")]
            assert await _lenses(editor, editor.open("a.md", "@mine:a://1")) == []
            seen = len(editor.asked_again)
            answer = await editor.client.text_document_code_lens_async(
                types.CodeLensParams(types.TextDocumentIdentifier(own))
            )
            start = next(one.command for one in answer or () if one.command)
            await _run(editor, start)
            await editor.until(lambda: "workspace/codeLens/refresh" in editor.asked_again[seen:])
            ready = [(0, "Lectern: Stop"), (0, "Restart"), (0, "Log")]
            assert await _lenses(editor, own) == ready


async def test_a_log_is_shown_to_editors_that_do_nothing_with_answers(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=[]) as server:
        async with running(tmp_path, {"mine": server.entry()}) as editor:
            await editor.listed()
            server.stderr("hello from the server")
            own = (tmp_path / "lectern-config.json").as_uri()
            answer = await editor.client.text_document_code_lens_async(
                types.CodeLensParams(types.TextDocumentIdentifier(own))
            )
            log = next(one.command for one in answer or () if one.command and one.command.title == "Log")
            await _run(editor, log)
            await editor.until(lambda: bool(editor.shown))
            path = Path(editor.shown[0].uri.removeprefix("file://"))
            assert path.suffix == ".txt"
            assert path.read_text(encoding="utf-8")
            with pytest.raises(Exception, match="true or false"):
                await editor.command("log", server="mine", reveal="yes")

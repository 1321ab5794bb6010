"""Diagnostics come when there is something to say, and never for what is gone."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from tests.support.lsp_client import CONTENT, Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

ONE = [{"uri": "memo://plan", "name": "plan"}]
DEMO = {"command": sys.executable, "args": ["-P", "-m", "mcp_lectern", "demo-server"]}
PULLS = {
    "workspace": {**CONTENT["workspace"], "diagnostics": {"refreshSupport": True}},
    "textDocument": {**CONTENT["textDocument"], "diagnostic": {"dynamicRegistration": False}},
}


def _published(editor: Editor, uri: str) -> list[tuple[int | None, int]]:
    """Version and number of diagnostics of each publish for the document."""
    return [(p.version, len(p.diagnostics)) for p in editor.published if p.uri == uri]


async def _until_quiet(editor: Editor) -> None:
    """A later document's diagnostics have been published: nothing older is still to come."""
    probe = editor.open("probe.md", "@docs:memo://nowhere")
    await editor.until_diagnostics(probe)


@pytest.mark.case("TPL-03")
@pytest.mark.case("LSP-05")
async def test_lsp_05_tpl_03_nothing_is_said_before_the_server_was_listed(tmp_path: Path) -> None:
    slow = {"resources/list": {"gate": "go"}}
    with ScriptedServer(tmp_path, resources=ONE, answers=slow) as server:
        async with running(tmp_path, {"docs": server.entry(), "other": DEMO}) as editor:
            uri = editor.open("a.md", "@docs:memo://plan @docs:memo://plum")
            await editor.command("resources", query="")
            await server.wait_waiting("go")
            other = editor.open("b.md", "@nobody:memo://x")
            await editor.until_diagnostics(other)
            assert not _published(editor, uri)
            server.open("go")
            (found,) = await editor.until_diagnostics(uri)
            assert "memo://plan" in found.message
            assert found.severity in (types.DiagnosticSeverity.Warning, types.DiagnosticSeverity.Information)


@pytest.mark.case("LSP-05")
async def test_lsp_05_a_close_takes_diagnostics_away_once_and_for_all(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            await editor.listed()
            uri = editor.open("a.md", "@docs:memo://plum")
            await editor.until_diagnostics(uri)
            editor.change(uri, 2, (None, "@docs:memo://plum @docs:memo://pear"))
            editor.close(uri)
            await _until_quiet(editor)
            assert _published(editor, uri) == [(1, 1), (None, 0)]
            assert await editor.hover(uri, 0, 3) is None, "a request on a closed document is no error"
            again = editor.open("a.md", "@docs:memo://plum")
            await editor.until(lambda: _published(editor, again)[-1] == (1, 1))


@pytest.mark.case("LSP-05")
async def test_lsp_05_a_late_read_says_nothing_about_a_closed_document(tmp_path: Path) -> None:
    slow = {"resources/read": {"gate": "go", "error": {"code": -32002, "message": "gone"}}}
    with ScriptedServer(tmp_path, resources=ONE, answers=slow) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            await editor.listed()
            uri = editor.open("untitled:Untitled-1", "@docs:memo://plan")
            (link,) = await editor.links(uri)
            reading = editor.client.workspace_text_document_content_async(
                types.TextDocumentContentParams(link.target or "")
            )
            import asyncio

            task = asyncio.ensure_future(reading)
            await server.wait_waiting("go")
            editor.close(uri)
            server.open("go")
            with pytest.raises(Exception, match="gone"):
                await task
            await _until_quiet(editor)
            assert not _published(editor, uri)


@pytest.mark.case("RD-01")
async def test_rd_01_a_resource_that_cannot_be_read_marks_its_mentions_until_it_can(tmp_path: Path) -> None:
    gone = {"resources/read": {"error": {"code": -32602, "message": "no such memo"}}}
    with ScriptedServer(tmp_path, resources=ONE, answers=gone, contents={"memo://plan": "x"}) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            await editor.listed()
            uri = editor.open("a.md", "@docs:memo://plan")
            (link,) = await editor.links(uri)
            with pytest.raises(Exception, match="no such memo"):
                await editor.content(link.target or "")
            (found,) = await editor.until_diagnostics(uri)
            assert "no such memo" in found.message
            server.change(answers={}, notify=False)
            assert await editor.content(link.target or "") == "x"
            await editor.until(lambda: not editor.diagnostics(uri))


async def test_diagnostics_go_when_the_server_appears_and_when_they_are_switched_off(tmp_path: Path) -> None:
    prose = "@alice:example.org @angular/core:build @types/node: @decorator @C:\\x a@b.example @bob:hi"
    async with running(tmp_path, {"docs": DEMO}, settings={"diagnostics": "hint"}) as editor:
        await editor.listed()
        uri = editor.open("a.md", f"{prose} @dosc:tour://welcome")
        (found,) = await editor.until_diagnostics(uri)
        assert found.range.start.character == len(prose) + 1
        assert found.severity == types.DiagnosticSeverity.Hint
        actions = await editor.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri), found.range, types.CodeActionContext([found])
            )
        )
        edits = [action.edit for action in actions or () if isinstance(action, types.CodeAction)]
        texts = [edit.changes[uri][0].new_text for edit in edits if edit and edit.changes]
        assert "@docs:tour://welcome" in texts


async def _pull(editor: Editor, uri: str, previous: str | None = None) -> Any:
    return await editor.client.text_document_diagnostic_async(
        types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), previous_result_id=previous)
    )


async def test_a_pull_is_told_that_nothing_has_changed(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        async with running(tmp_path, {"docs": server.entry()}, capabilities=PULLS) as editor:
            await editor.listed()
            uri = editor.open("a.md", "@docs:memo://plum")
            first = await _pull(editor, uri)
            assert (first.kind, [one.code for one in first.items]) == ("full", ["unknownResource"])
            same = await _pull(editor, uri, first.result_id)
            assert (same.kind, same.result_id) == ("unchanged", first.result_id)
            editor.change(uri, 2, (((0, 17), (0, 17)), " and more prose"))
            assert (await _pull(editor, uri, first.result_id)).kind == "unchanged"
            editor.change(uri, 3, (((0, 0), (0, 0)), "See "))
            moved = await _pull(editor, uri, first.result_id)
            assert (moved.kind, moved.items[0].range.start.character) == ("full", 4)
            assert moved.result_id != first.result_id
            assert (await _pull(editor, uri, "an id of another life")).kind == "full"
            editor.change(uri, 4, (((0, 0), (0, 4)), ""))
            assert (await _pull(editor, uri, moved.result_id)).result_id == first.result_id


def _asked_more_than(editor: Editor, times: int) -> bool:
    return editor.asked_again.count(types.WORKSPACE_DIAGNOSTIC_REFRESH) > times


async def _until_pulled(editor: Editor, uri: str, previous: str) -> Any:
    """What a client has that pulls when it is asked to, and only then: once it is something new."""
    asked = 0
    while True:
        await editor.until(partial(_asked_more_than, editor, asked))
        asked = editor.asked_again.count(types.WORKSPACE_DIAGNOSTIC_REFRESH)
        report = await _pull(editor, uri, previous)
        if report.kind == "full":
            return report
        assert report.result_id == previous


async def test_after_a_change_of_the_list_a_client_that_pulls_is_asked_to_pull_again(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        async with running(tmp_path, {"docs": server.entry()}, capabilities=PULLS) as editor:
            uri = editor.open("a.md", "@docs:memo://plum")
            nothing = await _pull(editor, uri)
            assert not nothing.items
            await editor.listed()
            unknown = await _until_pulled(editor, uri, nothing.result_id)
            assert len(unknown.items) == 1
            server.change(resources=[*ONE, {"uri": "memo://plum", "name": "plum"}])
            known = await _until_pulled(editor, uri, unknown.result_id)
            assert len(known.items) == 0
            assert (await _pull(editor, uri, known.result_id)).kind == "unchanged"
            assert not editor.published

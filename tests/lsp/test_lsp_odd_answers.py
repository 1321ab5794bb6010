"""What a person is asked, and what an editor is told to do, comes to an end whatever the editor answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.lsp_client import environment
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.lsp.editor import CAPABILITIES, Editor, ResponseError, serving, started

pytestmark = pytest.mark.anyio

ONE = [{"uri": "memo://a", "name": "a", "mimeType": "text/plain"}]
PROMPT = {**CAPABILITIES, "experimental": {"lectern": {"trustPrompt": True}}}
TEXT = "file:///a.md"
WHERE = {"textDocument": {"uri": TEXT}, "position": {"line": 0, "character": 3}}
WHAT = {**WHERE, "server": "docs", "uri": "memo://a"}


@asynccontextmanager
async def editing(
    tmp_path: Path, capabilities: Mapping[str, Any] = CAPABILITIES, *, trusted: bool = True
) -> AsyncIterator[Editor]:
    folder = tmp_path / "folder"
    folder.mkdir()
    with ScriptedServer(tmp_path, resources=ONE, contents={"memo://a": "text"}) as server:
        config = tmp_path / "config.json" if trusted else folder / ".mcp.json"
        config.write_text(json.dumps({"mcpServers": {"docs": server.entry()}}), encoding="utf-8")
        command = serving(*(("--config", str(config), "--no-discover") if trusted else ()))
        async with started(command, folder=tmp_path, environment=environment(tmp_path)) as editor:
            await editor.initialize([folder], capabilities)
            editor.open(TEXT, "@docs:memo://a")
            async with asyncio.timeout(30):
                yield editor


@pytest.mark.parametrize("answer", [None, 7, {"applied": False}, {}])
async def test_an_edit_that_is_answered_oddly_was_not_applied(tmp_path: Path, answer: object) -> None:
    """The command was never answered."""
    async with editing(tmp_path) as editor:
        editor.answers["workspace/applyEdit"] = lambda _params: answer
        await editor.command("lectern.refresh")
        assert await editor.command("lectern.replace", WHAT) == {"applied": False}


async def test_an_edit_that_is_refused_is_told_in_the_editors_words(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        await editor.command("lectern.refresh")
        with pytest.raises(ResponseError) as refused:
            await editor.command("lectern.replace", WHAT)
        assert (refused.value.code, "does not answer" in refused.value.message) == (-32602, True)


@pytest.mark.parametrize("line", [-1, 2**31, 10**30, 0.5, True, "0"])
async def test_a_place_that_is_none_is_refused_with_a_sentence(tmp_path: Path, line: object) -> None:
    async with editing(tmp_path) as editor:
        await editor.command("lectern.refresh")
        with pytest.raises(ResponseError) as refused:
            await editor.command("lectern.replace", {**WHAT, "position": {"line": line, "character": 3}})
        assert (refused.value.code, "position" in refused.value.message) == (-32602, True)


@pytest.mark.parametrize("answer", [None, 7, "Approve", ["Approve"], {"title": "approve"}, {"approved": 1}])
@pytest.mark.parametrize("prompt", [True, False], ids=["lectern/approve", "a question"])
async def test_an_odd_answer_approves_nothing(tmp_path: Path, prompt: bool, answer: object) -> None:
    """Some were never an answer: the command stayed open."""
    async with editing(tmp_path, PROMPT if prompt else CAPABILITIES, trusted=False) as editor:
        editor.answers["lectern/approve" if prompt else "window/showMessageRequest"] = lambda _params: answer
        with pytest.raises(ResponseError) as refused:
            await editor.command("lectern.approve", {"server": "docs"})
        assert refused.value.data == {"kind": "notTrusted", "server": "docs"}


@pytest.mark.parametrize("prompt", [True, False], ids=["lectern/approve", "a question"])
async def test_an_editor_that_asks_nobody_leads_to_the_terminal(tmp_path: Path, prompt: bool) -> None:
    async with editing(tmp_path, PROMPT if prompt else CAPABILITIES, trusted=False) as editor:
        editor.answers.pop("window/showMessageRequest")
        with pytest.raises(ResponseError) as refused:
            await editor.command("lectern.approve", {"server": "docs"})
        assert refused.value.data == {"kind": "notTrusted", "server": "docs"}
        assert "mcp-lectern approve" in refused.value.message

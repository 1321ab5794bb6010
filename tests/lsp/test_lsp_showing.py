"""What an editor is asked to show and does not is told, whatever it answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.lsp_client import environment
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.lsp.editor import CAPABILITIES, Editor, serving, started

pytestmark = pytest.mark.anyio

SHOW, MESSAGE = "window/showDocument", "window/showMessage"
POOR = {**CAPABILITIES, "workspace": {"configuration": True}}
ONE = [{"uri": "memo://a", "name": "a"}]


@asynccontextmanager
async def editing(tmp_path: Path, capabilities: Mapping[str, Any] = CAPABILITIES) -> AsyncIterator[Editor]:
    config = tmp_path / "config.json"
    with ScriptedServer(tmp_path, resources=ONE, contents={"memo://a": "text"}) as server:
        config.write_text(json.dumps({"servers": {"docs": server.entry()}}), encoding="utf-8")
        command = serving("--config", str(config), "--no-discover")
        async with started(command, folder=tmp_path, environment=environment(tmp_path)) as editor:
            await editor.initialize(capabilities=capabilities)
            yield editor


@pytest.mark.parametrize("refused", [True, False], ids=["an error", "no success"])
@pytest.mark.parametrize("capabilities", [CAPABILITIES, POOR], ids=["documents", "files"])
async def test_what_is_not_shown_is_told(
    tmp_path: Path, capabilities: Mapping[str, Any], refused: bool
) -> None:
    """Nothing appeared, and nobody said where it was."""
    async with editing(tmp_path, capabilities) as editor:
        editor.answers[SHOW] = lambda _params: {"success": False}
        if refused:
            del editor.answers[SHOW]
        (document,) = (await editor.command("lectern.open", {"mention": "@docs:memo://a"}))["documents"]
        assert ("path" in document) == (capabilities is POOR)
        told = await editor.heard(MESSAGE)
        assert told["message"].endswith(document.get("path", document["document"]))
        await editor.command("lectern.log", {"server": "docs", "reveal": True})
        await editor.heard(MESSAGE, lambda params: "log was saved" in params["message"])


@pytest.mark.parametrize("answer", [{"success": True}, None, 7])
async def test_an_editor_that_answers_oddly_is_taken_to_have_shown_it(tmp_path: Path, answer: object) -> None:
    async with editing(tmp_path) as editor:
        editor.answers[SHOW] = lambda _params: answer
        await editor.command("lectern.open", {"mention": "@docs:memo://a"})
        await editor.heard(SHOW)
        await editor.command("lectern.servers")
        assert MESSAGE not in [method for method, _ in editor.notifications]

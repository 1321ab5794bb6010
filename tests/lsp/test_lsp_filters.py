"""Filters take things from what is offered, everywhere, and from nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from lsprotocol import types
from tests.support.lsp_client import running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

DEMO = {"command": sys.executable, "args": ["-P", "-m", "mcp_lectern", "demo-server"]}
TWO = [{"uri": "memo://plan", "name": "plan"}, {"uri": "memo://planned", "name": "planned"}]


async def test_what_is_hidden_is_offered_nowhere_and_known_everywhere(tmp_path: Path) -> None:
    filters = {"docs": {"exclude": ["*ned"]}, "demo": {"hide": True}}
    with ScriptedServer(tmp_path, resources=TWO) as server:
        entries = {"docs": server.entry(), "demo": DEMO}
        async with running(tmp_path, entries, settings={"filters": filters}) as editor:
            await editor.listed()
            assert await editor.labels(editor.open("a.md", "@plan"), 0, 5) == ["plan"]
            everything = await editor.labels(editor.open("b.md", "@"), 0, 1)
            assert everything == ["plan", "docs:"]
            assert await editor.labels(editor.open("c.md", "@memo://planned"), 0, 15) == []
            found = await editor.command("resources", query="plan")
            assert [item["uri"] for item in found["items"]] == ["memo://plan"]
            symbols = await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams("plan"))
            assert [symbol.name for symbol in symbols or ()] == ["plan"]
            uri = editor.open("d.md", "@docs:memo://planned @demo:tour://welcome")
            assert "planned" in (await editor.hover(uri, 0, 3) or "")
            assert "Welcome" in (await editor.hover(uri, 0, 25) or "")
            assert len(await editor.links(uri)) == 2
            wrong = editor.open("e.md", "@docs:memo://gone")
            await editor.until_diagnostics(wrong)
            assert not editor.diagnostics(uri)

"""What the user accepted or opened is offered first the next time, also after a restart."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.lsp_client import running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

THREE = [{"uri": f"memo://plan/{n}", "name": f"plan {n}"} for n in range(3)]


async def test_what_was_accepted_or_opened_comes_first(tmp_path: Path) -> None:
    contents = {"memo://plan/1": "one"}
    with ScriptedServer(tmp_path, resources=THREE, contents=contents) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            await editor.listed()
            uri = editor.open("a.md", "see @plan")
            answer = await editor.complete(uri, 0, 9)
            assert answer is not None
            assert [item.label for item in answer.items] == ["plan 0", "plan 1", "plan 2"]
            edit = answer.items[2].text_edit
            assert edit is not None
            editor.change(uri, 2, (((0, 4), (0, 9)), edit.new_text))
            other = editor.open("b.md", "@plan")
            assert await editor.labels(other, 0, 5) == ["plan 2", "plan 0", "plan 1"]
            await editor.command("open", server="docs", uri="memo://plan/1", reveal=False)
            assert await editor.labels(other, 0, 5) == ["plan 2", "plan 1", "plan 0"]
            found = await editor.command("resources", query="plan")
            assert [item["name"] for item in found["items"]] == ["plan 2", "plan 1", "plan 0"]
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            await editor.listed()
            assert await editor.labels(editor.open("b.md", "@plan"), 0, 5) == ["plan 1", "plan 0", "plan 2"]

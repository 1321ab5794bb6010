"""The server's text is the editor's text, whatever is edited and in whichever encoding."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.lsp_client import running

pytestmark = pytest.mark.anyio

DEMO = {"demo": {"command": sys.executable, "args": ["-P", "-m", "mcp_lectern", "demo-server"]}}
MENTION = "@demo:tour://welcome"


def _units(text: str, encoding: str) -> int:
    return {"utf-8": len(text.encode()), "utf-16": len(text.encode("utf-16-le")) // 2, "utf-32": len(text)}[
        encoding
    ]


@pytest.mark.case("LSP-02")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_lsp_02_ordered_edits_around_an_emoji_keep_positions_true(
    tmp_path: Path, encoding: str
) -> None:
    async with running(tmp_path, DEMO, encodings=[encoding]) as editor:
        await editor.listed()
        uri = editor.open("a.md", "🙂 x\r\nold\rlast")
        at = _units("🙂 ", encoding)
        editor.change(
            uri,
            2,
            (((0, at), (0, at + 1)), "é🙂 "),
            (((1, 0), (1, 3)), MENTION),
            (((0, 0), (0, 0)), "\u2028"),
        )
        assert "Welcome" in (await editor.hover(uri, 1, 3) or "")
        assert await editor.hover(uri, 2, 1) is None
        start = _units("\u2028🙂 é🙂 ", encoding)
        editor.change(uri, 7, (((0, start), (0, start)), MENTION))
        assert "Welcome" in (await editor.hover(uri, 0, start + 1) or "")
        editor.change(uri, 8, (((9, 9), (99, 99)), " tail"), (None, f"whole {MENTION}"))
        assert "Welcome" in (await editor.hover(uri, 0, 8) or "")


@pytest.mark.case("LSP-02")
async def test_lsp_02_an_edit_of_a_document_that_is_not_open_is_ignored(tmp_path: Path) -> None:
    async with running(tmp_path, DEMO) as editor:
        await editor.listed()
        uri = (editor.workspace / "never.md").as_uri()
        editor.change(uri, 1, (None, MENTION))
        assert await editor.hover(uri, 0, 3) is None
        opened = editor.open("a.md", MENTION)
        assert await editor.hover(opened, 0, 3)


@pytest.mark.case("LSP-02")
async def test_lsp_02_a_client_may_tell_no_version_and_write_null_for_what_is_absent(tmp_path: Path) -> None:
    def place(line: int, character: int) -> dict[str, int]:
        return {"line": line, "character": character}

    async with running(tmp_path, DEMO, encodings=["utf-16"]) as editor:
        await editor.listed()
        uri = (editor.workspace / "a.md").as_uri()

        def notify(method: str, params: dict[str, Any]) -> None:
            body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()
            assert editor.process.stdin is not None
            editor.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

        opened = {"uri": uri, "languageId": "markdown", "version": None, "text": "nothing"}
        notify("textDocument/didOpen", {"textDocument": opened})
        edits = [
            {"range": None, "rangeLength": None, "text": f"{MENTION[:-2]} x"},
            {
                "range": {"start": place(0, 18), "end": place(0, 20)},
                "rangeLength": None,
                "text": "me @demo:no://t",
            },
        ]
        notify(
            "textDocument/didChange", {"textDocument": {"uri": uri, "version": None}, "contentChanges": edits}
        )
        assert "Welcome" in (await editor.hover(uri, 0, 3) or "")
        (remark,) = await editor.until_diagnostics(uri)
        assert remark.range.start.character == 21

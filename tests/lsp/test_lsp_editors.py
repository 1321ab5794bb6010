"""The main path as each editor walks it, by what that editor says it can do.

The capabilities are written from what the editors' own sources and documentation say.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from tests.support.lsp_client import Editor, running

pytestmark = pytest.mark.anyio

CLIENTS = sorted((Path(__file__).parents[1] / "support" / "clients").glob("*.json"))
DEMO = {"command": sys.executable, "args": ["-P", "-m", "mcp_lectern", "demo-server"]}
ENCODINGS = {"vscode": "utf-16", "neovim": "utf-8", "eglot": "utf-32", "helix": "utf-8"}
VIRTUAL = {"vscode", "neovim"}
PULLS = {"vscode", "helix", "zed", "sublime"}


def test_there_are_enough_editors() -> None:
    assert len(CLIENTS) >= 5
    assert {path.stem for path in CLIENTS} >= VIRTUAL | PULLS | set(ENCODINGS)


@pytest.mark.parametrize("path", CLIENTS, ids=lambda path: path.stem)
async def test_an_editor_completes_follows_and_is_told_of_mistakes(tmp_path: Path, path: Path) -> None:
    client = json.loads(path.read_text(encoding="utf-8"))
    capabilities = client["capabilities"]
    async with running(tmp_path, {"demo": DEMO}, capabilities=capabilities) as editor:
        encoding = editor.result.capabilities.position_encoding
        assert getattr(encoding, "value", encoding) == ENCODINGS.get(path.stem, "utf-16")
        await editor.listed()
        uri = editor.open("a.md", "🙂 see @welc")
        smile = {"utf-8": 4, "utf-16": 2, "utf-32": 1}[ENCODINGS.get(path.stem, "utf-16")]
        await _complete(editor, uri, smile, capabilities)
        hover = await editor.hover(uri, 0, smile + 7)
        assert hover is not None
        assert "Welcome to Lectern" in hover
        await _follow(editor, uri, smile, path.stem in VIRTUAL)
        await _mistake(editor, smile, path.stem in PULLS, capabilities)
        places = await editor.client.text_document_references_async(
            types.ReferenceParams(
                types.ReferenceContext(True), types.TextDocumentIdentifier(uri), types.Position(0, smile + 7)
            )
        )
        assert [(one.uri, one.range.start.character) for one in places or ()] == [(uri, smile + 5)]
        if "semanticTokens" in capabilities["textDocument"]:
            tokens = await editor.client.text_document_semantic_tokens_full_async(
                types.SemanticTokensParams(types.TextDocumentIdentifier(uri))
            )
            assert tokens is not None
            assert list(tokens.data[:5]) == [0, smile + 6, 4, 0, 0]
        editor.close(uri)


async def _complete(editor: Editor, uri: str, smile: int, capabilities: Mapping[str, Any]) -> None:
    """The item is of a shape that the editor can take, and inserts the mention."""
    answer = await editor.complete(uri, 0, smile + 10)
    assert answer is not None
    item = answer.items[0]
    wanted = capabilities["textDocument"]["completion"]["completionItem"]
    assert (item.label_details is not None) == bool(wanted.get("labelDetailsSupport"))
    assert item.insert_text_format in (None, types.InsertTextFormat.PlainText)
    edit = item.text_edit
    assert isinstance(edit, types.TextEdit)
    assert (edit.range.start.character, edit.range.end.character) == (smile + 5, smile + 10)
    start, end = (edit.range.start.line, edit.range.start.character), (0, smile + 10)
    editor.change(uri, 2, ((start, end), edit.new_text))


async def _follow(editor: Editor, uri: str, smile: int, virtual: bool) -> None:
    """To the document where the editor shows those, else to a read-only file; and by command."""
    links = await editor.links(uri)
    target = await editor.definition(uri, 0, smile + 7)
    assert target is not None
    opened = await editor.command("open", server="demo", uri="tour://welcome")
    await editor.until(lambda: bool(editor.shown) or bool(editor.messages))
    shown = editor.shown[0].uri if editor.shown else editor.messages[0].message
    if virtual:
        assert [link.target for link in links] == [target.uri] == [opened["documents"][0]["document"]]
        assert "Lectern" in await editor.content(target.uri)
        assert shown == target.uri
    else:
        assert links == []
        file = Path(target.uri.removeprefix("file://"))
        assert "Lectern" in file.read_text(encoding="utf-8")
        assert not file.stat().st_mode & 0o222
        assert shown.endswith(opened["documents"][0]["path"])


async def _mistake(editor: Editor, smile: int, pulls: bool, capabilities: Mapping[str, Any]) -> None:
    uri = editor.open("b.md", "🙂 see @demo:tour://welcom!")
    found: Any
    if pulls:
        report: Any = await editor.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        )
        (found,) = report.items
        assert editor.result.capabilities.diagnostic_provider is not None
    else:
        (found,) = await editor.until_diagnostics(uri)
        assert editor.result.capabilities.diagnostic_provider is None
    assert (found.code, found.range.start.character) == ("unknownResource", smile + 5)
    assert not pulls or not editor.published
    titles = await editor.actions(uri, 0, smile + 7, found)
    assert "Lectern: Open this resource" in titles
    literals = "codeActionLiteralSupport" in capabilities["textDocument"]["codeAction"]
    assert ("Write @demo:tour://welcome" in titles) == literals


@pytest.mark.parametrize(
    "options", [{"lectern": {"completion.limit": 2}}, {"lectern": {"completion": {"limit": 2}}}]
)
async def test_settings_under_the_section_s_name_count_where_an_editor_has_but_one_object(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    async with running(
        tmp_path, {"demo": DEMO}, options=options, capabilities={"textDocument": {}}
    ) as editor:
        await editor.listed()
        answer = await editor.complete(editor.open("a.md", "@"), 0, 1)
        assert answer is not None
        assert len(answer.items) == 2
        assert not editor.messages

"""References and highlights as an editor gets them, whole or in pieces, from open documents and files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from tests.support.lsp_client import Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

ONE = [{"uri": "memo://plän", "name": "plan"}]
MENTION = "@docs:memo://plän"


def _params(uri: str, character: int, **tokens: str) -> types.ReferenceParams:
    return types.ReferenceParams(
        text_document=types.TextDocumentIdentifier(uri),
        position=types.Position(0, character),
        context=types.ReferenceContext(include_declaration=True),
        **tokens,
    )


def _places(locations: Sequence[types.Location] | None) -> list[tuple[str, int, int, int]]:
    """File name, line, and first and last character of each."""
    return sorted(
        (
            one.uri.rpartition("/")[2],
            one.range.start.line,
            one.range.start.character,
            one.range.end.character,
        )
        for one in locations or ()
    )


def _files(editor: Editor) -> None:
    root = editor.workspace
    (root / ".gitignore").write_text("ignored/\n", encoding="utf-8")
    for name, text in {
        "closed.md": f"# 🙂\n\n🙂 {MENTION}. `{MENTION}`\n```\n{MENTION}\n```\n",
        "other.md": "@docs:memo://plum\n",
        "ignored/x.md": MENTION,
        "code.py": MENTION,
        "open.md": f"{MENTION} what the disk says, not the editor",
    }.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_mentions_in_open_documents_and_in_files(tmp_path: Path, encoding: str) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        async with running(tmp_path, {"docs": server.entry()}, encodings=[encoding]) as editor:
            await editor.listed()
            _files(editor)
            uri = editor.open("open.md", f'x {MENTION} @"docs:memo://plän" @memo://plän')
            editor.open("unsaved.txt", MENTION, "plaintext")
            editor.open("code.py", MENTION, "python")
            wide = {"utf-8": (18, 4), "utf-16": (17, 2), "utf-32": (17, 1)}[encoding]
            size, smile = wide
            found = await editor.client.text_document_references_async(_params(uri, 4))
            assert _places(found) == [
                ("closed.md", 2, smile + 1, smile + 1 + size),
                ("open.md", 0, 2, 2 + size),
                ("open.md", 0, 3 + size, 3 + size + size + 2),
                ("open.md", 0, 6 + 2 * size, 6 + 2 * size + size - 5),
                ("unsaved.txt", 0, 0, size),
            ]
            shown = await editor.client.text_document_document_highlight_async(
                types.DocumentHighlightParams(types.TextDocumentIdentifier(uri), types.Position(0, 4))
            )
            assert [one.range.start.character for one in shown or ()] == [2, 3 + size, 6 + 2 * size]
            assert not await editor.client.text_document_references_async(_params(uri, 0))
            assert len(server.received("resources/read")) == 0


async def test_a_client_may_take_them_in_pieces_and_see_the_work(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            await editor.listed()
            _files(editor)
            uri = editor.open("a.md", MENTION)
            progress: list[tuple[Any, Any]] = []
            editor.client.protocol.fm.features.pop(types.PROGRESS, None)

            @editor.client.feature(types.PROGRESS)
            def note(params: types.ProgressParams) -> None:
                progress.append((params.token, params.value))

            params = _params(uri, 4, partial_result_token="pieces", work_done_token="work")
            rest = await editor.client.text_document_references_async(params)
            pieces = [one for token, value in progress if token == "pieces" for one in value]
            assert list(rest or ()) == []
            names = sorted(str(_member(one, "uri")).rpartition("/")[2] for one in pieces)
            assert names == ["a.md", "closed.md", "open.md"]
            kinds = [_member(value, "kind") for token, value in progress if token == "work"]
            assert (kinds[0], kinds[-1]) == ("begin", "end")


def _member(value: Any, name: str) -> Any:
    return value[name] if isinstance(value, dict) else getattr(value, name)


async def test_a_search_can_be_cancelled_and_the_server_goes_on(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            await editor.listed()
            for number in range(3000):
                (editor.workspace / f"{number}.md").write_text(f"{MENTION} " * 20, encoding="utf-8")
            uri = editor.open("a.md", MENTION)
            protocol = editor.client.protocol
            task = asyncio.ensure_future(editor.client.text_document_references_async(_params(uri, 4)))
            await editor.hover(uri, 0, 4)
            ids = [key for key in protocol._request_futures if protocol._request_futures[key].done() is False]
            for identifier in ids:
                protocol.notify(types.CANCEL_REQUEST, types.CancelParams(id=identifier))
            with pytest.raises(Exception, match="cancel"):
                await asyncio.wait_for(task, 10)
            assert await editor.hover(uri, 0, 4)

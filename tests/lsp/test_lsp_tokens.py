"""Semantic tokens as an editor decodes them, in every encoding; and when it is asked to ask again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from tests.support.lsp_client import CONTENT, Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

ONE = [{"uri": "memo://plän", "name": "plan"}]
REFRESHES = {
    **CONTENT,
    "workspace": {
        **CONTENT["workspace"],
        "semanticTokens": {"refreshSupport": True},
        "diagnostics": {"refreshSupport": True},
    },
    "textDocument": {**CONTENT["textDocument"], "diagnostic": {}},
}


def drawn(editor: Editor, text: str, data: Sequence[int], encoding: str) -> list[tuple[str, str, bool]]:
    """The text, type and ``unresolved`` of each token, decoded as the specification says."""
    provider = editor.result.capabilities.semantic_tokens_provider
    assert isinstance(provider, types.SemanticTokensOptions)
    codec, width = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]
    lines = [line.encode(codec) for line in text.split("\n")]
    found, line, character = [], 0, 0
    for place in range(0, len(data), 5):
        down, right, length, kind, modifiers = data[place : place + 5]
        line, character = line + down, right if down else character + right
        piece = lines[line][character * width : (character + length) * width].decode(codec)
        assert provider.legend.token_modifiers[0] == "unresolved"
        found.append((piece, provider.legend.token_types[kind], bool(modifiers & 1)))
    return found


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_tokens_of_a_document_whole_in_part_and_as_a_difference(tmp_path: Path, encoding: str) -> None:
    text = "🙂 é @docs:memo://plän 🙂 @docs:memo://gone\n`@docs:x`\n日本@docs:memo://plän"
    with ScriptedServer(tmp_path, resources=ONE) as server:
        async with running(tmp_path, {"docs": server.entry()}, encodings=[encoding]) as editor:
            await editor.listed()
            uri = editor.open("a.md", text)
            where = types.TextDocumentIdentifier(uri)
            whole = await editor.client.text_document_semantic_tokens_full_async(
                types.SemanticTokensParams(where)
            )
            assert whole is not None
            known = [("docs", "namespace", False), ("memo://plän", "string", False)]
            gone = [("docs", "namespace", False), ("memo://gone", "string", True)]
            assert drawn(editor, text, whole.data, encoding) == [*known, *gone, *known]
            last = types.Range(types.Position(1, 0), types.Position(2, 99))
            part = await editor.client.text_document_semantic_tokens_range_async(
                types.SemanticTokensRangeParams(where, last)
            )
            assert part is not None
            assert drawn(editor, text, part.data, encoding) == known
            assert whole.result_id is not None
            await _check_difference(editor, uri, text, whole, encoding)


async def _check_difference(
    editor: Editor, uri: str, text: str, whole: types.SemanticTokens, encoding: str
) -> None:
    where = types.TextDocumentIdentifier(uri)
    editor.change(uri, 2, (((1, 0), (1, 0)), "@docs:memo://gone "))
    answer: Any = await editor.client.text_document_semantic_tokens_full_delta_async(
        types.SemanticTokensDeltaParams(where, whole.result_id or "")
    )
    (edit,) = answer.edits
    data = list(whole.data)
    data[edit.start : edit.start + edit.delete_count] = edit.data or ()
    changed = text.replace("\n`", "\n@docs:memo://gone `")
    pieces = [piece for piece, _, _ in drawn(editor, changed, data, encoding)]
    assert pieces == [
        "docs",
        "memo://plän",
        "docs",
        "memo://gone",
        "docs",
        "memo://gone",
        "docs",
        "memo://plän",
    ]
    same: Any = await editor.client.text_document_semantic_tokens_full_delta_async(
        types.SemanticTokensDeltaParams(where, answer.result_id)
    )
    assert list(same.edits) == []
    lost: Any = await editor.client.text_document_semantic_tokens_full_delta_async(
        types.SemanticTokensDeltaParams(where, "no such id")
    )
    assert list(lost.data) == data


async def test_the_client_is_asked_to_ask_again_when_the_list_changes(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        async with running(tmp_path, {"docs": server.entry()}, capabilities=REFRESHES) as editor:
            await editor.listed()
            uri = editor.open("a.md", "@docs:memo://plum")
            where = types.TextDocumentIdentifier(uri)
            report: Any = await editor.client.text_document_diagnostic_async(
                types.DocumentDiagnosticParams(where)
            )
            assert [one.code for one in report.items] == ["unknownResource"]
            server.change(resources=[*ONE, {"uri": "memo://plum", "name": "plum"}])
            asked = 0
            while report.items:
                # A request that the first listing caused may still be on its way.
                await editor.until(lambda seen=asked: len(editor.asked_again) > seen)
                asked = len(editor.asked_again)
                report = await editor.client.text_document_diagnostic_async(
                    types.DocumentDiagnosticParams(where)
                )
            both = {"workspace/diagnostic/refresh", "workspace/semanticTokens/refresh"}
            await editor.until(lambda: set(editor.asked_again) == both)
            assert not editor.published, "a client that pulls is sent nothing"


async def test_a_client_that_cannot_be_asked_to_pull_again_is_sent_diagnostics(tmp_path: Path) -> None:
    halfway = {**CONTENT, "textDocument": {"diagnostic": {"dynamicRegistration": False}}}
    with ScriptedServer(tmp_path, resources=ONE) as server:
        async with running(tmp_path, {"docs": server.entry()}, capabilities=halfway) as editor:
            await editor.listed()
            assert editor.result.capabilities.diagnostic_provider is None
            assert await editor.until_diagnostics(editor.open("a.md", "@docs:memo://plum"))


async def test_config_files_are_told_of_to_a_client_that_pulls_too(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / ".mcp.json").write_text('{"mcpServers": {"x": {"command": 7}}}', encoding="utf-8")
    async with running(tmp_path, workspace=folder, arguments=(), capabilities=REFRESHES) as editor:
        (found,) = await editor.until_diagnostics((folder / ".mcp.json").as_uri())
        assert "x" in found.message

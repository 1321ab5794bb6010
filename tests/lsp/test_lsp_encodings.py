"""The main path in each position encoding, in a text full of characters that encodings count differently."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from tests.support.lsp_client import CONTENT, Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

ENCODINGS = pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
PLAN, WIDE = "memo://plan", "memo://𝔭𝔩𝔞𝔫/é/🙂"
MENTIONS = (f"@docs:{PLAN}", f"@docs:{WIDE}")
RESOURCES = [
    {"uri": PLAN, "name": "plan", "mimeType": "text/plain"},
    {"uri": WIDE, "name": "𝔭𝔩𝔞𝔫", "title": "🙂 plan of é", "mimeType": "text/plain"},
]
CONTENTS = {PLAN: "🙂 one\ntwo 𝔵\n", WIDE: "wide"}
EDITS = {
    **CONTENT,
    "workspace": {**CONTENT["workspace"], "applyEdit": True, "workspaceEdit": {"documentChanges": True}},
}
PIECES = ("🙂", "é", "𝔵", "x", " ", "\n", "\r\n", "👩‍💻", "日本", *MENTIONS)


def units(text: str, encoding: str) -> int:
    """The length of a text as this encoding counts."""
    width = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]
    return len(text.encode(width[0])) // width[1]


class Text:
    """The editor's side of a document, as one string."""

    def __init__(self, text: str, encoding: str) -> None:
        self.text = text
        self.encoding = encoding

    def position(self, offset: int) -> tuple[int, int]:
        """Line and character of an offset."""
        before = self.text[:offset]
        start = before.rfind("\n") + 1
        return before.count("\n"), units(before[start:], self.encoding)

    def offset(self, position: Any) -> int:
        """The offset of a position."""
        start = 0
        for _ in range(position.line):
            start = self.text.index("\n", start) + 1
        end = start
        while units(self.text[start:end], self.encoding) < position.character:
            end += 1
        assert units(self.text[start:end], self.encoding) == position.character, "between two halves"
        return end

    def of(self, span: Any) -> str:
        """What stands in a range."""
        return self.text[self.offset(span.start) : self.offset(span.end)]

    def at(self, mention: str, more: int = 3) -> tuple[int, int]:
        """A position within the only occurrence of a mention."""
        assert self.text.count(mention) == 1
        return self.position(self.text.index(mention) + more)

    def replaced(self, start: int, end: int, new: str) -> tuple[Any, str]:
        """Apply an edit; what ``didChange`` says of it."""
        change = ((self.position(start), self.position(end)), new)
        self.text = self.text[:start] + new + self.text[end:]
        return change


@pytest.fixture
def server(tmp_path: Path) -> ScriptedServer:  # type: ignore[misc]
    with ScriptedServer(tmp_path, resources=RESOURCES, contents=CONTENTS) as scripted:
        yield scripted


@ENCODINGS
async def test_a_mention_is_written_followed_corrected_and_replaced(
    tmp_path: Path, server: ScriptedServer, encoding: str
) -> None:
    async with running(
        tmp_path, {"docs": server.entry()}, encodings=[encoding], capabilities=EDITS
    ) as editor:
        told = editor.result.capabilities.position_encoding
        assert getattr(told, "value", told) == encoding
        await editor.listed()
        text = Text("𝔵🙂é see @𝔭𝔩 and 👩‍💻", encoding)
        uri = editor.open("a.md", text.text)
        await _complete(editor, uri, text)
        place = text.at(MENTIONS[1])
        assert "🙂 plan of é" in (await editor.hover(uri, *place) or "")
        (link,) = await editor.links(uri)
        assert text.of(link.range) == MENTIONS[1]
        target = await editor.definition(uri, *place)
        assert target is not None
        assert (target.uri, await editor.content(target.uri)) == (link.target, "wide")
        await _find(editor, uri, text)
        await _correct(editor, uri, text)
        await _replace(editor, uri, text)


async def _complete(editor: Editor, uri: str, text: Text) -> None:
    typed = "@𝔭𝔩"
    answer = await editor.complete(uri, *text.at(typed, len(typed)))
    assert answer is not None
    item = next(item for item in answer.items if item.label == "🙂 plan of é")
    edit = item.text_edit
    assert isinstance(edit, types.TextEdit)
    assert text.of(edit.range) == typed
    assert edit.new_text == MENTIONS[1]
    start, end = text.offset(edit.range.start), text.offset(edit.range.end)
    editor.change(uri, 2, text.replaced(start, end, edit.new_text))


async def _find(editor: Editor, uri: str, text: Text) -> None:
    editor.change(uri, 3, text.replaced(len(text.text), len(text.text), f"\r\n🙂🙂 {MENTIONS[0]}"))
    place = types.Position(*text.at(MENTIONS[1]))
    document = types.TextDocumentIdentifier(uri)
    found = await editor.client.text_document_references_async(
        types.ReferenceParams(types.ReferenceContext(True), document, place)
    )
    assert [text.of(one.range) for one in found or ()] == [MENTIONS[1]]
    tokens = await editor.client.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(document)
    )
    assert tokens is not None
    lines = text.text.split("\n")
    names = [
        (0, units(lines[0][: lines[0].index("docs")], text.encoding)),
        (1, units("🙂🙂 @", text.encoding)),
    ]
    assert (tokens.data[0], tokens.data[1], tokens.data[2]) == (*names[0], 4)
    assert (tokens.data[5], tokens.data[8]) == (0, 1), "the URI is a string, on the same line"
    assert tokens.data[7] == units(WIDE, text.encoding)
    assert list(tokens.data[10:12]) == [1, units("🙂🙂 @", text.encoding)]


async def _correct(editor: Editor, uri: str, text: Text) -> None:
    end = len(text.text)
    editor.change(uri, 4, text.replaced(end - 1, end, ""))
    (wrong,) = await editor.until_diagnostics(uri)
    assert text.of(wrong.range) == MENTIONS[0][:-1]
    fix = (await editor.actions(uri, wrong.range.start.line, wrong.range.start.character + 2, wrong))[
        f"Write {MENTIONS[0]}"
    ]
    assert isinstance(fix, types.CodeAction)
    assert fix.edit is not None
    (versioned,) = fix.edit.document_changes or ()
    assert isinstance(versioned, types.TextDocumentEdit)
    assert (versioned.text_document.uri, versioned.text_document.version) == (uri, 4)
    (edit,) = versioned.edits
    assert isinstance(edit, types.TextEdit)
    assert text.of(edit.range) == MENTIONS[0][:-1]
    start, end = text.offset(edit.range.start), text.offset(edit.range.end)
    editor.change(uri, 5, text.replaced(start, end, edit.new_text))
    await editor.until(lambda: not editor.diagnostics(uri))


async def _replace(editor: Editor, uri: str, text: Text) -> None:
    asked: list[types.ApplyWorkspaceEditParams] = []

    @editor.client.feature(types.WORKSPACE_APPLY_EDIT)
    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        asked.append(params)
        return types.ApplyWorkspaceEditResult(applied=True)

    line, character = text.at(MENTIONS[0])
    action = (await editor.actions(uri, line, character))["Lectern: Replace by its content"]
    assert isinstance(action, types.Command)
    await editor.client.workspace_execute_command_async(
        types.ExecuteCommandParams(action.command, action.arguments)
    )
    (change,) = asked[0].edit.document_changes or ()
    assert isinstance(change, types.TextDocumentEdit)
    (edit,) = change.edits
    assert isinstance(edit, types.TextEdit)
    assert text.of(edit.range) == MENTIONS[0]
    assert edit.new_text == "🙂 one\ntwo 𝔵"


@ENCODINGS
@pytest.mark.case("LSP-02")
async def test_lsp_02_after_any_edits_every_link_stands_where_its_mention_does(
    tmp_path: Path, server: ScriptedServer, encoding: str
) -> None:
    chance = random.Random(encoding)
    async with running(tmp_path, {"docs": server.entry()}, encodings=[encoding]) as editor:
        await editor.listed()
        text = Text(f"🙂 {MENTIONS[0]} é\n👩‍💻 {MENTIONS[1]} 𝔵\n", encoding)
        uri = editor.open("a.md", text.text)
        for version in range(2, 42):
            editor.change(uri, version, *(_edit(text, chance) for _ in range(chance.randint(1, 4))))
            links = await editor.links(uri)
            fresh = editor.open("fresh.md", text.text)
            assert [link.range for link in links] == [link.range for link in await editor.links(fresh)]
            assert all(text.of(link.range).startswith("@docs:") for link in links)
            editor.close(fresh)


def _edit(text: Text, chance: random.Random) -> Any:
    """Some edit between whole characters, mostly short, at times one that breaks or makes a mention."""
    start = chance.randint(0, len(text.text))
    end = min(len(text.text), start + chance.choice((0, 0, 1, 2, 9)))
    # No editor puts an edit between the two halves of a line's end.
    if text.text[start - 1 : start + 1] == "\r\n":
        start -= 1
    if text.text[end - 1 : end + 1] == "\r\n":
        end += 1
    new = "".join(chance.choice(PIECES) for _ in range(chance.randint(0, 3)))
    return text.replaced(start, max(start, end), new)

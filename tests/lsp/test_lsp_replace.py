"""A mention that gives way to its content: offered where it can be done, read only when it is chosen."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from tests.support.lsp_client import CONTENT, Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

RESOURCES = [
    {"uri": "memo://text", "name": "text", "mimeType": "text/plain"},
    {"uri": "memo://image", "name": "image", "mimeType": "image/png"},
    {"uri": "memo://untyped", "name": "untyped"},
    {"uri": "memo://parts", "name": "parts"},
]
CONTENTS = {
    "memo://text": "one\n@docs:memo://image\n",
    "memo://untyped": [{"blob": base64.b64encode(b"\0\xff").decode()}],
    "memo://parts": [{"text": "a\n"}, {"text": "b\r\n"}],
}
EDITS = {**CONTENT, "workspace": {**CONTENT["workspace"], "applyEdit": True}}


class Applied:
    """An editor that applies what it is told to, and the edits that it was told."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.edits: list[types.WorkspaceEdit] = []

        @editor.client.feature(types.WORKSPACE_APPLY_EDIT)
        def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            self.edits.append(params.edit)
            return types.ApplyWorkspaceEditResult(applied=True)

    async def actions(self, uri: str, character: int) -> Sequence[types.Command]:
        place = types.Range(types.Position(0, character), types.Position(0, character))
        answer = await self.editor.client.text_document_code_action_async(
            types.CodeActionParams(types.TextDocumentIdentifier(uri), place, types.CodeActionContext([]))
        )
        return [each for each in answer or () if isinstance(each, types.Command)]

    async def replacing(self, uri: str, character: int) -> dict[str, Any] | None:
        """The argument of the action, None where it is not offered."""
        found = [one for one in await self.actions(uri, character) if one.command == "lectern.replace"]
        return dict(found[0].arguments[0]) if found and found[0].arguments else None  # type: ignore[call-overload]


@asynccontextmanager
async def applying(
    tmp_path: Path, server: ScriptedServer, capabilities: Mapping[str, Any] = EDITS
) -> AsyncIterator[Applied]:
    async with running(tmp_path, {"docs": server.entry()}, capabilities=capabilities) as editor:
        await editor.listed()
        yield Applied(editor)


@pytest.fixture
def server(tmp_path: Path) -> ScriptedServer:  # type: ignore[misc]
    with ScriptedServer(tmp_path, resources=RESOURCES, contents=CONTENTS) as scripted:
        yield scripted


@pytest.mark.parametrize("versioned", [False, True])
async def test_the_mention_is_replaced_and_nothing_else(
    tmp_path: Path, server: ScriptedServer, versioned: bool
) -> None:
    workspace = {**EDITS["workspace"], "workspaceEdit": {"documentChanges": versioned}}
    async with applying(tmp_path, server, {**EDITS, "workspace": workspace}) as it:
        uri = it.editor.open("a.md", "🙂 see @docs:memo://text.")
        argument = await it.replacing(uri, 10)
        assert argument is not None
        assert server.received("resources/read") == [], "nothing is read before it is chosen"
        assert await it.editor.command("replace", **argument) == {"applied": True}
        (edit,) = it.edits
        if versioned:
            (change,) = edit.document_changes or ()
            assert isinstance(change, types.TextDocumentEdit)
            assert (change.text_document.uri, change.text_document.version) == (uri, 1)
            (one,) = change.edits
        else:
            (one,) = (edit.changes or {})[uri]
        assert isinstance(one, types.TextEdit)
        span = types.Range(types.Position(0, 7), types.Position(0, 24))
        assert (one.range, one.new_text) == (span, "one\n@docs:memo://image")


async def test_it_is_offered_where_it_can_be_done(tmp_path: Path, server: ScriptedServer) -> None:
    async with applying(tmp_path, server) as it:
        text = "@docs:memo://text @docs:memo://image @docs:memo://nope @nosuch:memo://a @bob"
        uri = it.editor.open("a.md", text)
        offered = [await it.replacing(uri, text.index(word)) is not None for word in text.split()]
        assert offered == [True, False, False, False, False]
    (tmp_path / "other").mkdir()
    async with applying(tmp_path / "other", server, CONTENT) as it:
        uri = it.editor.open("a.md", "@docs:memo://text")
        assert await it.replacing(uri, 1) is None
        place = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
        with pytest.raises(JsonRpcException, match="applies no edits"):
            await it.editor.command("replace", **place, server="docs", uri="memo://text")


async def test_what_is_no_text_is_refused_and_several_texts_are_joined(
    tmp_path: Path, server: ScriptedServer
) -> None:
    async with applying(tmp_path, server) as it:
        uri = it.editor.open("a.md", "@docs:memo://untyped @docs:memo://parts")
        argument = await it.replacing(uri, 0)
        assert argument is not None
        with pytest.raises(JsonRpcException, match="not text alone"):
            await it.editor.command("replace", **argument)
        assert it.edits == []
        argument = await it.replacing(uri, 25)
        assert argument is not None
        await it.editor.command("replace", **argument)
        assert (it.edits[0].changes or {})[uri][0].new_text == "a\n\nb"


async def test_a_text_that_changed_meanwhile_is_not_touched(tmp_path: Path, server: ScriptedServer) -> None:
    server.change(answers={"resources/read": {"gate": "go"}}, notify=False)
    async with applying(tmp_path, server) as it:
        uri = it.editor.open("a.md", "see @docs:memo://text")
        argument = await it.replacing(uri, 6)
        assert argument is not None
        task = asyncio.ensure_future(it.editor.command("replace", **argument))
        await server.wait_waiting("go")
        it.editor.change(uri, 2, (None, "all new"))
        await it.editor.servers()  # an answer to this says that the change has arrived
        server.open("go")
        with pytest.raises(JsonRpcException, match="any more"):
            await task
        assert it.edits == []
        with pytest.raises(JsonRpcException) as refused:
            await it.editor.command("replace", server="docs", uri="memo://text")
        assert refused.value.code == -32602


@pytest.mark.case("RD-10")
async def test_rd_10_an_older_copy_never_goes_into_a_text_for_good(tmp_path: Path) -> None:
    first = {"result": {"contents": [{"uri": "memo://text", "text": "old"}], "ttlMs": 60_000}}
    failing = {"error": {"code": -32603, "message": "disk on fire"}}
    answers = {"resources/read": [first, failing]}
    with ScriptedServer(tmp_path, resources=RESOURCES, answers=answers) as server:
        async with applying(tmp_path, server) as it:
            await it.editor.command("open", server="docs", uri="memo://text", reveal=False)
            uri = it.editor.open("a.md", "@docs:memo://text")
            argument = await it.replacing(uri, 1)
            assert argument is not None
            with pytest.raises(JsonRpcException, match="disk on fire"):
                await it.editor.command("replace", **argument)
            assert it.edits == []

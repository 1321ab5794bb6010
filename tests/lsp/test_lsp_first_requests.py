"""An editor's first requests, sent before the server has loaded its hub, are answered as any later ones.

An editor asks for links, tokens and their like once, and not again by itself: an answer that came too soon
would stay. Here the editor keeps its settings back, so that the hub cannot be ready when a request arrives.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound
from tests.lsp.test_lsp_remembered import HELD, PLANS, remember
from tests.support.lsp_client import CONTENT, Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

TEXT = "see @docs:memo://plan/1 and @docs:memo://plan/1, not @nobody:memo://x"
PULLS = {
    **CONTENT,
    "workspace": {
        **CONTENT["workspace"],
        "diagnostics": {"refreshSupport": True},
        "applyEdit": True,
    },
    "textDocument": {**CONTENT["textDocument"], "diagnostic": {}},
}
First = Callable[[Editor, str], Awaitable[Any]]


def _place(uri: str) -> dict[str, Any]:
    return {"text_document": types.TextDocumentIdentifier(uri), "position": types.Position(0, 10)}


async def links(editor: Editor, uri: str) -> Any:
    return [link.range.start.character for link in await editor.links(uri)]


async def hover(editor: Editor, uri: str) -> Any:
    return "docs" in (await editor.hover(uri, 0, 10) or "")


async def definition(editor: Editor, uri: str) -> Any:
    location = await editor.definition(uri, 0, 10)
    return location and location.uri.partition("docs/")[0]


async def completion(editor: Editor, uri: str) -> Any:
    return [label for label in await editor.labels(uri, 0, 10) if label.startswith("plan")]


async def references(editor: Editor, uri: str) -> Any:
    context = types.ReferenceContext(include_declaration=True)
    params = types.ReferenceParams(**_place(uri), context=context)
    answer = await editor.client.text_document_references_async(params)
    return [one.range.start.character for one in answer or ()]


async def highlights(editor: Editor, uri: str) -> Any:
    params = types.DocumentHighlightParams(**_place(uri))
    answer = await editor.client.text_document_document_highlight_async(params)
    return [one.range.start.character for one in answer or ()]


async def actions(editor: Editor, uri: str) -> Any:
    return "Lectern: Open this resource" in await editor.actions(uri, 0, 10)


async def tokens(editor: Editor, uri: str) -> Any:
    params = types.SemanticTokensParams(types.TextDocumentIdentifier(uri))
    answer = await editor.client.text_document_semantic_tokens_full_async(params)
    return len(answer.data) / 5 if answer else None


async def tokens_of_a_part(editor: Editor, uri: str) -> Any:
    part = types.Range(types.Position(0, 0), types.Position(0, 20))
    params = types.SemanticTokensRangeParams(types.TextDocumentIdentifier(uri), part)
    answer = await editor.client.text_document_semantic_tokens_range_async(params)
    return len(answer.data) / 5 if answer else None


async def diagnostics(editor: Editor, uri: str) -> Any:
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
    answer = await editor.client.text_document_diagnostic_async(params)
    assert isinstance(answer, types.RelatedFullDocumentDiagnosticReport)
    return [(one.code, one.range.start.character) for one in answer.items]


async def symbols(editor: Editor, _uri: str) -> Any:
    answer = await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams("plan"))
    return sorted(symbol.name for symbol in answer or ())


NAMES = [plan["name"] for plan in PLANS]
RIGHT: dict[First, Any] = {
    links: [4, 28],
    hover: True,
    definition: "lectern://mcp/",
    references: [4, 28],
    highlights: [4, 28],
    actions: True,
    tokens: 6,
    tokens_of_a_part: 2,
    diagnostics: [("unknownServer", 53)],
    symbols: NAMES,
    completion: NAMES,
}
"""What each request is answered, as far as it is the same whether the server has spoken or is remembered."""


@contextlib.asynccontextmanager
async def not_ready(
    folder: Path, servers: dict[str, Any], **more: Any
) -> AsyncIterator[tuple[Editor, asyncio.Event]]:
    told = asyncio.Event()
    async with running(folder, servers, capabilities=PULLS, told=told, **more) as editor:
        yield editor, told


async def first(editor: Editor, told: asyncio.Event, *requests: Awaitable[Any]) -> list[Any]:
    """The answers to requests that the server got before it was ready, though all of it was there."""
    await editor.asked_for_settings.wait()
    asked = asyncio.gather(*requests)
    await asyncio.sleep(0)
    with pytest.raises(JsonRpcMethodNotFound):
        # Refused at once, and after what was sent before it had arrived.
        await editor.client.protocol.send_request_async("lectern/nothing", {})
    told.set()
    return await asked


@pytest.mark.parametrize(("name", "options"), [("a.md", {}), ("a.py", {"languages": ["*"]})])
async def test_first_requests_are_answered_as_any_later_ones(
    tmp_path: Path, name: str, options: dict[str, Any]
) -> None:
    """Also in a language that only the settings name: which those are is not known before they are read."""
    with ScriptedServer(tmp_path, resources=PLANS) as server:
        servers = {"docs": server.entry()}
        await remember(tmp_path, servers)
        server.change(answers=HELD)
        async with not_ready(tmp_path, servers, options=options) as (editor, told):
            uri = editor.open(name, TEXT, "python" if name == "a.py" else "markdown")
            answers = await first(editor, told, *(request(editor, uri) for request in RIGHT))
            wrong = {
                request.__name__: answer
                for (request, right), answer in zip(RIGHT.items(), answers, strict=True)
                if answer != right
            }
            assert wrong == {}
            server.open("speak")


async def test_first_requests_about_what_is_not_open_do_not_wait(tmp_path: Path) -> None:
    async with not_ready(tmp_path, {}) as (editor, told):
        waiting = asyncio.ensure_future(editor.hover(editor.open("open.md", TEXT), 0, 10))
        uri = (editor.workspace / "closed.md").as_uri()
        for request in RIGHT:
            assert request is symbols or not await request(editor, uri)
        assert not waiting.done()
        told.set()
        await waiting


async def test_the_lenses_of_a_configuration_file_are_there_from_the_start(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    file = workspace / ".mcp.json"
    text = json.dumps({"mcpServers": {"docs": {"command": "nothing"}}})
    file.write_text(text, encoding="utf-8")
    async with not_ready(tmp_path, {}, arguments=(), options={"discover": ["workspace"]}) as (editor, told):
        uri = editor.open(file.as_uri(), text, "json")
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        (lenses,) = await first(editor, told, editor.client.text_document_code_lens_async(params))
        assert "Lectern: Approve" in [lens.command.title for lens in lenses if lens.command]


async def test_an_address_that_was_given_before_the_list_was_there_stays_good(tmp_path: Path) -> None:
    """No editor asks again for links: whoever followed one later was told that there is no such document."""
    contents = {"memo://plan/1": [{"mimeType": "text/plain", "text": "the plan"}]}
    with ScriptedServer(tmp_path, resources=PLANS, contents=contents) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            uri = editor.open("a.md", TEXT)
            (early, *_) = await editor.links(uri)
            location = await editor.definition(uri, 0, 10)
            await editor.listed()
            (late, *_) = await editor.links(uri)
            assert early.target
            assert late.target
            assert early.target != late.target, "the listed type is part of an address"
            assert location is not None
            assert location.uri == early.target
            for target in (early.target, late.target):
                assert await editor.content(target) == "the plan"
            with pytest.raises(JsonRpcException, match="There is no such document"):
                await editor.content(late.target.replace("1.txt", "2.txt"))

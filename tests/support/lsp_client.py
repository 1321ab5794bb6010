"""The language server over a real pipe, driven by pytest-lsp's client (which checks every answer's shape).

    async with running(tmp_path, servers={"docs": server.entry()}) as editor:
        uri = editor.open("notes.md", "see @")
        answer = await editor.complete(uri, 0, 5)

Servers given here are the user's own (``--config``), so they are trusted. Nothing waits by sleeping: the
``until_…`` methods wait for what the server says.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pytest_lsp import LanguageClient
from pytest_lsp.client import make_test_lsp_client

_TEXT = {
    "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}},
    "completion": {"completionItem": {"documentationFormat": ["markdown"], "labelDetailsSupport": True}},
    "documentLink": {"tooltipSupport": True},
    "hover": {"contentFormat": ["markdown", "plaintext"]},
}
CONTENT = {"workspace": {"textDocumentContent": {"dynamicRegistration": True}}, "textDocument": _TEXT}
"""Capabilities of a client that shows virtual documents."""
PLAIN: dict[str, Any] = {"textDocument": {}}
"""Capabilities of a client that knows nothing beyond LSP 3.0, and shows no virtual documents."""


class Editor:
    """One editor with one workspace folder and one running language server."""

    def __init__(self, client: LanguageClient, workspace: Path) -> None:
        self.client = client
        self.workspace = workspace
        self.shown: list[types.ShowDocumentParams] = []
        self.refreshed: list[str] = []
        self.asked_again: list[str] = []
        self.registered: list[types.Registration] = []
        self.messages: list[types.ShowMessageParams] = []
        self.published: list[types.PublishDiagnosticsParams] = []
        self.statuses: list[dict[str, Any]] = []
        self.older: list[dict[str, str]] = []
        self.questions: list[types.ShowMessageRequestParams] = []
        self.choose: Callable[[types.ShowMessageRequestParams], str | None] = lambda _params: None
        self.elicited: list[dict[str, Any]] = []
        self.elicit: Callable[[dict[str, Any]], Any] = lambda _params: {"action": "cancel"}
        self.inputs: list[dict[str, Any]] = []
        self.give: Callable[[dict[str, Any]], Any] = lambda _params: None
        self.progress: list[tuple[Any, dict[str, Any]]] = []
        self.asked_for_settings = asyncio.Event()
        self.result: types.InitializeResult
        self._version = 0
        self._news = asyncio.Condition()

    @property
    def process(self) -> asyncio.subprocess.Process:
        server = self.client._server
        assert server is not None
        return server

    def open(self, name: str, text: str, language: str = "markdown") -> str:
        """didOpen; the file is not written to disk. ``name`` may be a whole URI."""
        uri = name if ":" in name else (self.workspace / name).as_uri()
        item = types.TextDocumentItem(uri, language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, version: int, *changes: tuple[Any, str]) -> None:
        """didChange: each change is (None, text) or (((line, character), (line, character)), text)."""
        edits: list[Any] = []
        for span, text in changes:
            if span is None:
                edits.append(types.TextDocumentContentChangeWholeDocument(text))
            else:
                (l1, c1), (l2, c2) = span
                where = types.Range(types.Position(l1, c1), types.Position(l2, c2))
                edits.append(types.TextDocumentContentChangePartial(where, text))
        document = types.VersionedTextDocumentIdentifier(version=version, uri=uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, edits))

    def close(self, uri: str) -> None:
        identifier = types.TextDocumentIdentifier(uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))

    async def complete(self, uri: str, line: int, character: int) -> types.CompletionList | None:
        answer = await self.client.text_document_completion_async(
            types.CompletionParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        )
        assert answer is None or isinstance(answer, types.CompletionList)
        return answer

    async def labels(self, uri: str, line: int, character: int) -> list[str]:
        answer = await self.complete(uri, line, character)
        return [] if answer is None else [item.label for item in answer.items]

    async def hover(self, uri: str, line: int, character: int) -> str | None:
        answer = await self.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        )
        if answer is None:
            return None
        assert isinstance(answer.contents, types.MarkupContent)
        return answer.contents.value

    async def links(self, uri: str) -> list[types.DocumentLink]:
        """The document's links, resolved."""
        answer = await self.client.text_document_document_link_async(
            types.DocumentLinkParams(types.TextDocumentIdentifier(uri))
        )
        return [await self.client.document_link_resolve_async(link) for link in answer or ()]

    async def definition(self, uri: str, line: int, character: int) -> types.Location | None:
        answer = await self.client.text_document_definition_async(
            types.DefinitionParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        )
        assert answer is None or isinstance(answer, types.Location)
        return answer

    async def actions(
        self, uri: str, line: int, character: int, *diagnostics: types.Diagnostic
    ) -> dict[str, types.CodeAction | types.Command]:
        """What is offered at this place, by title."""
        place = types.Position(line, character)
        context = types.CodeActionContext(diagnostics)
        answer = await self.client.text_document_code_action_async(
            types.CodeActionParams(types.TextDocumentIdentifier(uri), types.Range(place, place), context)
        )
        return {action.title: action for action in answer or ()}

    async def content(self, document: str) -> str:
        answer = await self.client.workspace_text_document_content_async(
            types.TextDocumentContentParams(document)
        )
        return answer.text

    async def command(self, name: str, **argument: Any) -> Any:
        return await self.client.workspace_execute_command_async(
            types.ExecuteCommandParams(f"lectern.{name}", [argument])
        )

    async def servers(self) -> dict[str, Any]:
        answer = await self.command("servers")
        return {server["name"]: server for server in answer["servers"]}

    async def listed(self) -> None:
        """Start all servers and wait for their lists."""
        await self.command("refresh")

    async def until(self, condition: Callable[[], bool], timeout: float = 20) -> None:
        """Wait until something that the server sent makes the condition true."""
        async with self._news, asyncio.timeout(timeout):
            await self._news.wait_for(condition)

    async def until_diagnostics(self, uri: str, timeout: float = 20) -> Sequence[types.Diagnostic]:
        """Wait for a publish for this document that is not empty."""
        await self.until(lambda: bool(self.diagnostics(uri)), timeout)
        return self.diagnostics(uri)

    def diagnostics(self, uri: str) -> Sequence[types.Diagnostic]:
        """What was last published for the document."""
        last = [params.diagnostics for params in self.published if params.uri == uri]
        return last[-1] if last else []

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()

    def _note(self, into: list[Any], value: Any) -> None:
        into.append(value)
        task = asyncio.get_running_loop().create_task(self._tell())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _asked_again(self, method: str, *_params: Any) -> None:
        self._note(self.asked_again, method)

    _tasks: set[asyncio.Task[None]] = set()  # noqa: RUF012 - keeps the tasks of all editors alive

    def _listen_to_questions(self) -> None:
        """Answer what the server asks of a person, and note the progress that it shows."""
        client = self.client

        @client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
        def choose(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
            self._note(self.questions, params)
            title = self.choose(params)
            return None if title is None else types.MessageActionItem(title)

        @client.feature("lectern/elicit")
        async def elicit(params: Any) -> Any:
            self._note(self.elicited, plain(params))
            answer = self.elicit(plain(params))
            return await answer if inspect.isawaitable(answer) else answer

        @client.feature("lectern/input")
        async def give(params: Any) -> Any:
            self._note(self.inputs, plain(params))
            answer = self.give(plain(params))
            return await answer if inspect.isawaitable(answer) else answer

        client.protocol.fm.features.pop(types.WINDOW_WORK_DONE_PROGRESS_CREATE, None)

        @client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def create(params: types.WorkDoneProgressCreateParams) -> None:
            self._note(self.progress, (params.token, {"kind": "create"}))

        client.protocol.fm.features.pop(types.PROGRESS, None)

        @client.feature(types.PROGRESS)
        def progress(params: types.ProgressParams) -> None:
            self._note(self.progress, (params.token, plain(params.value)))

    def tell_settings_after(self, told: asyncio.Event) -> None:
        """Answer for the settings only then: until it is told them the server is not ready.

        ``asked_for_settings`` is set once the question is there.
        """
        self.client.protocol.fm.features.pop(types.WORKSPACE_CONFIGURATION, None)

        @self.client.feature(types.WORKSPACE_CONFIGURATION)
        async def configuration(params: types.ConfigurationParams) -> list[Any]:
            self.asked_for_settings.set()
            await told.wait()
            return [None for _ in params.items]

    def listen(self) -> None:
        """Answer what the server asks of an editor."""
        self._listen_to_questions()
        client = self.client
        client.protocol.fm.features.pop(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, None)

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self._note(self.published, params)

        client.protocol.fm.features.pop(types.WINDOW_SHOW_DOCUMENT, None)

        @client.feature(types.WINDOW_SHOW_DOCUMENT)
        def show(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            self._note(self.shown, params)
            return types.ShowDocumentResult(success=True)

        client.protocol.fm.features.pop(types.WINDOW_SHOW_MESSAGE, None)

        @client.feature(types.WINDOW_SHOW_MESSAGE)
        def message(params: types.ShowMessageParams) -> None:
            self._note(self.messages, params)

        @client.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH)
        def refresh(params: types.TextDocumentContentRefreshParams) -> None:
            self._note(self.refreshed, params.uri)

        @client.feature("lectern/status")
        def status(params: Any) -> None:
            told = plain(params)
            self.older = told["older"]
            self._note(self.statuses, {server["name"]: server for server in told["servers"]})

        for method in (
            types.WORKSPACE_DIAGNOSTIC_REFRESH,
            types.WORKSPACE_SEMANTIC_TOKENS_REFRESH,
            types.WORKSPACE_CODE_LENS_REFRESH,
        ):
            client.protocol.fm.features.pop(method, None)
            client.feature(method)(functools.partial(self._asked_again, method))

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            for registration in params.registrations:
                self._note(self.registered, registration)


def plain(value: Any) -> Any:
    """Parameters of a method of our own, which the client's library gives as named tuples, as plain JSON."""
    if hasattr(value, "_asdict"):
        return {key: plain(each) for key, each in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return {key: plain(each) for key, each in value.items()} if isinstance(value, dict) else value


@contextlib.asynccontextmanager
async def running(
    folder: Path,
    servers: Mapping[str, Any] | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    capabilities: Mapping[str, Any] = CONTENT,
    arguments: Sequence[str] = ("--no-discover",),
    encodings: Sequence[str] = ("utf-16",),
    experimental: Mapping[str, Any] | None = None,
    workspace: Path | None = None,
    told: asyncio.Event | None = None,
) -> AsyncIterator[Editor]:
    """A started, initialized language server with a home, cache and configuration of its own.

    With ``told`` the editor is asked for settings, and answers when that is set.
    """
    home, root = folder / "home", workspace or folder / "workspace"
    home.mkdir(exist_ok=True)
    root.mkdir(exist_ok=True)
    config = folder / "lectern-config.json"
    config.write_text(json.dumps({**(settings or {}), "servers": dict(servers or {})}), encoding="utf-8")
    editor = Editor(make_test_lsp_client(), root)
    editor.listen()
    if told is not None:
        editor.tell_settings_after(told)
        pulled = {**capabilities.get("workspace", {}), "configuration": True}
        capabilities = {**capabilities, "workspace": pulled}
    await editor.client.start_io(
        sys.executable, "-P", "-m", "mcp_lectern", "serve", "--config", str(config), *arguments,
        env=environment(home), cwd=str(home),
    )  # fmt: skip
    try:
        editor.result = await editor.client.initialize_session(
            _initialize(editor, capabilities, encodings, options, experimental)
        )
        yield editor
        await editor.client.shutdown_session()
    finally:
        with contextlib.suppress(ProcessLookupError):
            editor.process.kill()
        await editor.client.stop()


def _without_window(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in capabilities.items() if name != "window"}


def environment(home: Path) -> dict[str, str]:
    """The environment of this process, with another home."""
    folders = {
        name: str(home / name.lower()) for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
    }
    # No test may touch the key store of whoever runs it.
    folders["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    return {**os.environ, "HOME": str(home), **folders}


def _initialize(
    editor: Editor,
    capabilities: Mapping[str, Any],
    encodings: Sequence[str],
    options: Mapping[str, Any] | None,
    experimental: Mapping[str, Any] | None,
) -> types.InitializeParams:
    raw = {
        "processId": os.getpid(),
        "rootUri": editor.workspace.as_uri(),
        "workspaceFolders": [{"uri": editor.workspace.as_uri(), "name": editor.workspace.name}],
        "initializationOptions": dict(options or {}),
        "capabilities": {
            # Capabilities that say something in general are those of a whole editor.
            "general": {"positionEncodings": list(encodings)},
            "window": {"showDocument": {"support": True}, **capabilities.get("window", {})},
            **(capabilities if "general" in capabilities else _without_window(capabilities)),
            **({"experimental": {"lectern": dict(experimental)}} if experimental else {}),
        },
    }
    structured: types.InitializeParams = editor.client.protocol._converter.structure(
        raw, types.InitializeParams
    )
    return structured

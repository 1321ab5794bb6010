"""An editor's side of LSP over a child's pipes, for the demo and for tests; must not know any feature.

It speaks plain JSON and has no opinion: whoever drives it decides what it can do, and how it answers.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from mcp_lectern.lsp.stdio import Frames, FramingError

CHUNK_BYTES = 1 << 16
_METHOD_NOT_FOUND = -32601
_END_SECONDS = 5.0

Json = Any
Answer = Callable[[Json], Json]

CAPABILITIES: Mapping[str, Json] = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "textDocumentContent": {"dynamicRegistration": True},
        "workspaceFolders": True,
    },
    "textDocument": {
        "synchronization": {"didSave": True},
        "completion": {
            "completionItem": {"documentationFormat": ["markdown", "plaintext"], "labelDetailsSupport": True},
            "contextSupport": True,
        },
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "documentLink": {"tooltipSupport": True},
        "publishDiagnostics": {"versionSupport": True},
    },
}
"""What a good editor of today declares; pass another mapping to play a poorer one."""


class ResponseError(Exception):
    """A JSON-RPC error that answered a request: ``code``, ``message``, and ``data`` where there is some."""

    def __init__(self, method: str, error: Mapping[str, Json]) -> None:
        self.code = error.get("code")
        self.message = str(error.get("message", ""))
        self.data = error.get("data")
        super().__init__(f"{method}: {self.message}")


class ServerGoneError(ConnectionError):
    """The language server ended before it answered; ``str()`` has its exit code."""


class Editor:
    """A connected editor. Requests wait for their answer; what the server sends is kept, in order.

    ``notifications`` and ``requests`` hold pairs of method and parameters. ``answers`` maps the method of a
    request from the server to a function of its parameters; several have a friendly answer by default.
    ``silent`` holds methods that are never answered.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.notifications: list[tuple[str, Json]] = []
        self.requests: list[tuple[str, Json]] = []
        self.answers: dict[str, Answer] = {
            "client/registerCapability": lambda _: None,
            "client/unregisterCapability": lambda _: None,
            "window/showDocument": lambda _: {"success": True},
            "window/showMessageRequest": lambda _: None,
            "window/workDoneProgress/create": lambda _: None,
            "workspace/configuration": lambda params: [None for _ in params["items"]],
            "workspace/diagnostic/refresh": lambda _: None,
            "workspace/codeLens/refresh": lambda _: None,
            "workspace/semanticTokens/refresh": lambda _: None,
            "workspace/textDocumentContent/refresh": lambda _: None,
        }
        self.silent: set[str] = set()
        self._frames = Frames()
        self._waiting: dict[int, tuple[str, asyncio.Future[Json]]] = {}
        self._count = 0
        self._ended = False
        self._news = asyncio.Condition()
        self._versions: dict[str, int] = {}
        self._reading = asyncio.create_task(self._read())

    async def request(self, method: str, params: Json = None) -> Json:
        """The result. Raises ResponseError, or ServerGoneError where the server ended first."""
        return await self.begin(method, params)[1]

    def begin(self, method: str, params: Json = None) -> tuple[int, asyncio.Future[Json]]:
        """Send a request without waiting: its id (to cancel it with) and its future result."""
        self._count += 1
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        if self._ended:
            future.set_exception(ServerGoneError(f"{method}: the language server has ended"))
        else:
            self._waiting[self._count] = (method, future)
            self._send({"id": self._count, "method": method, "params": params})
        return self._count, future

    def notify(self, method: str, params: Json = None) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    async def initialize(
        self,
        folders: Sequence[Path] = (),
        capabilities: Mapping[str, Json] = CAPABILITIES,
        options: Json = None,
        process_id: int | None = None,
    ) -> Json:
        """Both halves of the handshake; the server's answer."""
        named = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
        params = {
            "processId": process_id,
            "clientInfo": {"name": "lectern-editor"},
            "rootUri": named[0]["uri"] if named else None,
            "workspaceFolders": named,
            "capabilities": capabilities,
            "initializationOptions": options,
        }
        result = await self.request("initialize", params)
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, language: str = "markdown") -> None:
        """``textDocument/didOpen`` with version 1."""
        self._versions[uri] = 1
        document = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, uri: str, *edits: Json) -> None:
        """``textDocument/didChange`` with these content changes, in order."""
        self._versions[uri] += 1
        document = {"uri": uri, "version": self._versions[uri]}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(edits)})

    def close(self, uri: str) -> None:
        """``textDocument/didClose``."""
        self._versions.pop(uri, None)
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    async def at(self, method: str, uri: str, line: int, character: int, **more: Json) -> Json:
        """A request about a position of a document."""
        position = {"line": line, "character": character}
        return await self.request(method, {"textDocument": {"uri": uri}, "position": position, **more})

    async def command(self, name: str, argument: Json = None) -> Json:
        """``workspace/executeCommand`` with one argument, or none."""
        arguments = [] if argument is None else [argument]
        return await self.request("workspace/executeCommand", {"command": name, "arguments": arguments})

    async def heard(self, method: str, wanted: Callable[[Json], bool] = lambda _: True) -> Json:
        """The parameters of the first notification or request of this method that is wanted, past or to come.

        Raises ServerGoneError where the server ends first.
        """
        async with self._news:
            while True:
                for name, params in self.notifications + self.requests:
                    if name == method and wanted(params):
                        return params
                if self._ended:
                    raise ServerGoneError(f"the language server ended without {method}")
                await self._news.wait()

    async def end(self) -> int:
        """``shutdown`` and ``exit``; the exit code."""
        await self.request("shutdown")
        self.notify("exit")
        return await self.process.wait()

    def _send(self, message: Mapping[str, Json]) -> None:
        stream = self.process.stdin
        if stream is None or stream.is_closing():
            return
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def _read(self) -> None:
        stream = self.process.stdout
        if stream is None:
            return
        try:
            with suppress(FramingError):
                while data := await stream.read(CHUNK_BYTES):
                    for body in self._frames.feed(data):
                        await self._received(json.loads(body))
        finally:
            await self._gone()

    async def _gone(self) -> None:
        self._ended = True
        code = await self.process.wait() if self.process.stdout and self.process.stdout.at_eof() else None
        waiting, self._waiting = self._waiting, {}
        for method, future in waiting.values():
            if not future.done():
                future.set_exception(
                    ServerGoneError(f"{method}: the language server ended (exit code {code})")
                )
        await self._tell()

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def _received(self, message: Mapping[str, Json]) -> None:
        method, params = message.get("method"), message.get("params")
        if method is None:
            self._answered(message)
            return
        if "id" in message:
            self.requests.append((method, params))
            if method not in self.silent:
                self._send({"id": message["id"], **self._reply(method, params)})
        else:
            self.notifications.append((method, params))
        await self._tell()

    def _reply(self, method: str, params: Json) -> Mapping[str, Json]:
        answer = self.answers.get(method)
        if answer is None:
            return {"error": {"code": _METHOD_NOT_FOUND, "message": f"This editor does not answer {method}."}}
        return {"result": answer(params)}

    def _answered(self, message: Mapping[str, Json]) -> None:
        method, future = self._waiting.pop(message.get("id", 0), ("", None))
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(ResponseError(method, message["error"]))
        else:
            future.set_result(message.get("result"))

    async def leave(self) -> None:
        """End the child, whatever state it is in: input closed, then a signal."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await self.process.wait()
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading


def serving(*options: str) -> list[str]:
    """The command that starts this installation's language server."""
    return [sys.executable, "-P", "-m", "mcp_lectern", "serve", *options]


@asynccontextmanager
async def started(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    stderr: int | None = None,
) -> AsyncIterator[Editor]:
    """An editor whose language server runs with ``folder`` as its working folder; the child ends with it."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env=dict(os.environ if environment is None else environment),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
    )
    editor = Editor(process)
    try:
        yield editor
    finally:
        await editor.leave()

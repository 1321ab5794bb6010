"""The LSP peer: pygls's protocol with its own rules for commands, shutdown, documents and plain answers.

It must not know any feature. What differs from pygls, and why:

- ``workspace/executeCommand`` runs as one cancellable task (pygls answers -32800 while the command runs on);
- ``shutdown`` waits for our own closing and cancels nothing by iterating over a dictionary that changes;
- documents are our own, so the built-in synchronisation handlers only pass on;
- answers that are already plain JSON skip cattrs, which is most of the cost of a long completion list;
- a malformed request is answered, a request before ``initialize`` or after ``shutdown`` is refused.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInternalError, JsonRpcInvalidParams
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from mcp_lectern.lsp.guard import invalid

logger = logging.getLogger(__name__)

Command = Callable[[Mapping[str, Any]], Awaitable[Any]]
_SERVER_NOT_INITIALIZED = -32002
_INVALID_REQUEST = -32600
_METHOD_NOT_FOUND = -32601


class Protocol(LanguageServerProtocol):
    """``hooks`` is set by the server before the first message arrives."""

    hooks: Hooks

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._asked: dict[str, asyncio.Future[Any]] = {}
        self._numbers = itertools.count(1)

    def receive(self, raw: object) -> None:
        """Handle one decoded message of the client, whatever it is."""
        if not isinstance(raw, dict) or not self._admitted(raw) or self._answered(raw):
            return
        if raw.get("method") == types.INITIALIZE:
            self.hooks.raw_initialize = raw.get("params") or {}
        try:
            self.handle_message(self.structure_message({"jsonrpc": "2.0", **raw}))
        except JsonRpcException as error:
            if "id" in raw and "method" in raw:
                told = invalid(f"The parameters of {raw['method']} are not of its form.")
                wrong = isinstance(error, JsonRpcInvalidParams)
                self._send_response(raw["id"], error=(told if wrong else error).to_response_error())

    def _admitted(self, raw: Mapping[str, Any]) -> bool:
        method, request = raw.get("method"), "id" in raw
        if method is None:
            return True
        if self._shutdown and method != types.EXIT:
            if request:
                self._refuse(raw["id"], _INVALID_REQUEST, "The server is shutting down.")
            return False
        if not self.hooks.initialized and method not in (types.INITIALIZE, types.EXIT):
            if request:
                self._refuse(raw["id"], _SERVER_NOT_INITIALIZED, "The server is not initialized yet.")
            return False
        return True

    def _refuse(self, message_id: Any, code: int, message: str) -> None:
        self._send_response(message_id, error=types.ResponseError(code=code, message=message))

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Answer with the capabilities; the hooks may complete them."""
        if self.hooks.initialized:
            raise JsonRpcException("The server is initialized already.", _INVALID_REQUEST)
        result = yield from super().lsp_initialize(params)
        self.hooks.initialized = True
        return self.hooks.on_initialize(params, result)

    @lsp_method(types.SHUTDOWN)
    async def lsp_shutdown(self, *_args: Any) -> None:  # type: ignore[override]
        """Refuse new work, cancel what is pending, and give the servers a moment to end."""
        self._shutdown = True
        own = self.msg_id
        for message_id, future in list(self._request_futures.items()):
            if message_id != own and not future.done():
                future.cancel()
        await self.hooks.on_shutdown()

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_args: Any) -> None:  # type: ignore[override]
        """End the process: 0 after ``shutdown``, 1 without."""
        self.hooks.on_exit(0 if self._shutdown else 1)

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(self, params: types.ExecuteCommandParams) -> Any:  # type: ignore[override]
        """One object argument, absent meaning ``{}``."""
        command = self.hooks.commands.get(params.command)
        if command is None:
            raise invalid(f"There is no command “{params.command}”.")
        arguments = list(params.arguments or [])
        argument = arguments[0] if arguments and arguments[0] is not None else {}
        if len(arguments) > 1 or not isinstance(argument, Mapping):
            raise invalid(f"“{params.command}” takes one object as its argument.")
        return await command(argument)

    @lsp_method(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def lsp_work_done_progress_cancel(self, params: types.WorkDoneProgressCancelParams) -> None:
        """Pass on; the tokens are ours."""
        self.hooks.on_progress_cancelled(params.token)

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Pass on; the documents are ours."""
        self.hooks.on_open(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Pass on; the documents are ours."""
        self.hooks.on_change(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Pass on; the documents are ours."""
        self.hooks.on_close(params)

    @lsp_method(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def lsp_workspace__did_change_workspace_folders(
        self, params: types.DidChangeWorkspaceFoldersParams
    ) -> None:
        """Pass on; the folders are ours."""
        self.hooks.on_folders(params)

    def _handle_request(self, msg_id: Any, method_name: str, params: Any) -> None:
        if method_name not in self.fm.builtin_features and method_name not in self.fm.features:
            self._refuse(msg_id, _METHOD_NOT_FOUND, f"Lectern does not answer {method_name}.")
            return
        super()._handle_request(msg_id, method_name, params)

    def _send_handler_result(self, future: Any, *, msg_id: Any) -> None:
        """Like pygls's, but an expected failure is an answer and no traceback in the log."""
        self._request_futures.pop(msg_id, None)
        if future.cancelled():
            self._refuse(msg_id, types.LSPErrorCodes.RequestCancelled, "The request was cancelled.")
            return
        error = future.exception()
        if error is None:
            self._send_response(msg_id, result=future.result())
        elif isinstance(error, asyncio.CancelledError):
            self._refuse(msg_id, types.LSPErrorCodes.RequestCancelled, "The request was cancelled.")
        elif isinstance(error, JsonRpcException):
            self._send_response(msg_id, error=error.to_response_error())
        else:
            logger.error("request %r failed", msg_id, exc_info=error)
            internal = JsonRpcInternalError(f"Lectern failed: {error!r}. Its log has the details.")
            self._send_response(msg_id, error=internal.to_response_error())

    def _send_response(self, msg_id: Any, result: Any | None = None, error: Any | None = None) -> None:
        self._result_types.pop(msg_id, None)
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": msg_id}
        if error is not None:
            answer["error"] = self._converter.unstructure(error)
        else:
            answer["result"] = self._plain(result)
        self._send_data(answer)

    async def ask(self, method: str, params: Any) -> Any:
        """A request whose answer stays plain JSON, whatever its members are called; ends with its caller.

        Raises JsonRpcException where the client answers with an error.
        """
        identity = f"lectern-{next(self._numbers)}"
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[identity] = future
        self._send_data({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        try:
            return await future
        except asyncio.CancelledError:
            self.tell(types.CANCEL_REQUEST, {"id": identity})
            raise
        finally:
            del self._asked[identity]

    def _answered(self, raw: Mapping[str, Any]) -> bool:
        """Whether this answers one of ``ask``'s requests."""
        identity = raw.get("id")
        future = self._asked.get(identity) if isinstance(identity, str) and "method" not in raw else None
        if future is None or future.done():
            return future is not None
        error = raw.get("error")
        if isinstance(error, Mapping):
            future.set_exception(JsonRpcException(str(error.get("message")), error.get("code")))
        else:
            future.set_result(raw.get("result"))
        return True

    def tell(self, method: str, params: Any) -> None:
        """Send a notification whose parameters are plain JSON already."""
        self._send_data({"jsonrpc": "2.0", "method": method, "params": params})

    def _plain(self, value: Any) -> Any:
        return self._converter.unstructure(value) if hasattr(value, "__attrs_attrs__") else value

    def _send_data(self, data: Any) -> None:
        if self.writer is None:
            return
        body = json.dumps(self._plain(data), separators=(",", ":"), default=self._serialize_message)
        self.writer.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode("ascii"))


class Hooks:
    """What the protocol asks of the server. Subclassed once, in ``lsp/server``."""

    initialized = False
    raw_initialize: Mapping[str, Any]
    commands: Mapping[str, Command]

    def on_initialize(
        self, params: types.InitializeParams, result: types.InitializeResult
    ) -> types.InitializeResult:
        """Complete the answer to ``initialize``."""
        raise NotImplementedError

    async def on_shutdown(self) -> None:
        """End what runs, within the time that an editor waits."""
        raise NotImplementedError

    def on_exit(self, code: int) -> None:
        """End the process with this exit code."""
        raise NotImplementedError

    def on_progress_cancelled(self, token: int | str) -> None:
        """``window/workDoneProgress/cancel``."""
        raise NotImplementedError

    def on_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """``textDocument/didOpen``."""
        raise NotImplementedError

    def on_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """``textDocument/didChange``."""
        raise NotImplementedError

    def on_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """``textDocument/didClose``."""
        raise NotImplementedError

    def on_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        """``workspace/didChangeWorkspaceFolders``."""
        raise NotImplementedError

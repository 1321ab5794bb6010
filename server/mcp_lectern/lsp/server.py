"""The language server put together: protocol, session, engine, handlers, commands; it must not hold logic.

Nothing heavy is imported from here before ``initialize`` is answered: the hub comes with the engine.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from mcp_lectern import __version__
from mcp_lectern.lsp import asked, commands, handlers
from mcp_lectern.lsp.approval import Approval
from mcp_lectern.lsp.argument_values import ArgumentValues
from mcp_lectern.lsp.capabilities import Client, completed, registrations
from mcp_lectern.lsp.client_settings import ClientSettings
from mcp_lectern.lsp.converter import lenient_converter
from mcp_lectern.lsp.elicitation import Elicitation
from mcp_lectern.lsp.engine import CommandLine, Engine
from mcp_lectern.lsp.from_proto import folder_path
from mcp_lectern.lsp.inputs import EditorPrompt
from mcp_lectern.lsp.progress import Progress
from mcp_lectern.lsp.protocol import Command, Hooks, Protocol
from mcp_lectern.lsp.publishing import Publishing
from mcp_lectern.lsp.refreshing import Refreshing
from mcp_lectern.lsp.secrets import storage
from mcp_lectern.lsp.session import Session
from mcp_lectern.lsp.staleness import Staleness
from mcp_lectern.lsp.synchronization import Synchronization

if TYPE_CHECKING:
    from mcp_lectern.config.model import Configuration
    from mcp_lectern.hub.hub import Hub
    from mcp_lectern.text.encodings import Encoding

logger = logging.getLogger(__name__)

Run = Callable[["Lectern", Mapping[str, Any]], Awaitable[Any]]


class _PyglsServer(LanguageServer):
    """pygls's server, with its errors in the log alone: a user is told by answers, not by toasts."""

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ARG002 - pygls's signature
        logger.error("%s", error, exc_info=error)


class Lectern(Hooks):
    """One language server for one editor."""

    def __init__(self, command_line: CommandLine, stop: Callable[[int], None]) -> None:
        self.session = Session()
        self.commands: dict[str, Command] = {}
        self.file_problems: dict[str, list[dict[str, Any]]] = {}
        self._said: set[str] = set()
        self._stop = stop
        self._ready = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.pygls = _PyglsServer(
            "Lectern", __version__, protocol_cls=Protocol, converter_factory=lenient_converter
        )
        self.protocol: Protocol = self.pygls.protocol  # type: ignore[assignment]
        self.protocol.hooks = self
        self.engine = Engine(
            self.session,
            command_line,
            self,
            Elicitation(self),
            self._pull_settings,
            self._configured,
            storage=lambda: storage(self),
            prompt=EditorPrompt(self),
        )
        self._settings = ClientSettings(self._ask_settings, self.engine.reconfigure)
        self.approval = Approval(self)
        self.progress = Progress(self)
        self.synchronization = Synchronization(self)
        self.values = ArgumentValues(self.session)
        self.publishing = Publishing(self.session, self._diagnostics, self._publish)
        self.refreshing = Refreshing(self.session, self._refresh)
        self.staleness = Staleness(self.session, partial(self.show, types.MessageType.Warning))
        handlers.register(self)
        asked.register(self)
        commands.register(self)

    def feature(self, method: str, options: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a handler for an LSP method."""
        return self.pygls.feature(method, options)

    def add_command(self, name: str, run: Run) -> None:
        """Register a server command."""

        async def command(argument: Mapping[str, Any]) -> Any:
            from mcp_lectern.lsp.guard import guarded

            return await guarded(run(self, argument))

        self.commands[name] = command
        self.pygls.command(name)(command)

    def plain(self, value: Any) -> Any:
        """The plain JSON of an LSP object."""
        return self.protocol._converter.unstructure(value)  # noqa: SLF001 - pygls offers no other way

    async def hub(self) -> Hub:
        """The hub, once it is loaded and configured for the first time."""
        await self._ready.wait()
        if self.session.hub is None:
            raise RuntimeError("the hub could not be loaded")
        return self.session.hub

    async def loaded(self, uri: str | None = None) -> bool:
        """Wait for the hub, where a document is given only if that is open; whether there is one.

        Links and their like are asked for once, as an editor's first act: no client asks again by itself.
        That its language holds mentions does not count: the settings, which say so, come with the hub.
        """
        if self.session.hub is None and (uri is None or uri in self.session.documents):
            await self._ready.wait()
        return self.session.hub is not None

    def spawn(self, work: Awaitable[Any], name: str) -> None:
        """Run something that no request waits for; a failure goes to the log."""

        async def logged() -> None:
            try:
                await work
            except Exception:
                logger.exception("%s failed", name)

        task = asyncio.get_running_loop().create_task(logged(), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def show(self, kind: types.MessageType, message: str) -> None:
        """``window/showMessage``: for what the user must know and did not ask for."""
        self.pygls.window_show_message(types.ShowMessageParams(kind, message))

    def tell_once(self, messages: Sequence[str]) -> None:
        """Problems that no file can carry: shown when they are new, with the log as their home."""
        from mcp_lectern.text.untrusted import single_line

        for message in messages:
            logger.warning("%s", message)
            if message not in self._said:
                self._said.add(message)
                self.show(types.MessageType.Warning, single_line(message, 400))

    # The protocol's hooks.

    def on_initialize(
        self, params: types.InitializeParams, result: types.InitializeResult
    ) -> types.InitializeResult:
        """Note what the client is and can do."""
        session = self.session
        session.client = Client.of(self.raw_initialize)
        encoding = result.capabilities.position_encoding
        session.encoding = cast(
            "Encoding", encoding.value if isinstance(encoding, Enum) else encoding or "utf-16"
        )
        folders: list[str | None] = [folder.uri for folder in params.workspace_folders or ()]
        paths = [folder_path(uri) for uri in folders or [params.root_uri]]
        session.folders = [path for path in paths if path is not None]
        options = self.raw_initialize.get("initializationOptions")
        self.engine.initial = options if isinstance(options, Mapping) else {}
        self.watch_parent(params.process_id)
        return completed(result, session.client)

    watch_parent: Callable[[int | None], None] = staticmethod(lambda _process_id: None)

    def on_initialized(self) -> None:
        """The client is ready: register what must be, and bring the hub up."""
        wanted = registrations(self.session.client)
        if wanted:
            self.spawn(self.register(wanted), "registering capabilities")
        self.spawn(self._start(), "starting the hub")

    async def register(self, wanted: Sequence[types.Registration]) -> None:
        """``client/registerCapability``."""
        params = types.RegistrationParams(registrations=list(wanted))
        await self.pygls.client_register_capability_async(params)

    async def _start(self) -> None:
        try:
            await self.engine.start()
            self.synchronization.hold_all()
        finally:
            self._ready.set()

    async def on_shutdown(self) -> None:
        """End the servers, within the time that an editor waits."""
        await self.engine.close()

    def on_exit(self, code: int) -> None:
        """End the process."""
        self._stop(code)

    def on_progress_cancelled(self, token: int | str) -> None:
        """``window/workDoneProgress/cancel``."""
        self.progress.cancelled(token)

    def on_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """``textDocument/didOpen``."""
        self.synchronization.opened(params)

    def on_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """``textDocument/didChange``."""
        self.synchronization.changed(params)

    def on_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """``textDocument/didClose``."""
        self.synchronization.closed(params)

    def on_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        """The workspace's folders have changed, and with them what configures us."""
        added = [path for folder in params.event.added if (path := folder_path(folder.uri)) is not None]
        removed = {folder_path(folder.uri) for folder in params.event.removed}
        kept = [path for path in self.session.folders if path not in removed]
        self.session.folders = [*kept, *(path for path in added if path not in kept)]
        self.engine.reconfigure()

    # The hub's observer.

    def catalogue_changed(self, server: str) -> None:
        """Documents may read differently now."""
        self.values.forget(server)
        self.publishing.schedule_all()
        self.refreshing.documents()

    def status_changed(self, server: str) -> None:
        """Tell a client that shows the status; what lenses offer may have changed with it."""
        self.refreshing.lenses()
        self.staleness.look()
        hub = self.session.hub
        if hub is not None and hub.states_shown().get(server) == "starting":
            self.progress.watch_start(server)
        if hub is not None and hub.states_shown().get(server) == "notTrusted":
            self.approval.mention_unapproved(server)
        self.tell_status()

    def tell_status(self) -> None:
        """A client that shows the status is told what it is, shortly and once."""
        if self.session.client.status and self.session.hub is not None and not self._status_due:
            self._status_due = True
            asyncio.get_running_loop().call_later(_STATUS_PACE, self._send_status)

    _status_due = False

    def _send_status(self) -> None:
        self._status_due = False
        if self.session.hub is not None:
            servers = [status.to_json() for status in self.session.hub.status()]
            told = {"servers": servers, "older": self.staleness.older()}
            self.protocol.tell("lectern/status", told)

    def contents_changed(self, server: str, uri: str) -> None:
        """Open documents of this resource show something else now: the client asks for it again."""
        from mcp_lectern.lsp.virtual import ask_again

        ask_again(self, server, uri)

    def log(self, server: str, line: str) -> None:
        """A line of a server's log, also in ours."""
        logger.info("[%s] %s", server, line)

    # The engine's and the publisher's questions.

    async def _pull_settings(self) -> Mapping[str, object] | None:
        return await self._settings.pull() if self.session.client.pulls_configuration else None

    def _ask_settings(self) -> Awaitable[Any]:
        # Plain JSON: an answer that is not of its form would otherwise be lost, and waited for.
        return self.protocol.ask(types.WORKSPACE_CONFIGURATION, {"items": [{"section": "lectern"}]})

    def _configured(self, configuration: Configuration, warnings: Sequence[str]) -> None:
        from mcp_lectern.lsp.problems import publish

        publish(self, configuration, warnings)
        self.publishing.schedule_all()
        self.refreshing.documents()
        self.refreshing.lenses()

    async def _diagnostics(self, uri: str) -> list[dict[str, Any]] | None:
        from mcp_lectern.lsp.handlers.diagnostics import diagnostics_of

        return await diagnostics_of(self.session, uri)

    def _refresh(self, method: str) -> None:
        self.spawn(self.protocol.send_request_async(method), f"asking for {method}")

    def _publish(self, params: dict[str, Any]) -> None:
        """Each takes the place of the last: the problems of a configuration file are in all of its."""
        found = [*params["diagnostics"], *self.file_problems.get(params["uri"], ())]
        self.protocol.tell(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, {**params, "diagnostics": found})


_STATUS_PACE = 0.1
"""Seconds that status changes are collected before a client is told."""

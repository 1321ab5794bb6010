"""Brings the hub up once ``initialize`` is answered, and keeps it configured; must not know LSP methods.

The hub and all that it imports (pydantic, anyio) are loaded in a thread, so that the first answers of an
editor's day do not wait for them.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_lectern import __version__
from mcp_lectern.lsp.session import Session

if TYPE_CHECKING:
    from mcp_lectern.config.model import Configuration
    from mcp_lectern.hub.hub import Hub
    from mcp_lectern.hub.inputs import Prompt
    from mcp_lectern.hub.observer import HubObserver
    from mcp_lectern.mcp.auth.tokens import TokenStorage
    from mcp_lectern.mcp.connect import Answers

logger = logging.getLogger(__name__)

_SETTLE = 0.3
"""Seconds that a burst of configuration events is collected (an editor that saves 20 times in 2 s)."""
_CLOSING = 1.0
"""Seconds that ``shutdown`` waits for servers to end; the rest of the ending goes on until ``exit``."""


@dataclass(slots=True)
class CommandLine:
    """What ``serve`` was told on its command line."""

    config_files: Sequence[Path] = ()
    discover: bool = True
    workspace_servers: str | None = None


@dataclass
class Engine:
    """Owns the hub's task. ``pull_settings`` asks the client for its ``lectern`` section, or returns None.

    ``storage`` is asked, once the loop runs, for what makes the place where sign-ins are kept.
    """

    session: Session
    command_line: CommandLine
    observer: HubObserver
    answers: Answers
    pull_settings: Callable[[], Awaitable[Mapping[str, object] | None]]
    configured: Callable[[Configuration, Sequence[str]], None]
    storage: Callable[[], Callable[[], TokenStorage]] | None = None
    prompt: Prompt | None = None
    initial: Mapping[str, object] = field(default_factory=dict)
    pushed: Mapping[str, object] = field(default_factory=dict)
    _configuring: asyncio.Lock = field(default_factory=asyncio.Lock)
    _configuration: Configuration | None = None
    _hub: Hub | None = None
    _life: asyncio.Task[None] | None = None
    _pending: asyncio.TimerHandle | None = None
    _reading: asyncio.Task[None] | None = None
    _again: bool = False
    _remembered: tuple[tuple[Path, ...], bool] | None = None

    async def start(self) -> None:
        """Load the hub, run it, and configure it for the first time."""
        module = await asyncio.to_thread(importlib.import_module, "mcp_lectern.hub.hub")
        self._hub = module.Hub(self.observer, __version__, self.answers)
        self._hub.inputs.prompt = self.prompt
        if self.storage is not None:
            self._hub.tokens = self.storage()
        self._life = asyncio.create_task(self._hub.run(), name="lectern-hub")
        await self._configure()
        # Not before: without its configuration the hub would take every server for unknown.
        self.session.hub = self._hub

    def reconfigure(self, pushed: Mapping[str, object] | None = None) -> None:
        """The settings or a file may have changed: read everything again shortly, once."""
        if pushed is not None:
            self.pushed = pushed
        if self._pending is not None:
            self._pending.cancel()
        self._pending = asyncio.get_running_loop().call_later(_SETTLE, self._begin)

    def _begin(self) -> None:
        self._pending = None
        if self._reading is not None and not self._reading.done():
            self._again = True
            return
        self._reading = asyncio.create_task(self._configure_until_settled(), name="lectern-configure")

    async def configure_now(self) -> None:
        """Read everything again, and return when it is applied."""
        async with self._configuring:
            await self._read_and_apply()

    async def _configure_until_settled(self) -> None:
        self._again = True
        while self._again:
            self._again = False
            await self._configure()

    async def _configure(self) -> None:
        try:
            await self.configure_now()
        except Exception as error:
            logger.exception("the configuration could not be applied; the previous one stays")
            self._tell_failure(error)

    def _tell_failure(self, error: Exception) -> None:
        """A person whose servers are all missing must not have to look into a log to learn of it."""
        from mcp_lectern.config.model import Configuration

        message = f"The configuration could not be applied, so the previous one stays: {error}"
        self.configured(self._configuration or Configuration(), [message])

    async def _read_and_apply(self) -> None:
        from mcp_lectern.hub import prepare

        hub = self._hub
        if hub is None:
            return
        pulled = await self.pull_settings()
        current = pulled if pulled is not None else self.pushed
        request = prepare.Request(
            layers=(
                *prepare.layer("initializationOptions", self.initial),
                *prepare.layer("settings", current),
            ),
            config_files=tuple(self.command_line.config_files),
            folders=tuple(self.session.folders),
            discover=self.command_line.discover,
            trusted_settings=self.session.client.trusted_settings,
            workspace_servers=self.command_line.workspace_servers,
        )
        # The first time, other servers and what is remembered wait for no program's environment or secret.
        hurried = self._configuration is None
        prepared = await asyncio.to_thread(
            prepare.prepare, request, self._configuration, hurried=hurried, given=hub.inputs.given.values
        )
        self._configuration = prepared.configuration
        self.session.settings = prepared.settings
        await self._remember()
        hub.adopt(prepared.settings, self.session.folders)
        # Whoever types @ needs this next, and the disk is waited for just now.
        eager = prepared.settings.startup == "eager"
        await asyncio.gather(
            asyncio.to_thread(_load_completion), hub.configure(prepared.entries, eager=eager)
        )
        self.configured(prepared.configuration, prepared.warnings)
        if any(entry.preparing for entry in prepared.entries):
            self._begin()

    async def _remember(self) -> None:
        """What was opened in this workspace, as far as the settings let it be remembered."""
        from mcp_lectern.hub import remembered
        from mcp_lectern.hub.opened import Opened, place

        wanted = (tuple(self.session.folders), self.session.settings.remember)
        if wanted == self._remembered:
            return
        self._remembered = wanted
        folders, remember = wanted
        path = place(folders)
        if not remember:
            await asyncio.to_thread(path.unlink, missing_ok=True)
        self.session.opened = await asyncio.to_thread(Opened, path if remember else None)
        if self._hub is not None:
            # Two editors may have different servers in the same folder.
            who = [
                *map(str, folders),
                "",
                *map(str, self.command_line.config_files),
                self.session.client.name,
            ]
            await self._hub.remembered.keep_in(remembered.place(), remember=remember, who=who)

    async def close(self) -> None:
        """Begin to end everything; returns when all servers are gone, or after a moment."""
        hub = self._hub
        if hub is not None:
            await asyncio.wait([asyncio.ensure_future(hub.close())], timeout=_CLOSING)

    async def ended(self) -> None:
        """Everything has ended, however long it takes."""
        if self._reading is not None:
            self._reading.cancel()
        if self._pending is not None:
            self._pending.cancel()
        hub = self._hub
        if hub is not None and self._life is not None:
            await hub.close()
            await asyncio.wait([self._life])


def _load_completion() -> None:
    for name in ("features.completion", "lsp.to_proto.completion"):
        importlib.import_module(f"mcp_lectern.{name}")

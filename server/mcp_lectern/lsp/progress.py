"""Work that lasts is shown while it lasts, and the user can cancel it; must not know what the work is."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

T = TypeVar("T")

PATIENCE = 0.5
"""Seconds that work may take before anybody is told of it."""
_TITLE_LIMIT = 150


class Progress:
    """``window/workDoneProgress`` for clients that have it; for others the work just runs."""

    def __init__(self, lectern: Lectern) -> None:
        self._lectern = lectern
        self._numbers = itertools.count(1)
        self._cancels: dict[str, Callable[[], object]] = {}
        self._watched: set[str] = set()

    async def shown(self, title: str | None, work: Awaitable[T]) -> T:
        """The work's result; without a title it just runs.

        Raises what the work raises, and Refused (cancelled) where the user had enough.
        """
        if title is None:
            return await work
        from mcp_lectern.hub.failure import refused

        # In the caller's own task: one more task would let those who share the work miss each other.
        task = asyncio.current_task()
        lasting, by_user = True, False

        def cancel() -> None:
            nonlocal by_user
            if lasting and task is not None:
                by_user = True
                task.cancel()

        showing = asyncio.create_task(self._show(title, cancel))
        try:
            return await work
        except asyncio.CancelledError:
            if not by_user or task is None or task.uncancel():
                raise
            raise refused("cancelled", f"Cancelled: {title}.") from None
        finally:
            lasting = False
            showing.cancel()

    async def _show(self, title: str, cancel: Callable[[], object]) -> None:
        """Told until cancelled, which is the work's end."""
        from mcp_lectern.text.untrusted import single_line

        await asyncio.sleep(PATIENCE)
        if not self._lectern.session.client.work_done_progress:
            return
        token = f"lectern-{next(self._numbers)}"
        try:
            await self._lectern.protocol.ask(types.WINDOW_WORK_DONE_PROGRESS_CREATE, {"token": token})
        except JsonRpcException:
            return
        begin = {"kind": "begin", "title": single_line(title, _TITLE_LIMIT), "cancellable": True}
        self._tell(token, begin)
        self._cancels[token] = cancel
        try:
            await asyncio.Event().wait()
        finally:
            del self._cancels[token]
            self._tell(token, {"kind": "end"})

    def _tell(self, token: str, value: dict[str, Any]) -> None:
        self._lectern.protocol.tell(types.PROGRESS, {"token": token, "value": value})

    def cancelled(self, token: object) -> None:
        """The user cancels what this token shows; an unknown one is over already."""
        cancel = self._cancels.get(token) if isinstance(token, str) else None
        if cancel is not None:
            cancel()

    def watch_start(self, server: str) -> None:
        """A server begins to start, for whatever reason: show it until its first list is there."""
        if server not in self._watched:
            self._watched.add(server)
            self._lectern.spawn(self._start(server), "showing a start")

    async def _start(self, server: str) -> None:
        from mcp_lectern.hub.failure import Refused

        hub = await self._lectern.hub()
        try:
            link = hub.link(server)
            await self.shown(f"Starting {server} and listing its resources", link.first_listing())
        except Refused as refusal:
            # Cancelled, or no longer configured; whoever cancels does not want the server now.
            if refusal.failure.kind == "cancelled":
                await hub.stop((server,))
        finally:
            self._watched.discard(server)

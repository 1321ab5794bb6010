"""When diagnostics are computed and sent: debounced, for the newest version only, never after a close.

It must not know what is wrong with a mention: it is given a way to compute. A client that pulls is sent none.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from mcp_lectern.lsp.session import Session

logger = logging.getLogger(__name__)

_DEBOUNCE = 0.15
"""Seconds without a further change before a document is looked at."""


class Publishing:
    """``compute`` gives a document's diagnostics as LSP objects, or None while there is no opinion yet."""

    def __init__(
        self,
        session: Session,
        compute: Callable[[str], Awaitable[list[dict[str, Any]] | None]],
        send: Callable[[dict[str, Any]], None],
    ) -> None:
        self._session = session
        self._compute = compute
        self._send = send
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._computing: dict[str, asyncio.Task[None]] = {}
        self._shown: dict[str, list[dict[str, Any]]] = {}

    def schedule(self, uri: str) -> None:
        """The document has changed, or the world around it has."""
        self._cancel(uri)
        if self._session.client.pulls_diagnostics:
            return
        if self._session.living(uri) is None and uri not in self._shown:
            return
        loop = asyncio.get_running_loop()
        self._timers[uri] = loop.call_later(_DEBOUNCE, self._begin, uri)

    def schedule_all(self) -> None:
        """The catalogue or the settings have changed."""
        for uri in list(self._session.documents):
            self.schedule(uri)

    def again(self, uri: str) -> None:
        """Send what was found last, if anything: what is sent along with it has changed."""
        self._send({"uri": uri, **self._version(uri), "diagnostics": self._shown.get(uri, [])})

    def closed(self, uri: str) -> None:
        """One empty list, and nothing afterwards."""
        self._cancel(uri)
        if self._shown.pop(uri, None) is not None:
            self._send({"uri": uri, "diagnostics": []})

    def _cancel(self, uri: str) -> None:
        timer = self._timers.pop(uri, None)
        if timer is not None:
            timer.cancel()
        task = self._computing.pop(uri, None)
        if task is not None:
            task.cancel()

    def _begin(self, uri: str) -> None:
        self._timers.pop(uri, None)
        task = asyncio.get_running_loop().create_task(self._publish(uri), name="lectern-diagnostics")
        self._computing[uri] = task

    async def _publish(self, uri: str) -> None:
        try:
            found = await self._compute(uri) if self._session.living(uri) is not None else []
        except Exception:
            logger.exception("diagnostics could not be computed")
            return
        finally:
            if self._computing.get(uri) is asyncio.current_task():
                del self._computing[uri]
        document = self._session.documents.get(uri)
        if document is None or found is None or found == self._shown.get(uri, None if found else []):
            return
        self._shown[uri] = found
        self._send({"uri": uri, **self._version(uri), "diagnostics": found})

    def _version(self, uri: str) -> dict[str, int]:
        document = self._session.documents.get(uri)
        return {} if document is None or document.version is None else {"version": document.version}

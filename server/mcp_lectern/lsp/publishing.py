"""When diagnostics are computed and sent: debounced, for the newest version only, never after a close.

It must not know what is wrong with a mention: it is given a way to compute.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from mcp_lectern.lsp.session import Session

_DEBOUNCE = 0.15
"""Seconds without a further change before a document is looked at."""


class Publishing:
    """``compute`` gives a document's diagnostics as LSP objects, or None while there is no opinion yet."""

    def __init__(
        self,
        session: Session,
        compute: Callable[[str], list[dict[str, Any]] | None],
        send: Callable[[dict[str, Any]], None],
    ) -> None:
        self._session = session
        self._compute = compute
        self._send = send
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._shown: dict[str, list[dict[str, Any]]] = {}

    def schedule(self, uri: str) -> None:
        """The document has changed, or the world around it has."""
        self._cancel(uri)
        if self._session.living(uri) is None and uri not in self._shown:
            return
        loop = asyncio.get_running_loop()
        self._timers[uri] = loop.call_later(_DEBOUNCE, self._publish, uri)

    def schedule_all(self) -> None:
        """The catalogue or the settings have changed."""
        for uri in list(self._session.documents):
            self.schedule(uri)

    def closed(self, uri: str) -> None:
        """One empty list, and nothing afterwards."""
        self._cancel(uri)
        if self._shown.pop(uri, None) is not None:
            self._send({"uri": uri, "diagnostics": []})

    def _cancel(self, uri: str) -> None:
        timer = self._timers.pop(uri, None)
        if timer is not None:
            timer.cancel()

    def _publish(self, uri: str) -> None:
        self._timers.pop(uri, None)
        document = self._session.documents.get(uri)
        if document is None:
            return
        found = self._compute(uri) if self._session.living(uri) is not None else []
        if found is None or found == self._shown.get(uri, None if found else []):
            return
        self._shown[uri] = found
        self._send({"uri": uri, "version": document.version, "diagnostics": found})

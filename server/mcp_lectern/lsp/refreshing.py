"""When a client is asked to compute again what it once asked for: a burst of changes is one request.

It must not know what the client computes; documents that the client does not ask about are publishing's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lsprotocol import types

from mcp_lectern.lsp.session import Session

_PACE = 0.15
"""Seconds that changes are collected."""


class Refreshing:
    """``ask`` sends a request without parameters; nothing waits for the answer."""

    def __init__(self, session: Session, ask: Callable[[str], None]) -> None:
        self._session = session
        self._ask = ask
        self._due: set[str] = set()

    def documents(self) -> None:
        """The catalogue or the settings have changed: mentions may mean something else."""
        if self._session.client.pulls_diagnostics:
            self._soon(types.WORKSPACE_DIAGNOSTIC_REFRESH)
        if self._session.client.refreshes_tokens:
            self._soon(types.WORKSPACE_SEMANTIC_TOKENS_REFRESH)

    def lenses(self) -> None:
        """A server's state or the configuration has changed."""
        if self._session.client.refreshes_lenses:
            self._soon(types.WORKSPACE_CODE_LENS_REFRESH)

    def _soon(self, method: str) -> None:
        if method not in self._due:
            self._due.add(method)
            asyncio.get_running_loop().call_later(_PACE, self._send, method)

    def _send(self, method: str) -> None:
        self._due.discard(method)
        self._ask(method)

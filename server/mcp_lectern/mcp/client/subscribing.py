"""Subscriptions of the handshake era: a call for each URI; must not know who wants them.

Specification 2025-11-25, server/resources (subscriptions).
"""

from __future__ import annotations

from typing import Final

import anyio

from mcp_lectern.mcp.errors import ConnectionLost, McpError
from mcp_lectern.mcp.wire.jsonrpc import METHOD_NOT_FOUND

from .subscriptions import Subscriptions

SUBSCRIBE: Final = "resources/subscribe"
UNSUBSCRIBE: Final = "resources/unsubscribe"


class Subscribing(Subscriptions):
    """A server that lacks the method is asked once; one that refuses a URI, once for that URI."""

    _missing = False

    @property
    def granted(self) -> frozenset[str]:
        """The URIs whose ``resources/subscribe`` was answered."""
        return frozenset(self._held)

    def start(self) -> None:
        """Nothing to do: list changes come by themselves."""
        self._held: set[str] = set()
        self._under_way: set[str] = set()

    def renew(self) -> None:
        """Subscribe to everything again, and tell of each as if it had changed.

        What was refused is asked for, too: the refusal may have come of the session's end.
        """
        self._behind |= self._held | self._refused
        self._held.clear()
        self._refused.clear()
        self._missing = False
        self._stirred.set()

    async def run(self) -> None:
        """One task for each URI whose state differs from what is wanted."""
        async with anyio.create_task_group() as tasks:
            while True:
                await self._stirred.wait()
                self._stirred = anyio.Event()
                for uri in sorted((self._wanted ^ self._held) - self._under_way):
                    self._under_way.add(uri)
                    tasks.start_soon(self._settle, uri)

    async def _settle(self, uri: str) -> None:
        try:
            while (uri in self._wanted) != (uri in self._held) and not self._session.ended:
                await (self._hold(uri) if uri in self._wanted else self._release(uri))
                self._observer.subscriptions_changed()
        finally:
            self._under_way.discard(uri)

    async def _hold(self, uri: str) -> None:
        if self._missing:
            self._refused.add(uri)
            return
        try:
            await self._session.request(self._session.asked(SUBSCRIBE, uri), {"uri": uri}, self._patience)
        except ConnectionLost:
            return
        except McpError as error:
            self._missing = self._missing or error.code == METHOD_NOT_FOUND
            self._refused.add(uri)
            self._log(f"not subscribed: {error.message}")
            return
        self._held.add(uri)
        self._tell_missed((uri,))

    async def _release(self, uri: str) -> None:
        self._held.discard(uri)
        try:
            await self._session.request(self._session.asked(UNSUBSCRIBE, uri), {"uri": uri}, self._patience)
        except McpError as error:
            self._log(f"ignored: {error.message}")

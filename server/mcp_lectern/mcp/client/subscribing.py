"""Subscriptions of the handshake era: a call for each URI; must not know who wants them.

Specification 2025-11-25, server/resources (subscriptions).
"""

from __future__ import annotations

from typing import Final

import anyio

from mcp_lectern.mcp.errors import McpError
from mcp_lectern.mcp.transport.delays import growing
from mcp_lectern.mcp.wire.jsonrpc import METHOD_NOT_FOUND

from .subscriptions import Subscriptions

SUBSCRIBE: Final = "resources/subscribe"
UNSUBSCRIBE: Final = "resources/unsubscribe"
TRIES: Final = 8
"""About a minute in all: so long may a server be busy or be replaced."""


class Subscribing(Subscriptions):
    """A server that lacks the method is asked once; one that refuses a URI, once for that URI.

    What passes by itself (a server that is busy, or slow) is tried again, ever later and a few times.
    """

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
        failures = 0
        try:
            while (uri in self._wanted) != (uri in self._held) and not self._session.ended:
                if uri not in self._wanted:
                    await self._release(uri)
                elif not await self._hold(uri, last=failures + 1 >= TRIES):
                    await anyio.sleep(growing(failures))
                    failures += 1
                self._observer.subscriptions_changed()
        finally:
            self._under_way.discard(uri)

    async def _hold(self, uri: str, *, last: bool) -> bool:
        """Ask once; False where asking again makes sense, and this was not the last time."""
        if self._missing:
            self._refused.add(uri)
            return True
        try:
            await self._session.request(self._session.asked(SUBSCRIBE, uri), {"uri": uri}, self._patience)
        except McpError as error:
            if self._session.ended:
                return True
            if error.retryable and not last:
                # Nobody hears of a change until it has worked.
                self._behind.add(uri)
                return False
            self._missing = self._missing or error.code == METHOD_NOT_FOUND
            self._refused.add(uri)
            self._log(f"not subscribed: {error.message}")
            return True
        self._held.add(uri)
        self._tell_missed((uri,))
        return True

    async def _release(self, uri: str) -> None:
        self._held.discard(uri)
        try:
            await self._session.request(self._session.asked(UNSUBSCRIBE, uri), {"uri": uri}, self._patience)
        except McpError as error:
            self._log(f"ignored: {error.message}")

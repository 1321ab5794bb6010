"""Reads of resources: one flight per server and URI, and the one place that keeps what they returned.

It must not decide who may read what, nor start servers: it is given a way to read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import anyio
from anyio.abc import TaskGroup

from mcp_lectern.mcp.client.cache import Cache, CacheKey
from mcp_lectern.mcp.errors import McpError
from mcp_lectern.mcp.wire.resources import BlobItem, ReadResult, TextItem

KEPT_BYTES = 64 * 1024 * 1024
"""What is kept of reads that no open document holds, in bytes."""
MOMENT = 30.0
"""Seconds between a command's read and the editor's opening of what was read."""
READ = "resources/read"

Key = tuple[str, str]
"""A server's name and a URI, byte for byte."""
Fetch = Callable[[str, str, bool], Awaitable[ReadResult]]
"""A read of a URI of a server; whether a person caused it, so that they may be asked something."""


@dataclass(eq=False)
class _Flight:
    asked: bool
    done: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    waiting: int = 0
    result: ReadResult | None = None
    error: Exception | None = None


class Contents:
    """``read`` joins a flight that is under way; a flight that nobody waits for any more is cancelled.

    ``context`` names the authorization under which a server is spoken to: what came under another is
    not seen.
    """

    def __init__(self, fetch: Fetch, context: Callable[[str], str] = lambda _server: "") -> None:
        self._fetch = fetch
        self._context = context
        self._flights: dict[Key, _Flight] = {}
        self._cache: Cache[ReadResult] = Cache(KEPT_BYTES, _size, self._is_pinned)
        self._pinned: dict[Key, int] = {}

    async def read(self, tasks: TaskGroup, server: str, uri: str, *, asked: bool = False) -> ReadResult:
        """A new result. Raises what ``fetch`` raises.

        A flight that nobody may be asked anything on is not joined by a person's own read.
        """
        key = (server, uri)
        flight = self._flights.get(key)
        if flight is None or flight.scope.cancel_called or (asked and not flight.asked):
            flight = self._flights[key] = _Flight(asked)
            tasks.start_soon(self._fly, key, flight)
        flight.waiting += 1
        try:
            await flight.done.wait()
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.done.is_set():
                flight.scope.cancel()
        if flight.error is not None:
            raise flight.error
        if flight.result is None:
            raise anyio.get_cancelled_exc_class()
        return flight.result

    async def _fly(self, key: Key, flight: _Flight) -> None:
        try:
            with flight.scope:
                flight.result = await self._fetch(*key, flight.asked)
                self._landed(key, flight, flight.result)
        except Exception as error:  # noqa: BLE001 - handed to every waiter, who raises it
            flight.error = error
        finally:
            if self._flights.get(key) is flight:
                del self._flights[key]
            flight.done.set()

    def _landed(self, key: Key, flight: _Flight, result: ReadResult) -> None:
        """Keep what came; what a notice overtook only where there is nothing better, and never as fresh."""
        if self._flights.get(key) is flight:
            self.keep(key, result)
        elif self.kept(*key) is None:
            self.keep(key, replace(result, ttl_ms=0))

    def under_way(self, server: str, uri: str) -> bool:
        """Whether a read is, that another one could join."""
        flight = self._flights.get((server, uri))
        return flight is not None and not flight.scope.cancel_called

    def kept(self, server: str, uri: str) -> ReadResult | None:
        """What the last read returned, if it is still at hand: what an open document shows."""
        return self._cache.at_hand(self._key(server, uri))

    def fresh(self, server: str, uri: str) -> ReadResult | None:
        """The same, while its server says that a new read would return no other."""
        return self._cache.fresh(self._key(server, uri))

    def stale(self, error: McpError, server: str, uri: str) -> ReadResult | None:
        """An earlier result that its server allowed to be kept, where the failure says nothing about it."""
        kept = self.kept(server, uri) if error.retryable else None
        if kept is None or kept.answered or not kept.ttl_ms:
            return None
        return replace(kept, stale=f"This is what an earlier read returned. {error.message}")

    def to_show(self, server: str, uri: str) -> ReadResult | None:
        """What a document shows without a read: what an open one does, or what was read a moment ago."""
        if (server, uri) in self._pinned:
            return self.kept(server, uri)
        return self._cache.recent(self._key(server, uri), MOMENT) or self.fresh(server, uri)

    def keep(self, key: Key, result: ReadResult) -> None:
        """Remember a result. One that a person's answers went into is never fresh."""
        ttl_ms = 0 if result.answered else result.ttl_ms
        public = result.cache_scope == "public" and not result.answered
        self._cache.keep(self._key(*key), result, ttl_ms=ttl_ms, public=public)

    def changed(self, server: str, concerned: Callable[[str], bool]) -> list[str]:
        """The server says that these URIs have changed: what is under way is late, and what is kept is old.

        Returns those that an open document shows; what nobody shows is forgotten.
        """
        for key in [key for key in self._flights if key[0] == server and concerned(key[1])]:
            del self._flights[key]
        shown = [uri for uri in self.pinned(server) if concerned(uri)]
        self._cache.expire(lambda key: key.server == server and key.parameters in shown)
        self._cache.drop(
            lambda key: key.server == server and key.parameters not in shown and concerned(key.parameters)
        )
        return shown

    def forget(self, server: str, uri: str | None = None) -> None:
        """The next look at this resource (or at any of this server's) reads it again."""
        self._cache.drop(lambda key: key.server == server and uri in (None, key.parameters))

    def pin(self, server: str, uri: str) -> None:
        """A document shows this resource."""
        self._pinned[server, uri] = self._pinned.get((server, uri), 0) + 1

    def unpin(self, server: str, uri: str) -> None:
        """A document that showed this resource is closed: the next one shows it as it is then."""
        count = self._pinned.pop((server, uri), 0) - 1
        if count > 0:
            self._pinned[server, uri] = count
            return
        if self.fresh(server, uri) is None:
            self.forget(server, uri)

    def pinned(self, server: str) -> tuple[str, ...]:
        """The URIs of this server that open documents show."""
        return tuple(uri for name, uri in self._pinned if name == server)

    def shows(self, server: str, uri: str) -> bool:
        """Whether an open document shows what a read of this resource returned."""
        return (server, uri) in self._pinned and self.kept(server, uri) is not None

    def _key(self, server: str, uri: str) -> CacheKey:
        return CacheKey(server, READ, uri, self._context(server))

    def _is_pinned(self, key: CacheKey) -> bool:
        return (key.server, key.parameters) in self._pinned


def _size(result: ReadResult) -> int:
    sizes = (
        len(item.text) if isinstance(item, TextItem) else len(item.data)
        for item in result.items
        if isinstance(item, (TextItem, BlobItem))
    )
    return sum(sizes)

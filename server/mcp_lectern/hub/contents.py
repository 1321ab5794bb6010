"""Reads of resources: one flight per server and URI, and what the last read of each returned.

It must not decide who may read what, nor start servers: it is given a way to read.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from mcp_lectern.mcp.wire.resources import BlobItem, ReadResult, TextItem

KEPT_BYTES = 64 * 1024 * 1024
"""What is kept of reads that no open document holds, in bytes."""

Key = tuple[str, str]
"""A server's name and a URI, byte for byte."""


@dataclass(eq=False)
class _Flight:
    done: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    waiting: int = 0
    result: ReadResult | None = None
    error: Exception | None = None


class Contents:
    """``read`` joins a flight that is under way; a flight that nobody waits for any more is cancelled."""

    def __init__(self, fetch: Callable[[str, str], Awaitable[ReadResult]]) -> None:
        self._fetch = fetch
        self._flights: dict[Key, _Flight] = {}
        self._kept: OrderedDict[Key, ReadResult] = OrderedDict()
        self._pinned: dict[Key, int] = {}

    async def read(self, tasks: TaskGroup, server: str, uri: str) -> ReadResult:
        """A fresh result. Raises what ``fetch`` raises."""
        key = (server, uri)
        flight = self._flights.get(key)
        if flight is None or flight.scope.cancel_called:
            flight = self._flights[key] = _Flight()
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
                flight.result = await self._fetch(*key)
                self.keep(key, flight.result)
        except Exception as error:  # noqa: BLE001 - handed to every waiter, who raises it
            flight.error = error
        finally:
            if self._flights.get(key) is flight:
                del self._flights[key]
            flight.done.set()

    def kept(self, server: str, uri: str) -> ReadResult | None:
        """What the last read returned, if it is still at hand."""
        result = self._kept.get((server, uri))
        if result is not None:
            self._kept.move_to_end((server, uri))
        return result

    def keep(self, key: Key, result: ReadResult) -> None:
        """Remember a result; the least recently used ones that no document pins give way."""
        self._kept[key] = result
        self._kept.move_to_end(key)
        total = sum(_size(kept) for kept in self._kept.values())
        for old in list(self._kept):
            if total <= KEPT_BYTES:
                break
            if old != key and old not in self._pinned:
                total -= _size(self._kept.pop(old))

    def forget(self, server: str, uri: str | None = None, *, but: Collection[str] = ()) -> None:
        """The next look at this resource (or at any of this server's, but these) reads it again."""
        for key in [key for key in self._kept if key[0] == server and uri in (None, key[1])]:
            if key[1] not in but:
                del self._kept[key]

    def pin(self, server: str, uri: str) -> None:
        """A document shows this resource."""
        self._pinned[server, uri] = self._pinned.get((server, uri), 0) + 1

    def unpin(self, server: str, uri: str) -> None:
        """A document that showed this resource is closed."""
        count = self._pinned.pop((server, uri), 0) - 1
        if count > 0:
            self._pinned[server, uri] = count

    def pinned(self, server: str) -> tuple[str, ...]:
        """The URIs of this server that open documents show."""
        return tuple(uri for name, uri in self._pinned if name == server)


def _size(result: ReadResult) -> int:
    sizes = (
        len(item.text) if isinstance(item, TextItem) else len(item.data)
        for item in result.items
        if isinstance(item, (TextItem, BlobItem))
    )
    return sum(sizes)

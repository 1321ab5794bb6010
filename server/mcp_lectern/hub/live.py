"""Open documents stay true: subscribed to, and read again when they change; must not know editors.

A document is subscribed to shortly after it was opened, so that a preview is not, and only if a read of it
was made. Notices that keep coming lead to at most about one read a second, and the last state always wins.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

import anyio
from anyio.abc import TaskGroup

from mcp_lectern.hub.failure import Refused

if TYPE_CHECKING:
    from mcp_lectern.hub.contents import Contents, Key

SETTLE = 1.0
"""Seconds after which an opened document is subscribed to, and a closed one no longer."""
PACE = 1.0
"""Seconds between the starts of two reads of one resource that notices cause."""
CONTINUATIONS = ("/", "?", "#")


class Subscriber(Protocol):
    """Whoever keeps a server's subscriptions, across its restarts."""

    def watch(self, uri: str) -> None: ...  # noqa: D102
    def unwatch(self, uri: str) -> None: ...  # noqa: D102


class Live:
    """``read`` makes a new read, ``changed`` is told when an open document shows something else now."""

    def __init__(
        self,
        contents: Contents,
        subscriber: Callable[[str], Subscriber | None],
        read: Callable[[str, str], Awaitable[object]],
        changed: Callable[[str, str], None],
    ) -> None:
        self._contents = contents
        self._subscriber = subscriber
        self._read = read
        self._changed = changed
        self._watched: set[Key] = set()
        self._settling: set[Key] = set()
        self._dirty: set[Key] = set()
        self._following: set[Key] = set()
        self._overtaken: set[Key] = set()

    def opened(self, tasks: TaskGroup, server: str, uri: str) -> None:
        """An editor has opened a document of this resource."""
        self._contents.pin(server, uri)
        self._settle_soon(tasks, (server, uri))

    def closed(self, tasks: TaskGroup, server: str, uri: str) -> None:
        """An editor has closed one."""
        self._contents.unpin(server, uri)
        self._overtaken.discard((server, uri))
        self._settle_soon(tasks, (server, uri))

    def read_made(self, tasks: TaskGroup, server: str, uri: str) -> None:
        """A resource was read that may stand in a document without content so far."""
        key = (server, uri)
        if self._contents.shows(server, uri) and key not in self._watched:
            self._settle_soon(tasks, key)
        if key in self._overtaken:
            self._overtaken.discard(key)
            self._read_soon(tasks, key)

    def updated(self, tasks: TaskGroup, server: str, uri: str | None) -> None:
        """The server says that this resource (None: any of its) has changed."""
        for each in self._contents.changed(server, lambda known: uri is None or is_concerned(known, uri)):
            self._read_soon(tasks, (server, each))

    def dropped(self, server: str) -> None:
        """The server is not configured any more, or is another one now: nothing of it is watched."""
        self._watched = {key for key in self._watched if key[0] != server}

    def _read_soon(self, tasks: TaskGroup, key: Key) -> None:
        self._dirty.add(key)
        if key not in self._following:
            self._following.add(key)
            tasks.start_soon(self._follow, key)

    def _settle_soon(self, tasks: TaskGroup, key: Key) -> None:
        if key not in self._settling:
            self._settling.add(key)
            tasks.start_soon(self._settle, key)

    async def _settle(self, key: Key) -> None:
        await anyio.sleep(SETTLE)
        self._settling.discard(key)
        subscriber = self._subscriber(key[0])
        wanted = self._contents.shows(*key)
        if subscriber is None or wanted == (key in self._watched):
            return
        if wanted:
            self._watched.add(key)
            subscriber.watch(key[1])
        else:
            self._watched.discard(key)
            subscriber.unwatch(key[1])

    async def _follow(self, key: Key) -> None:
        try:
            while key in self._dirty:
                self._dirty.discard(key)
                began = time.monotonic()
                await self._read_again(key)
                await anyio.sleep(max(0.0, began + PACE - time.monotonic()))
        finally:
            self._following.discard(key)

    async def _read_again(self, key: Key) -> None:
        """A read that fails keeps the old text: whoever read has noted the failure."""
        before = self._contents.kept(*key)
        if before is None:
            # Its first read is under way, and was overtaken: what it returns is not the last state.
            self._overtaken.add(key)
            return
        if not self._contents.shows(*key):
            return
        try:
            await self._read(*key)
        except Refused:
            return
        after = self._contents.kept(*key)
        if after is not None and after.items != before.items:
            self._changed(*key)


def is_concerned(known: str, updated: str) -> bool:
    """Whether a notice about one URI concerns another: the same, or one that it continues."""
    return updated == known or (
        updated.startswith(known) and updated[len(known) : len(known) + 1] in CONTINUATIONS
    )

"""Subscriptions of the stateless era: one stream for list changes and all URIs; must not know who wants them.

Other wishes need another stream: the new one is opened and acknowledged before the old one is closed, so that
no notice falls between. Specification 2026-07-28, basic/patterns/subscriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from mcp_lectern.mcp.errors import McpError
from mcp_lectern.mcp.session import Pending
from mcp_lectern.mcp.wire.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, Answer, Notification, Refusal
from mcp_lectern.mcp.wire.lifecycle import META

from .subscriptions import Subscriptions
from .waiting import first_of

Json = Any

LISTEN: Final = "subscriptions/listen"
UNHEARD: Final = (
    "It says that it tells of changes, and has no subscriptions/listen: open documents and lists are "
    "refreshed on demand."
)
FIRST_DELAY: Final = 1.0
LONGEST_DELAY: Final = 60.0
STEADY: Final = 60.0
"""Seconds that a stream must last for earlier failures to be forgotten."""
GATHER: Final = 0.05
"""Seconds in which wishes are collected before a stream is replaced."""


@dataclass(eq=False)
class _Stream:
    """``lists`` and ``uris`` were asked for; what of it is granted, the acknowledgement says."""

    pending: Pending
    lists: bool
    uris: frozenset[str]
    opened: float
    acknowledged: anyio.Event = field(default_factory=anyio.Event)
    granted_lists: bool = False
    granted: frozenset[str] = frozenset()

    def acknowledge(self, filter_: Json) -> None:
        """Note what of the filter the server honours."""
        given: Mapping[str, Json] = filter_ if isinstance(filter_, dict) else {}
        uris = given.get("resourceSubscriptions")
        self.granted_lists = self.lists and given.get("resourcesListChanged") is True
        self.granted = (
            self.uris.intersection(uri for uri in uris if isinstance(uri, str))
            if isinstance(uris, list)
            else frozenset()
        )
        self.acknowledged.set()


class Listening(Subscriptions):
    """``handlers`` holds what it wants to hear of, by method."""

    _current: _Stream | None = None
    _fresh: _Stream | None = None
    _lists_refused = False
    _given_up = False
    _lists_behind = False
    _retry = False
    _delay = FIRST_DELAY
    _once_granted: frozenset[str] = frozenset()
    _one_by_one = False

    @property
    def granted(self) -> frozenset[str]:
        """The URIs that the open stream's acknowledgement names."""
        return self._current.granted if self._current else frozenset()

    @property
    def handlers(self) -> dict[str, Callable[[Notification], None]]:
        """The notifications about streams themselves."""
        return {
            "notifications/subscriptions/acknowledged": self._acknowledged,
            "notifications/cancelled": self._cancelled,
        }

    def start(self) -> None:
        """Open the first stream where list changes are declared."""
        self._open_if_needed()

    def renew(self) -> None:
        """Streams end by themselves when a server forgets: nothing to do."""

    async def run(self) -> None:
        """Open, replace and reopen the stream, as wishes and the server demand."""
        while not self._session.ended:
            if self._fresh is None:
                await self._wait()
                if self._stirred.is_set():
                    await anyio.sleep(GATHER)
                    self._stirred = anyio.Event()
                if self._current is not None and self._current.pending.done.is_set():
                    await self._closed(self._current)
                self._open_if_needed()
            if self._fresh is not None:
                await self._establish(self._fresh)

    async def _wait(self) -> None:
        if self._current is None and self._needed():
            return
        if self._retry:
            self._retry = False
        elif self._current is not None:
            await first_of(self._stirred, self._current.pending.done)
        else:
            await self._stirred.wait()

    # What is needed, and opening it.

    def _needed(self) -> bool:
        """Whether another stream than the current one is."""
        if self._given_up:
            return False
        has = (self._current.granted_lists, self._current.granted) if self._current else (False, frozenset())
        return has != (self._wants_lists, self._wanted)

    @property
    def _wanted(self) -> frozenset[str]:
        """All; after a refusal of several new URIs one more each time, to find out which it is about."""
        wanted = super()._wanted
        if not self._one_by_one:
            return wanted
        known = wanted & self._once_granted
        return known.union(sorted(wanted - known)[:1])

    @property
    def _wants_lists(self) -> bool:
        return self._list_changes and not self._lists_refused

    def _open_if_needed(self) -> None:
        if not self._needed():
            return
        lists, uris = self._wants_lists, self._wanted
        params = self._session.era.listen_params(list_changes=lists, uris=sorted(uris))
        if params is None:
            self._drop()
            return
        pending = self._session.begin(self._session.asked(LISTEN), params, progress=False, again=False)
        self._fresh = _Stream(pending, lists, uris, anyio.current_time())

    def _drop(self) -> None:
        """Nobody wants anything: close what is open."""
        if self._current is not None:
            self._session.abandon(self._current.pending, "nothing is wanted any more")
            self._current = None
            self._observer.subscriptions_changed()

    # What comes of it.

    async def _establish(self, fresh: _Stream) -> None:
        """Wait for the acknowledgement, which comes soon or never."""
        with anyio.move_on_after(self._patience.request):
            await first_of(fresh.acknowledged, fresh.pending.done)
        self._fresh = None
        if fresh.acknowledged.is_set():
            self._adopt(fresh)
            return
        outcome = fresh.pending.outcome
        self._session.abandon(fresh.pending, "it was not acknowledged")
        if await self._session.in_doubt(fresh.pending) or self._session.ended:
            return
        if isinstance(outcome, Refusal):
            await self._refused_by(fresh, outcome)
        else:
            why = f": {outcome.message[:200]}" if isinstance(outcome, McpError) else ""
            await self._try_later(f"the server does not acknowledge the change stream{why}")

    def _adopt(self, fresh: _Stream) -> None:
        old, self._current = self._current, fresh
        if old is not None and old.pending.done.is_set():
            # It closed while its successor was waited for: what was told in between was told to nobody.
            self._is_over(old)
        elif old is not None:
            self._session.abandon(old.pending, "another one has taken its place")
        self._once_granted |= fresh.granted
        self._refused |= fresh.uris - fresh.granted
        if fresh.uris - fresh.granted:
            self._log(f"the server grants no subscription to {', '.join(sorted(fresh.uris - fresh.granted))}")
        if fresh.lists and not fresh.granted_lists:
            self._lists_refused = True
            self._log("the server grants no notices of list changes")
        if not fresh.granted and not fresh.granted_lists:
            self._session.abandon(fresh.pending, "nothing was granted")
            self._current = None
        if self._lists_behind and fresh.granted_lists:
            self._lists_behind = False
            self._observer.resources_changed()
        self._tell_missed(fresh.granted)
        self._observer.subscriptions_changed()
        if self._one_by_one:
            self._one_by_one = not super()._wanted <= self._once_granted
            self._stirred.set()

    async def _refused_by(self, fresh: _Stream, refusal: Refusal) -> None:
        """Where the method exists, a refusal is about URIs that were never granted, or it passes."""
        self._log(f"the server refuses subscriptions/listen: {refusal.message[:200]}")
        if refusal.code == METHOD_NOT_FOUND:
            self._given_up = True
            self.trouble = UNHEARD
            self._observer.subscriptions_changed()
            return
        new = fresh.uris - self._once_granted
        if new and refusal.code != INTERNAL_ERROR:
            # The others can do nothing for it.
            self._one_by_one = self._one_by_one or len(new) > 1
            self._refused |= new if len(new) == 1 else frozenset()
            self._stirred.set()
        else:
            await self._try_later("the change stream is refused")

    async def _try_later(self, why: str) -> None:
        self._retry = True
        await self._back_off(why)

    async def _closed(self, stream: _Stream) -> None:
        """A result, a cancellation and an end of the stream mean the same: it is over too early."""
        self._current = None
        self._is_over(stream)
        self._observer.subscriptions_changed()
        if self._session.ended:
            return
        if anyio.current_time() - stream.opened > STEADY:
            self._delay = FIRST_DELAY
        await self._back_off("the change stream closed")

    def _is_over(self, stream: _Stream) -> None:
        """From its end on, changes are not heard."""
        self._session.forget(stream.pending)
        self._lists_behind = True
        self._behind |= stream.granted

    async def _back_off(self, why: str) -> None:
        self._log(f"{why}; it is opened again in {self._delay:g} s")
        await anyio.sleep(self._delay)
        self._delay = min(self._delay * 2, LONGEST_DELAY)

    # What is heard.

    def _acknowledged(self, notification: Notification) -> None:
        meta = notification.params.get("_meta")
        identity = meta.get(META + "subscriptionId") if isinstance(meta, dict) else None
        # Only one stream at a time waits for its acknowledgement: where none is named, it is that one.
        stream = self._fresh if identity is None else self._stream(identity)
        if stream is None:
            self._log("skipped an acknowledgement of a subscription that is not open")
        else:
            stream.acknowledge(notification.params.get("notifications"))

    def _cancelled(self, notification: Notification) -> None:
        stream = self._stream(notification.params.get("requestId"))
        if stream is not None:
            stream.pending.settle(Answer(stream.pending.id, None))

    def _stream(self, identity: Json) -> _Stream | None:
        streams = [stream for stream in (self._fresh, self._current) if stream is not None]
        return next(
            (stream for stream in streams if identity in (stream.pending.id, str(stream.pending.id))), None
        )

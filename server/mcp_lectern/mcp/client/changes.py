"""Tells an observer what changes on the server, in either era; must not fetch anything itself.

Specification 2026-07-28, basic/patterns/subscriptions; 2025-11-25, server/resources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

import anyio

from mcp_lectern.mcp.errors import McpError
from mcp_lectern.mcp.session import Outcome, Patience, Pending, Session
from mcp_lectern.mcp.wire.jsonrpc import Answer, Notification, Refusal
from mcp_lectern.mcp.wire.lifecycle import META, Capabilities

Json = Any

OF_NO_CONCERN: Final = ("notifications/tools/list_changed", "notifications/prompts/list_changed")
LISTEN: Final = "subscriptions/listen"
FIRST_DELAY: Final = 0.5
LONGEST_DELAY: Final = 60.0
FOREVER: Final = Patience(float("inf"), float("inf"))


class Observer(Protocol):
    """Called on the event loop, in the order of events; must not block."""

    def log(self, line: str) -> None:
        """A line of the server's stderr, or a protocol event."""

    def resources_changed(self) -> None:
        """The list of resources or templates is no longer what it was."""

    def resource_updated(self, uri: str | None) -> None:
        """A resource, or something below it, has changed; None if the server does not say which."""


class Changes:
    """Hears notifications, and keeps the stateless era's listen stream open."""

    def __init__(self, observer: Observer, log: Callable[[str], None]) -> None:
        self._observer = observer
        self._log = log
        self._listen: Pending | None = None
        self._refused = False
        self._missed = False

    def heard(self, notification: Notification) -> None:
        """Take one notification of the server."""
        method, params = notification.method, notification.params
        if method == "notifications/resources/list_changed":
            self._observer.resources_changed()
        elif method == "notifications/resources/updated":
            uri = params.get("uri")
            self._observer.resource_updated(uri if isinstance(uri, str) else None)
        elif method == "notifications/subscriptions/acknowledged":
            self._acknowledged(params)
        elif method == "notifications/cancelled":
            self._closed(params.get("requestId"))
        elif method == "notifications/message":
            self._log(f"the server says: {str(params.get('data'))[:500]}")
        elif method not in OF_NO_CONCERN:
            self._log(f"skipped {method[:100]}")

    def listen(self, session: Session, capabilities: Capabilities) -> None:
        """Open a listen stream where the era needs one; to be called before anything is listed."""
        params = session.era.change_stream(capabilities)
        if params is not None:
            self._listen = session.begin(session.asked(LISTEN), params, progress=False, again=False)

    async def follow(self, session: Session, capabilities: Capabilities) -> None:
        """Keep the stream open; returns when there is none to be had."""
        delay = FIRST_DELAY
        while self._listen is not None:
            began = anyio.current_time()
            outcome = await session.outcome(self._listen, FOREVER)
            if self._refused:
                session.cancel(self._listen, "nothing was granted")
            if self._given_up(outcome) or session.ended:
                return
            self._missed = True
            lasted = anyio.current_time() - began > LONGEST_DELAY
            delay = FIRST_DELAY if lasted else min(delay * 2, LONGEST_DELAY)
            self._log(f"the change stream closed; it is opened again in {delay:g} s")
            await anyio.sleep(delay)
            self.listen(session, capabilities)

    def _given_up(self, outcome: Outcome) -> bool:
        if isinstance(outcome, Refusal):
            self._log(f"the server refuses subscriptions/listen: {outcome.message[:200]}")
        elif isinstance(outcome, McpError):
            self._log(f"the change stream failed: {outcome.message}")
            return not outcome.retryable
        return self._refused or isinstance(outcome, Refusal)

    def _acknowledged(self, params: Mapping[str, Json]) -> None:
        meta = params.get("_meta")
        if not self._is_ours(meta.get(META + "subscriptionId") if isinstance(meta, dict) else None):
            self._log("skipped an acknowledgement of a subscription that is not open")
            return
        granted = params.get("notifications")
        if not isinstance(granted, dict) or granted.get("resourcesListChanged") is not True:
            self._refused = True
            self._log("the server grants no notices of list changes")
            self._close()
        elif self._missed:
            self._missed = False
            self._observer.resources_changed()

    def _closed(self, identity: Json) -> None:
        if self._is_ours(identity):
            self._close()

    def _close(self) -> None:
        if self._listen is not None:
            self._listen.settle(Answer(self._listen.id, None))

    def _is_ours(self, identity: Json) -> bool:
        return self._listen is not None and identity in (self._listen.id, str(self._listen.id))

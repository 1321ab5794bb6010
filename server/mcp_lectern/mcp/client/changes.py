"""Tells what a server's notifications mean, in either era; must not send or fetch anything itself.

Specification 2026-07-28, basic/patterns/subscriptions and server/utilities/logging; 2025-11-25,
server/resources.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from mcp_lectern.mcp.wire.jsonrpc import Notification

from .observer import Observer

Json = Any

OF_NO_CONCERN: Final = ("notifications/tools/list_changed", "notifications/prompts/list_changed")
SHOWN: Final = 500
"""Characters of a server's own message that its log keeps."""


class Changes:
    """Hears notifications. ``handlers`` take, by method, those that concern what is under way."""

    def __init__(self, observer: Observer, log: Callable[[str], None]) -> None:
        self._observer = observer
        self._log = log
        self.handlers: dict[str, Callable[[Notification], None]] = {}
        self.on_renewed: Callable[[], None] = lambda: None

    def renewed(self) -> None:
        """The server has begun a new session: what changed in between cannot be known."""
        self._observer.resources_changed()
        self.on_renewed()

    def heard(self, notification: Notification) -> None:
        """Take one notification of the server."""
        method, params = notification.method, notification.params
        if method == "notifications/resources/list_changed":
            self._observer.resources_changed()
        elif method == "notifications/resources/updated":
            uri = params.get("uri")
            self._observer.resource_updated(uri if isinstance(uri, str) else None)
        elif method in self.handlers:
            self.handlers[method](notification)
        elif method == "notifications/message":
            self._log(_said(params))
        elif method not in OF_NO_CONCERN:
            self._log(f"skipped {method[:100]}")


def _said(params: Any) -> str:
    """A log message of the server, as a line of its log: level, logger and data."""
    level, name, data = params.get("level"), params.get("logger"), params.get("data")
    words = data if isinstance(data, str) else json.dumps(data)
    about = ", ".join(part[:50] for part in (level, name) if isinstance(part, str) and part)
    return f"the server says{f' ({about})' if about else ''}: {words[:SHOWN]}"

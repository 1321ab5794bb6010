"""Who is told what happens on a connection; must not know what they do about it."""

from __future__ import annotations

from typing import Protocol


class Observer(Protocol):
    """Called on the event loop, in the order of events; must not block."""

    def log(self, line: str) -> None:
        """A line of the server's stderr, or a protocol event."""

    def resources_changed(self) -> None:
        """The list of resources or templates is no longer what it was."""

    def resource_updated(self, uri: str | None) -> None:
        """A resource, or something below it, has changed; None if the server does not say which."""

    def subscriptions_changed(self) -> None:
        """The server has granted a subscription, or one has ended."""

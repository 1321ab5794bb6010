"""What a hub tells whoever runs it; must not know who that is."""

from __future__ import annotations

from typing import Protocol


class HubObserver(Protocol):
    """Who is told that something changed; called on the event loop, must not block."""

    def catalogue_changed(self, server: str) -> None:
        """What it lists or what is readable of it."""

    def status_changed(self, server: str) -> None:
        """Its state, its last error or its counts."""

    def contents_changed(self, server: str, uri: str) -> None:
        """An open document of this resource shows something else now."""

    def log(self, server: str, line: str) -> None:
        """A line of the server's log."""

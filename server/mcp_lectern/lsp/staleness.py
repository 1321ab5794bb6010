"""Tells a person, once, that a document they look at is older than its resource; must not read anything.

A client that shows the status is told there (contract 6); for any other this is the only sign.
"""

from __future__ import annotations

from collections.abc import Callable

from mcp_lectern.lsp.session import SCHEME, Session


class Staleness:
    """``tell`` shows a sentence. A document is told of again only after a read of it went well."""

    def __init__(self, session: Session, tell: Callable[[str], None]) -> None:
        self._session = session
        self._tell = tell
        self._told: set[tuple[str, str]] = set()

    def look(self) -> None:
        """A read went well or failed, or a document was opened or closed."""
        hub = self._session.hub
        if hub is None or self._session.client.status:
            return
        from mcp_lectern.text.untrusted import single_line

        shown = set(self._shown().values())
        stale = {key: why for key in shown if (why := hub.unreadable.get(key)) is not None}
        for server, uri in stale.keys() - self._told:
            older = f"What is shown of {uri} (“{server}”) is older than the resource"
            self._tell(single_line(f"{older}: {stale[server, uri]}", 400))
        self._told = set(stale)

    def older(self) -> list[dict[str, str]]:
        """The open documents that are older than their resources, each with the reason."""
        hub = self._session.hub
        found = {} if hub is None else hub.unreadable
        return [
            {"document": document, "reason": found[key]}
            for document, key in self._shown().items()
            if key in found
        ]

    def _shown(self) -> dict[str, tuple[str, str]]:
        """The resources of open documents, by their addresses, as far as there is a text to be old."""
        from mcp_lectern.documents.address import parse

        hub = self._session.hub
        addresses = [uri for uri in self._session.documents if uri.startswith(SCHEME)]
        keys = {uri: (key.server, key.uri) for uri in addresses if (key := parse(uri)) is not None}
        return {uri: key for uri, key in keys.items() if hub is not None and hub.contents.shows(*key)}

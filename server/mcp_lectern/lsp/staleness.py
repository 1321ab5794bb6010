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

        stale = {key: why for key in self._shown() if (why := hub.unreadable.get(key)) is not None}
        for server, uri in stale.keys() - self._told:
            older = f"What is shown of {uri} (“{server}”) is older than the resource"
            self._tell(single_line(f"{older}: {stale[server, uri]}", 400))
        self._told = set(stale)

    def _shown(self) -> set[tuple[str, str]]:
        """The resources of open documents, as far as there is a text to be old."""
        from mcp_lectern.documents.address import parse

        hub = self._session.hub
        addresses = [uri for uri in self._session.documents if uri.startswith(SCHEME)]
        keys = {(key.server, key.uri) for uri in addresses if (key := parse(uri)) is not None}
        return {key for key in keys if hub is not None and hub.contents.shows(*key)}

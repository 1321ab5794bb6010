"""``didOpen``, ``didChange``, ``didClose``: the editor's documents become ours; must not know features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from mcp_lectern.lsp.converter import NO_VERSION
from mcp_lectern.lsp.session import SCHEME
from mcp_lectern.text.document import Change, Document

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern


class Synchronization:
    """A change to a document that is not open is ignored; versions are the client's own."""

    def __init__(self, lectern: Lectern) -> None:
        self._lectern = lectern

    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        """The text is the client's from now on."""
        item = params.text_document
        document = Document(item.uri, str(item.language_id), _version(item.version), item.text)
        self._lectern.session.open(document)
        self._hold(item.uri, held=True)
        self._lectern.publishing.schedule(item.uri)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply the edits in their order."""
        session = self._lectern.session
        document = session.documents.get(params.text_document.uri)
        if document is None:
            return
        changes = [_change(change) for change in params.content_changes]
        document.apply(changes, _version(params.text_document.version), session.encoding)
        session.edited(document)
        self._lectern.publishing.schedule(params.text_document.uri)

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget the text, and take its diagnostics away."""
        uri = params.text_document.uri
        if self._lectern.session.close(uri) is None:
            return
        self._hold(uri, held=False)
        self._lectern.publishing.closed(uri)

    def hold_all(self) -> None:
        """The hub has come up: documents that were open before are held from now on."""
        for uri in self._lectern.session.documents:
            self._hold(uri, held=True)

    def _hold(self, uri: str, *, held: bool) -> None:
        """A ``lectern:`` document that is open keeps what it shows, and hears of changes."""
        from mcp_lectern.documents.address import parse

        hub = self._lectern.session.hub
        key = parse(uri) if uri.startswith(SCHEME) else None
        if hub is None or key is None:
            return

        async def hold() -> None:
            (hub.opened if held else hub.closed)(key.server, key.uri)
            self._lectern.staleness.look()
            if self._lectern.staleness.older():
                self._lectern.tell_status()

        # The hub starts tasks, which takes a task: what a message arrives in is none.
        self._lectern.spawn(hold(), "holding a document")


def _version(version: int) -> int | None:
    return None if version == NO_VERSION else version


def _change(change: Any) -> Change:
    span = getattr(change, "range", None)
    if span is None:
        return None, change.text
    start, end = span.start, span.end
    return ((start.line, start.character), (end.line, end.character)), change.text

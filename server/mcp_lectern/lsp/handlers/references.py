"""``textDocument/references`` and ``documentHighlight``: mentions of the same resource; reads no resource."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.features.references import Named
    from mcp_lectern.lsp.server import Lectern
    from mcp_lectern.lsp.workspace.search import Search

_TITLE = "Looking for mentions"


def register(lectern: Lectern) -> None:
    """Offer references and highlights. One search through the files runs at a time."""
    alone = asyncio.Lock()

    @lectern.feature(types.TEXT_DOCUMENT_REFERENCES, types.ReferenceOptions(work_done_progress=True))
    async def references(params: types.ReferenceParams) -> list[dict[str, Any]]:
        await lectern.loaded(params.text_document.uri)
        wanted = named_at(lectern, params.text_document.uri, params.position)
        return [] if wanted is None else await Answer(lectern, params, wanted).complete(alone)

    @lectern.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlights(params: types.DocumentHighlightParams) -> list[dict[str, Any]]:
        from mcp_lectern.lsp.referring import in_document

        await lectern.loaded(params.text_document.uri)
        wanted = named_at(lectern, params.text_document.uri, params.position)
        if wanted is None:
            return []
        found = await in_document(lectern.session, params.text_document.uri, wanted)
        return [{"range": span, "kind": int(types.DocumentHighlightKind.Text)} for span in found]


def named_at(lectern: Lectern, uri: str, position: types.Position) -> Named | None:
    """The server and URI that the mention at a position names; None where mentions are not alive in full."""
    from mcp_lectern.features.references import named
    from mcp_lectern.lsp.from_proto import mention_at

    session = lectern.session
    found = mention_at(session, uri, position) if session.living(uri) is not None else None
    if found is None or session.hub is None:
        return None
    return named(session.resolutions(session.hub.catalogue), found[1])


class Answer:
    """The answer to one request; a client that takes partial results gets it in pieces."""

    def __init__(self, lectern: Lectern, params: types.ReferenceParams, wanted: Named) -> None:
        self._lectern = lectern
        self._uri = params.text_document.uri
        self._wanted = wanted
        self._partial = params.partial_result_token
        self._progress = params.work_done_token
        self._over = False
        self._found: list[dict[str, Any]] = []

    async def complete(self, alone: asyncio.Lock) -> list[dict[str, Any]]:
        """All locations, or those that were not handed over before."""
        from mcp_lectern.lsp.referring import in_document, in_files

        session = self._lectern.session
        self._tell(self._progress, kind="begin", title=_TITLE, cancellable=True)
        message = None
        try:
            others = [document.uri for document in session.all_living() if document.uri != self._uri]
            for uri in (self._uri, *others):
                self._add(uri, await in_document(session, uri, self._wanted))
            async with alone:
                message = await in_files(session, self._wanted, self._add, self._show)
        finally:
            self._over = True
            ending = {"kind": "end"} if message is None else {"kind": "end", "message": message}
            self._tell(self._progress, **ending)
        return self._found

    def _add(self, uri: str, ranges: list[dict[str, Any]]) -> None:
        locations = [{"uri": uri, "range": span} for span in ranges]
        if self._partial is None:
            self._found += locations
        elif locations and not self._over:
            params = {"token": self._partial, "value": locations}
            self._lectern.protocol.tell(types.PROGRESS, params)

    def _show(self, search: Search) -> None:
        if not self._over:
            self._tell(self._progress, kind="report", message=f"{search.read:,} files")

    def _tell(self, token: int | str | None, **value: Any) -> None:
        if token is not None:
            self._lectern.protocol.tell(types.PROGRESS, {"token": token, "value": value})

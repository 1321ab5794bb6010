"""``textDocument/diagnostic``: what is wrong with a document's mentions; pushing it is publishing's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.catalogue.model import Catalogue
    from mcp_lectern.lsp.server import Lectern
    from mcp_lectern.lsp.session import Session
    from mcp_lectern.mentions.model import Mention
    from mcp_lectern.text.document import Document

_SEVERITIES = {"error": 1, "warning": 2, "information": 3, "hint": 4}


def register(lectern: Lectern) -> None:
    """Answer clients that pull."""
    options = types.DiagnosticOptions(
        inter_file_dependencies=False, workspace_diagnostics=False, identifier="lectern"
    )

    @lectern.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)
    async def pulled(params: types.DocumentDiagnosticParams) -> dict[str, Any]:
        await lectern.loaded(params.text_document.uri)
        # Without an opinion there is nothing to show; the client is asked to pull again once there is one.
        found = await diagnostics_of(lectern.session, params.text_document.uri)
        return report(found or [], params.previous_result_id)


def report(found: Sequence[dict[str, Any]], previous: str | None) -> dict[str, Any]:
    """What a pull is answered: all of it, or that it is what the client has already (LSP 3.17).

    The id follows from the content alone, so that it stays true whatever was pulled in between.
    """
    content = json.dumps(found, sort_keys=True, separators=(",", ":")).encode()
    identity = hashlib.blake2b(content, digest_size=12).hexdigest()
    if identity == previous:
        return {"kind": "unchanged", "resultId": identity}
    return {"kind": "full", "resultId": identity, "items": list(found)}


async def diagnostics_of(session: Session, uri: str) -> list[dict[str, Any]] | None:
    """The document's diagnostics; None while the hub is not there to have an opinion."""
    from mcp_lectern.lsp.looking import looked_through

    chosen = session.settings.diagnostics
    if chosen is False:
        return []

    def look(
        document: Document, catalogue: Catalogue, mentions: list[Mention]
    ) -> Iterator[dict[str, Any] | None]:
        yield from _remarked(session, document, catalogue, mentions)

    return await looked_through(session, lambda: session.living(uri), look)


def _remarked(
    session: Session, document: Document, catalogue: Catalogue, mentions: list[Mention]
) -> Iterator[dict[str, Any] | None]:
    from mcp_lectern.features.diagnostics import remarks
    from mcp_lectern.lsp.to_proto.ranges import Ranges

    chosen = session.settings.diagnostics
    unreadable = session.hub.unreadable if session.hub else {}
    ranges = Ranges(document, session.encoding)
    for one in remarks(session.resolutions(catalogue), mentions, unreadable):
        if one is None:
            yield None
            continue
        yield {
            "range": ranges.of(one.start, one.end),
            "severity": _SEVERITIES[chosen if isinstance(chosen, str) else one.severity],
            "code": one.code,
            "source": "Lectern",
            "message": one.message,
            "data": one.data,
        }

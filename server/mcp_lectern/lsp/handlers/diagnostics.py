"""What is wrong with a document's mentions, as LSP diagnostics; when they are sent is publishing's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_lectern.lsp.session import Session

_SEVERITIES = {"error": 1, "warning": 2, "information": 3, "hint": 4}


def diagnostics_of(session: Session, uri: str) -> list[dict[str, Any]] | None:
    """The document's diagnostics; None while the hub is not there to have an opinion."""
    document, hub = session.living(uri), session.hub
    if document is None or hub is None:
        return None
    chosen = session.settings.diagnostics
    if chosen is False:
        return []
    from mcp_lectern.features.diagnostics import diagnostics
    from mcp_lectern.lsp.to_proto.ranges import range_of

    found = diagnostics(hub.catalogue, session.mentions(document, hub.catalogue), hub.unreadable)
    return [
        {
            "range": range_of(document, one.start, one.end, session.encoding),
            "severity": _SEVERITIES[chosen if isinstance(chosen, str) else one.severity],
            "code": one.code,
            "source": "Lectern",
            "message": one.message,
            "data": one.data,
        }
        for one in found
    ]

"""``textDocument/hover``: what is behind a mention, from what is known; must not cause any I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern


def register(lectern: Lectern) -> None:
    """Offer hovers."""

    @lectern.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> dict[str, Any] | None:
        await lectern.loaded(params.text_document.uri)
        return answer(lectern, params)


def answer(lectern: Lectern, params: types.HoverParams) -> dict[str, Any] | None:
    """The hover as plain JSON, or None where there is no mention."""
    from mcp_lectern.lsp.from_proto import mention_at
    from mcp_lectern.lsp.to_proto.markup import markup
    from mcp_lectern.lsp.to_proto.ranges import range_of

    session = lectern.session
    found = mention_at(session, params.text_document.uri, params.position)
    if found is None or session.hub is None:
        return None
    from mcp_lectern.features.hover import hover
    from mcp_lectern.hub.status import troubles

    document, mention = found
    hub = session.hub
    text = hover(hub.catalogue, mention, hub.preview, hub.states_shown(), troubles(hub.status()))
    if text is None:
        return None
    return {
        "contents": markup(text, markdown=session.client.markdown_hover),
        "range": range_of(document, mention.start, mention.end, session.encoding),
    }

"""``textDocument/definition``: the document behind a mention; an editor without virtual ones gets a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern


def register(lectern: Lectern) -> None:
    """Offer definitions."""

    @lectern.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> dict[str, Any] | None:
        from mcp_lectern.lsp.guard import guarded

        location: dict[str, Any] | None = await guarded(answer(lectern, params))
        return location


async def answer(lectern: Lectern, params: types.DefinitionParams) -> dict[str, Any] | None:
    """A location, or None where there is no mention, or nothing that may be read by following it."""
    from mcp_lectern.features.definition import target
    from mcp_lectern.lsp import opening, virtual
    from mcp_lectern.lsp.from_proto import mention_at
    from mcp_lectern.lsp.to_proto.ranges import NOWHERE

    session, uri = lectern.session, params.text_document.uri
    if uri not in session.documents:
        return None
    # A person asked, perhaps as their editor's first act: "no definition" would be wrong by a second.
    hub = await lectern.hub()
    found = mention_at(session, uri, params.position)
    aim = target(hub.catalogue, found[1]) if found else None
    if aim is None:
        return None
    if session.client.virtual_documents:
        return {"uri": virtual.given(session, aim.server, aim.uri), "range": NOWHERE}
    if not virtual.may_read(session, aim.server, aim.uri):
        return None
    path = await opening.as_file(lectern, aim.server, aim.uri)
    return {"uri": path.as_uri(), "range": NOWHERE}

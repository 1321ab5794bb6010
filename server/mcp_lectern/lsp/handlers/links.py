"""``textDocument/documentLink``: mentions lead to virtual documents, where the client can show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern


def register(lectern: Lectern) -> None:
    """Offer links; the address is computed when a link is followed."""

    @lectern.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK, types.DocumentLinkOptions(resolve_provider=True))
    def links(params: types.DocumentLinkParams) -> list[dict[str, Any]]:
        return links_of(lectern, params.text_document.uri)

    @lectern.feature(types.DOCUMENT_LINK_RESOLVE)
    def resolve(link: types.DocumentLink) -> dict[str, Any]:
        return resolved(lectern, lectern.plain(link))


def links_of(lectern: Lectern, uri: str) -> list[dict[str, Any]]:
    """One link for each mention that leads somewhere; nothing is read."""
    session = lectern.session
    document = session.readable(uri)
    if document is None or session.hub is None or not session.client.virtual_documents:
        return []
    from mcp_lectern.features.links import links
    from mcp_lectern.lsp.to_proto.ranges import range_of

    catalogue = session.hub.catalogue
    return [
        {
            "range": range_of(document, link.start, link.end, session.encoding),
            "data": {"server": link.server, "uri": link.uri},
        }
        for link in links(catalogue, session.mentions(document, catalogue))
    ]


def resolved(lectern: Lectern, link: dict[str, Any]) -> dict[str, Any]:
    """The link with its ``lectern:`` address."""
    from mcp_lectern.lsp.virtual import address_of

    data = link.get("data")
    if isinstance(data, dict) and isinstance(data.get("server"), str) and isinstance(data.get("uri"), str):
        link["target"] = address_of(lectern.session, data["server"], data["uri"])
    return link

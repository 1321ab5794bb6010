"""``textDocument/documentLink``: mentions lead to virtual documents, where the client can show them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.catalogue.model import Catalogue
    from mcp_lectern.lsp.server import Lectern
    from mcp_lectern.mentions.model import Mention
    from mcp_lectern.text.document import Document


def register(lectern: Lectern) -> None:
    """Offer links; what a tooltip says is found when a link is looked at."""

    @lectern.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK, types.DocumentLinkOptions(resolve_provider=True))
    async def links(params: types.DocumentLinkParams) -> list[dict[str, Any]]:
        return await links_of(lectern, params.text_document.uri)

    @lectern.feature(types.DOCUMENT_LINK_RESOLVE)
    def resolve(link: types.DocumentLink) -> dict[str, Any]:
        return resolved(lectern, lectern.plain(link))


async def links_of(lectern: Lectern, uri: str) -> list[dict[str, Any]]:
    """One link for each mention that leads somewhere; nothing is read."""
    session = lectern.session
    if not session.client.virtual_documents or not await lectern.loaded(uri):
        return []
    from mcp_lectern.lsp.looking import looked_through

    def look(
        document: Document, catalogue: Catalogue, mentions: list[Mention]
    ) -> Iterator[dict[str, Any] | None]:
        from mcp_lectern.features.links import links
        from mcp_lectern.lsp.to_proto.ranges import Ranges
        from mcp_lectern.lsp.virtual import given

        ranges = Ranges(document, session.encoding)
        for link in links(catalogue, mentions):
            if link is None:
                yield None
                continue
            yield {
                "range": ranges.of(link.start, link.end),
                # At once: an editor that gives up on a slow answer to the resolve step shows an error.
                "target": given(session, link.server, link.uri),
                "data": {"server": link.server, "uri": link.uri},
            }

    return await looked_through(session, lambda: session.readable(uri), look) or []


def resolved(lectern: Lectern, link: dict[str, Any]) -> dict[str, Any]:
    """The link with a tooltip that names the resource, as far as it is listed."""
    from mcp_lectern.lsp.virtual import title_of
    from mcp_lectern.text.untrusted import single_line

    data = link.get("data")
    if isinstance(data, dict) and isinstance(data.get("server"), str) and isinstance(data.get("uri"), str):
        title = title_of(lectern.session, data["server"], data["uri"]) or data["uri"]
        link["tooltip"] = f"{single_line(title)} ({single_line(data['server'])})"
    return link

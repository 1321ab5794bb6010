"""``lectern:`` documents: what they show, and what may be read to show it; must not know how a read travels.

Content is fetched unasked only for a listed URI of an approved server, or for one that a command opened
(contract 7, SEC-01). Everything else is a page that says what it would read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lectern.lsp.session import SCHEME

if TYPE_CHECKING:
    from mcp_lectern.documents.address import Key
    from mcp_lectern.lsp.server import Lectern
    from mcp_lectern.lsp.session import Session
    from mcp_lectern.mcp.wire.resources import ReadResult


def address_of(session: Session, server: str, uri: str, item: int | None = None) -> str:
    """The ``lectern:`` address under the listed type, which is all that an address may depend on."""
    from mcp_lectern.documents.address import address

    return address(
        server, uri, item, _listed_type(session, server, uri), binary_extension=session.client.file_system
    )


def _listed_type(session: Session, server: str, uri: str) -> str | None:
    resource = session.hub.catalogue.resource(server, uri) if session.hub else None
    return resource.mime_type if resource else None


def key_of(session: Session, document: str) -> Key:
    """What an address stands for. Raises Refused for anything that is not an address of ours."""
    from mcp_lectern.documents.address import parse
    from mcp_lectern.hub.failure import refused

    key = parse(document)
    if key is None or not document.startswith(SCHEME):
        raise refused("notFound", "This is not the address of a resource: open it by its mention instead.")
    return key


def may_read(session: Session, server: str, uri: str) -> bool:
    """Whether following is enough to read: a listed URI of an approved server, or one that was opened."""
    hub = session.hub
    if hub is None or server not in hub.catalogue.listings or not hub.link(server).entry.approved:
        return False
    return (server, uri) in session.opened or hub.catalogue.resource(server, uri) is not None


async def text_of(lectern: Lectern, document: str) -> str:
    """The text of a ``lectern:`` document: what the read that opened it returned, else a fresh read.

    Raises Refused where the read fails.
    """
    from mcp_lectern.documents import render

    session, hub = lectern.session, await lectern.hub()
    key = key_of(session, document)
    hub.link(key.server)
    if not may_read(session, key.server, key.uri):
        return render.unread_page(key.server, key.uri)
    result = await _result(lectern, key.server, key.uri)
    return render.text_of(
        result, key.item, _listed_type(session, key.server, key.uri), _addresses(session, key)
    )


async def _result(lectern: Lectern, server: str, uri: str) -> ReadResult:
    hub = await lectern.hub()
    kept = hub.contents.kept(server, uri)
    return kept if kept is not None else await hub.read(server, uri)


def refresh(lectern: Lectern, server: str, uri: str | None) -> None:
    """What is kept of this resource (or of all of the server's) is old; open documents are asked for again."""

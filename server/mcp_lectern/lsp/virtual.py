"""``lectern:`` documents: what they show, and what may be read to show it; must not know how a read travels.

Content is fetched unasked only for a listed URI of an approved server, or for one that a command opened
(contract 7, SEC-01). Everything else is a page that says what it would read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from mcp_lectern.lsp.session import SCHEME

if TYPE_CHECKING:
    from mcp_lectern.documents.address import Key
    from mcp_lectern.lsp.server import Lectern
    from mcp_lectern.lsp.session import Session
    from mcp_lectern.mcp.wire.resources import ReadResult


def address_of(session: Session, server: str, uri: str) -> str:
    """The ``lectern:`` address of a whole resource, under the listed type: all that it may depend on.

    And on the name, where the user wants a language of it.
    """
    from mcp_lectern.documents.address import address

    shown = listed_type(session, server, uri) or look_of(session, uri)
    return address(server, uri, None, shown, binary_extension=session.client.file_system)


def given(session: Session, server: str, uri: str) -> str:
    """The same, for a client that keeps it: one from before the server's list stays good afterwards.

    No client asks again for links, and with the list comes the type that the address is made with.
    """
    document = address_of(session, server, uri)
    if not _listed(session, server):
        session.served.add(document)
    return document


def _listed(session: Session, server: str) -> bool:
    listing = session.hub.catalogue.listings.get(server) if session.hub else None
    return listing is not None and listing.listed


def look_of(session: Session, uri: str) -> str | None:
    """The type by which a resource without one is shown: none, unless the user wants it by the name."""
    from mcp_lectern.documents.media import type_of_name

    return type_of_name(uri) if session.settings.documents_language_from_name else None


def listed_type(session: Session, server: str, uri: str) -> str | None:
    """The MIME type that the server's list gives, None where it gives none."""
    resource = session.hub.catalogue.resource(server, uri) if session.hub else None
    return resource.mime_type if resource else None


def title_of(session: Session, server: str, uri: str) -> str | None:
    """What the server's list calls the resource."""
    resource = session.hub.catalogue.resource(server, uri) if session.hub else None
    return (resource.title or resource.name) if resource else None


def may_read(session: Session, server: str, uri: str) -> bool:
    """Whether following is enough to read: a listed URI of an approved server, or one that was opened."""
    hub = session.hub
    if hub is None or server not in hub.catalogue.listings or not hub.link(server).entry.approved:
        return False
    opened = session.opened is not None and (server, uri) in session.opened
    return opened or hub.catalogue.resource(server, uri) is not None


async def text_of(lectern: Lectern, document: str) -> str:
    """The text of a document: what the read that opened it returned, else a fresh read.

    Raises Refused where the read fails, and where there is no such document.
    """
    from mcp_lectern.documents.address import names
    from mcp_lectern.documents.page import unasked_page, unread_page
    from mcp_lectern.documents.render import document_text
    from mcp_lectern.hub.failure import Refused, refused
    from mcp_lectern.lsp import asked

    session, hub = lectern.session, await lectern.hub()
    key = key_of(session, document)
    hub.link(key.server)
    if not may_read(session, key.server, key.uri):
        look = look_of(session, key.uri)
        if names(document, key, look, binary_extension=session.client.file_system):
            session.served.add(document)
        return unread_page(key.server, key.uri)
    try:
        result = await asked.result_for(lectern, key, document)
    except Refused as refusal:
        if not refusal.failure.unasked or document in session.documents:
            raise
        session.served.add(document)
        return unasked_page(key.server, key.uri)
    text = document_text(
        key.server,
        key.uri,
        result,
        listed_type(session, key.server, key.uri),
        key.item,
        title=title_of(session, key.server, key.uri),
        look=look_of(session, key.uri),
        binary_extension=session.client.file_system,
    )
    if text is None:
        raise refused("notFound", _no_item(key), server=key.server, uri=key.uri)
    session.served.add(document)
    return text


async def read(lectern: Lectern, server: str, uri: str, *, asked: bool) -> ReadResult:
    """A read that somebody waits for: shown while it lasts, and theirs to cancel. Raises Refused."""
    hub = await lectern.hub()
    title = f"Reading {title_of(lectern.session, server, uri) or uri} from {server}"
    return await lectern.progress.shown(title, hub.read(server, uri, asked=asked))


def key_of(session: Session, document: str) -> Key:
    """What an address stands for. Raises Refused for anything that is not an address of ours."""
    from mcp_lectern.documents.address import names, parse
    from mcp_lectern.hub.failure import refused

    key = parse(document) if document.lower().startswith(SCHEME) else None
    if key is None:
        raise refused(
            "notFound", "This is no address of a resource: open the resource by its mention instead."
        )
    if not _listed(session, key.server) or document in session.served:
        # Its path cannot be judged before the list is there, and stays good when the listed type changes.
        return key
    mime_type = listed_type(session, key.server, key.uri) or look_of(session, key.uri)
    if names(document, key, mime_type, binary_extension=session.client.file_system):
        return key
    raise refused(
        "notFound", f"There is no such document. It would be {address_of(session, key.server, key.uri)}."
    )


def _no_item(key: Key) -> str:
    return f"{key.uri} of “{key.server}” has no part {(key.item or 0) + 1} any more: open it again."


def ask_again(lectern: Lectern, server: str, uri: str) -> None:
    """The client asks again for every open document of this resource."""
    from mcp_lectern.documents.address import parse

    if not lectern.session.client.virtual_documents:
        return
    for document in lectern.session.documents:
        key = parse(document) if document.startswith(SCHEME) else None
        if key is not None and (key.server, key.uri) == (server, uri):
            params = types.TextDocumentContentRefreshParams(uri=document)
            lectern.spawn(
                lectern.pygls.workspace_text_document_content_refresh_async(params), "asking for a refresh"
            )

"""Opening a resource by command: read it, describe its documents, show the first; must not know the wire."""

from __future__ import annotations

import asyncio
import errno
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from mcp_lectern.lsp import asked, showing, virtual

if TYPE_CHECKING:
    from mcp_lectern.documents.address import Key
    from mcp_lectern.documents.render import RenderedDocument
    from mcp_lectern.lsp.server import Lectern
    from mcp_lectern.mcp.wire.resources import Item, ReadResult

_MOST_LINKED = 1_000
"""Parts of a resource that are kept as files because an index leads to them."""
_FULL = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})


@dataclass(frozen=True, slots=True)
class MaterializedFile:
    """A private file. ``size`` is in bytes."""

    path: Path
    size: int
    mime_type: str | None


async def opened(lectern: Lectern, server: str, uri: str) -> list[dict[str, Any]]:
    """Read the resource and describe each of its documents, in order. Raises Refused."""
    from mcp_lectern.documents.render import documents

    session, hub = lectern.session, await lectern.hub()
    before = hub.contents.kept(server, uri)
    result = await virtual.read(lectern, server, uri, asked=True)
    if session.opened is not None:
        await asyncio.to_thread(session.opened.add, (server, uri))
    if before is None or before.items != result.items:
        virtual.ask_again(lectern, server, uri)
    rendered = documents(
        server,
        uri,
        result,
        virtual.listed_type(session, server, uri),
        title=virtual.title_of(session, server, uri),
        look=virtual.look_of(session, uri),
        binary_extension=session.client.file_system,
    )
    session.served.update(document.address for document in rendered)
    described = [
        await _described(lectern, document, result.items[index]) for index, document in enumerate(rendered)
    ]
    return [{**each, "stale": result.stale} for each in described] if result.stale else described


async def _described(lectern: Lectern, document: RenderedDocument, item: Item) -> dict[str, Any]:
    from mcp_lectern.hub.failure import Refused

    client = lectern.session.client
    shown = client.file_system if document.kind == "binary" else client.virtual_documents
    path, error = None, document.error
    if not shown and error is None:
        try:
            path = (await _as_file(lectern, _key(document), item)).path
        except Refused as refusal:
            error = str(refusal)  # of this item's file: the resource was read
    plain: dict[str, Any] = {
        "document": document.address,
        "server": document.server,
        "uri": document.uri,
        "title": document.title,
        "mimeType": document.mime_type,
        "languageId": document.language_id,
        "kind": document.kind,
        "size": document.size,
        "path": str(path) if path else None,
        "error": error,
    }
    return {key: value for key, value in plain.items() if value is not None}


def _key(document: RenderedDocument) -> Key:
    from mcp_lectern.documents.address import Key, parse

    return parse(document.address) or Key(document.server, document.uri, document.item)


async def reveal(lectern: Lectern, server: str, uri: str, documents: list[dict[str, Any]]) -> None:
    """Ask the client to show the first document, or the whole resource where it has none."""
    session = lectern.session
    first = documents[0] if documents else {}
    document = first.get("document") or virtual.address_of(session, server, uri)
    path = first.get("path")
    if not path and (error := first.get("error")) and not session.client.virtual_documents:
        from mcp_lectern.text.untrusted import single_line

        lectern.show(types.MessageType.Warning, single_line(error, 400))
        return
    where = f"was saved as {path}" if path else f"can be opened as {document}"
    showing.show(lectern, Path(path).as_uri() if path else document, f"The resource {where}")


async def materialized(lectern: Lectern, document: str) -> MaterializedFile:
    """The file of one item. Raises Refused, also where following is not enough to read it."""
    from mcp_lectern.hub.failure import refused

    key = virtual.key_of(lectern.session, document)
    hub = await lectern.hub()
    hub.link(key.server)
    if not virtual.may_read(lectern.session, key.server, key.uri):
        raise refused(
            "unknownResource",
            f"“{key.server}” does not list {key.uri}, and nobody opened it here: open it first.",
            server=key.server,
            uri=key.uri,
        )
    # A client that serves the scheme asks for bytes as it asks for text: also for a mere preview.
    caused = not lectern.session.client.file_system
    result = await asked.result_for(lectern, key, document, caused=caused)
    return await _as_file(lectern, key, _item(key, result))


def _item(key: Key, result: ReadResult) -> Item:
    from mcp_lectern.hub.failure import refused

    index = key.item if key.item is not None else 0 if len(result.items) == 1 else -1
    if 0 <= index < len(result.items):
        return result.items[index]
    raise refused(
        "invalidArgument",
        f"{key.uri} of “{key.server}” has {len(result.items)} parts: ask for the document of one of them.",
        server=key.server,
        uri=key.uri,
    )


async def _as_file(lectern: Lectern, key: Key, item: Item, *, more: bool = False) -> MaterializedFile:
    from mcp_lectern.documents.media import decide, effective_type
    from mcp_lectern.documents.render import item_bytes
    from mcp_lectern.hub.failure import refused

    listed = virtual.listed_type(lectern.session, key.server, key.uri)
    data = item_bytes(item)
    if data is None:
        reason = getattr(item, "reason", "")
        raise refused("protocol", f"{key.uri} of “{key.server}”: {reason}", server=key.server, uri=key.uri)
    mime_type = effective_type(item, listed)
    try:
        path = await asyncio.to_thread(_write, lectern, key, data, mime_type, decide(item, listed), more=more)
    except OSError as error:
        message = f"{key.uri} of “{key.server}” cannot be kept as a file: {error}."
        kind = "tooLarge" if error.errno in _FULL else "invalidArgument"
        raise refused(kind, message, server=key.server, uri=key.uri) from error
    return MaterializedFile(path, len(data), mime_type)


def _write(lectern: Lectern, key: Key, data: bytes, mime_type: str | None, kind: Any, *, more: bool) -> Path:
    """``more``: others follow at once, after which it is time enough to make room."""
    from platformdirs import user_cache_path

    from mcp_lectern.documents.files import evict, materialize

    settings = lectern.session.settings
    folder = user_cache_path("mcp-lectern", appauthor=False) / "materialized"
    path = materialize(folder, key, data, mime_type, kind)
    if more:
        return path
    limit, days = settings.limits_materialized_bytes, settings.materialized_days
    evict(folder, max_bytes=limit, max_days=days, keep=path)
    return path


async def as_file(lectern: Lectern, server: str, uri: str) -> Path:
    """A read-only file for an editor without virtual documents: the item, or an index of several.

    Raises Refused where the read fails.
    """
    from mcp_lectern.documents.address import Key
    from mcp_lectern.documents.render import EMPTY, documents, index_text
    from mcp_lectern.mcp.wire.resources import TextItem

    session, key = lectern.session, Key(server, uri)
    result = await asked.result_for(lectern, key, virtual.address_of(session, server, uri))
    if len(result.items) == 1:
        return (await _as_file(lectern, key, result.items[0])).path
    title, listed = virtual.title_of(session, server, uri), virtual.listed_type(session, server, uri)
    parts = documents(server, uri, result, listed, title=title)
    linked = zip(parts, result.items[:_MOST_LINKED], strict=False)
    kept = [await _kept(lectern, part, item) for part, item in linked]
    kept += [replace(part, address="") for part in parts[_MOST_LINKED:]]
    text = index_text(title or uri, kept, result.notes) if kept else f"{EMPTY}\n"
    return (await _as_file(lectern, key, TextItem(uri, "text/markdown", text))).path


async def _kept(lectern: Lectern, document: RenderedDocument, item: Item) -> RenderedDocument:
    """The document at an address that this editor can open: a file, where it can be kept as one."""
    from mcp_lectern.hub.failure import Refused

    try:
        path = (await _as_file(lectern, _key(document), item, more=True)).path
    except Refused as refusal:
        return replace(document, address="", error=document.error or str(refusal))
    return replace(document, address=path.as_uri())

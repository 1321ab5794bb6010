"""From what a server read to what an editor shows; must not know how it was read or who shows it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from mcp_lectern.documents.address import Key, address
from mcp_lectern.documents.media import Kind, decoded, display, effective_type, is_textual, language_id
from mcp_lectern.mcp.wire.resources import BlobItem, Item, ReadResult, TextItem, UnreadableItem
from mcp_lectern.text.untrusted import markdown_escape, single_line

EMPTY = "The server sent no content for this resource: it is empty or missing."
_FIRST_BYTES = 32
_HOW_TO_KEEP = (
    "This is binary content, which is not shown as text.\n"
    "To open it, run Lectern: Open Resource in the editor. To save it, run\n"
    "mcp-lectern read --server SERVER URI --out FILE\n"
    "with the server and the URI above."
)


@dataclass(frozen=True, slots=True)
class RenderedDocument:
    """One item of a read as a document. ``size`` is in bytes; ``error`` says why it cannot be shown.

    ``address`` is its ``lectern:`` URI, ``uri`` the item's own or the one that was read, ``item`` the index
    in the address: None for a single item, so that a resource has one address. ``language_id`` belongs to
    the type that was read, which may differ from the listed one that gave the address its extension.
    """

    address: str
    server: str
    uri: str
    item: int | None
    title: str
    kind: Kind
    size: int
    mime_type: str | None
    language_id: str | None
    error: str | None = None


def documents(
    server: str,
    uri: str,
    result: ReadResult,
    listed_mime: str | None,
    *,
    title: str | None = None,
    look: str | None = None,
    binary_extension: bool = False,
) -> list[RenderedDocument]:
    """The documents of a read in the order of its ``contents``; none for an empty one (see ``EMPTY``).

    ``look`` is the type that gives addresses their extension where the list gives none.
    """
    look = listed_mime or look
    single = len(result.items) == 1
    rendered = []
    for index, item in enumerate(result.items):
        number = None if single else index
        place = address(server, uri, number, look, binary_extension=binary_extension)
        name = _title(uri, item, number, title)
        document = _document(place, Key(server, uri, number), item, listed_mime, title=name)
        if document.mime_type is None and document.language_id is not None and look is not None:
            document = replace(document, language_id=_language(look))
        rendered.append(document)
    return rendered


def document_text(
    server: str,
    uri: str,
    result: ReadResult,
    listed_mime: str | None,
    item: int | None = None,
    *,
    title: str | None = None,
    look: str | None = None,
    binary_extension: bool = False,
) -> str | None:
    """The text of the document with that item index; None where the read has no such item.

    Without an index: the single item, or an index in Markdown that links each.
    """
    if item is not None:
        return item_text(server, uri, result.items[item], listed_mime) if item < len(result.items) else None
    if not result.items:
        return EMPTY + "\n"
    if len(result.items) == 1:
        return item_text(server, uri, result.items[0], listed_mime)
    listed = documents(
        server, uri, result, listed_mime, title=title, look=look, binary_extension=binary_extension
    )
    return index_text(title or uri, listed, result.notes)


def index_text(title: str, listed: list[RenderedDocument], notes: tuple[str, ...]) -> str:
    """Markdown in which nothing is alive but the links to the items; an item without address has none."""
    lines = [f"# {_inert(title) or 'Resource'}", "", f"This resource has {len(listed)} parts.", ""]
    for number, document in enumerate(listed, 1):
        name = _inert(document.title) or f"Part {number}"
        shown = f"[{name}]({document.address})" if document.address else name
        lines.append(f"{number}. {shown}: {_inert(_summary(document), 600)}")
    lines += ["", *(f"- {_inert(note, 500)}" for note in notes)] if notes else []
    return "\n".join(lines) + "\n"


def item_text(server: str, uri: str, item: Item, listed_mime: str | None) -> str:
    """One item as text: verbatim, or for a binary one a short description."""
    content = decoded(item, listed_mime)
    if isinstance(content, str):
        return well_formed(content)
    if isinstance(item, UnreadableItem) or content is None:
        return f"This content cannot be shown: {single_line(_reason(item), 500)}\n"
    return _description(server, item.uri or uri, effective_type(item, listed_mime), content)


def item_bytes(item: Item) -> bytes | None:
    """Exactly what the server sent: a blob's bytes, a text in UTF-8; None for an item without content."""
    if isinstance(item, BlobItem):
        return item.data
    return well_formed(item.text).encode() if isinstance(item, TextItem) else None


def well_formed(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD, so that it can be sent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _document(place: str, key: Key, item: Item, listed_mime: str | None, *, title: str) -> RenderedDocument:
    mime_type = effective_type(item, listed_mime)
    content = decoded(item, listed_mime)
    text = isinstance(content, str)
    return RenderedDocument(
        address=place,
        server=key.server,
        uri=key.uri if item.uri is None else item.uri,
        item=key.item,
        title=title,
        kind="text" if text else "binary",
        size=_size(content),
        mime_type=display(mime_type or "") or None,
        language_id=_language(mime_type) if text else None,
        error=single_line(_reason(item), 500) if content is None else None,
    )


def _language(mime_type: str | None) -> str | None:
    """None where editors agree on no language for the type: they know better by its extension."""
    return language_id(mime_type) if is_textual(mime_type) else "plaintext"


def _title(uri: str, item: Item, index: int | None, title: str | None) -> str:
    name = single_line(title or "") or single_line(uri)
    if index is None:
        return name
    return single_line(item.uri) if item.uri and item.uri != uri else f"{name} ({index + 1})"


def _size(content: str | bytes | None) -> int:
    if isinstance(content, str):
        return len(content) if content.isascii() else len(content.encode("utf-8", "surrogatepass"))
    return len(content or b"")


def _reason(item: Item) -> str:
    return item.reason if isinstance(item, UnreadableItem) else ""


def _inert(text: str, limit: int = 200) -> str:
    return markdown_escape(single_line(text, limit), limit)


def _summary(document: RenderedDocument) -> str:
    if document.error is not None:
        return f"cannot be shown: {document.error}"
    return f"{document.mime_type or document.kind}, {_bytes(document.size)}"


def _bytes(count: int) -> str:
    return f"{count:,} byte{'' if count == 1 else 's'}"


def _description(server: str, uri: str, mime_type: str | None, data: bytes) -> str:
    facts = {
        "Server": single_line(server),
        "URI": single_line(uri, 1000),
        "Type": display(mime_type or "") or "unknown",
        "Size": _bytes(len(data)),
        "SHA-256": hashlib.sha256(data).hexdigest(),
        "First bytes": data[:_FIRST_BYTES].hex(" ") or "none",
    }
    lines = [f"{name + ':':<13}{value}" for name, value in facts.items()]
    return "\n".join([*lines, "", _HOW_TO_KEEP, ""])

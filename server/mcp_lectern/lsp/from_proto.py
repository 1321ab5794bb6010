"""From LSP positions and URIs to offsets and mentions; must not know what is done with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.lsp.session import Session
    from mcp_lectern.mentions.model import Mention
    from mcp_lectern.text.document import Document


def mention_at(session: Session, uri: str, position: types.Position) -> tuple[Document, Mention] | None:
    """The mention that a position stands in, or just behind, with its document."""
    document = session.readable(uri)
    if document is None or session.hub is None:
        return None
    offset = document.offset(position.line, position.character, session.encoding)
    for mention in session.mentions(document, session.hub.catalogue):
        if mention.start <= offset <= mention.end:
            return document, mention
    return None


def folder_path(uri: str | None) -> Path | None:
    """The path of a workspace folder's ``file:`` URI; None for any other scheme (folders are ours to read)."""
    if not uri:
        return None
    try:
        parts = urlsplit(uri)
        if parts.scheme != "file":
            return None
        path = url2pathname(parts.path)
        return Path(f"//{parts.netloc}{path}" if parts.netloc not in ("", "localhost") else path)
    except ValueError:
        return None

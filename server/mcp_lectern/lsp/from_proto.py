"""From LSP positions and URIs to offsets and mentions; must not know what is done with them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.lsp.session import Session
    from mcp_lectern.mentions.model import Mention
    from mcp_lectern.text.document import Document

_DRIVE = re.compile("/[A-Za-z]:")


def mention_at(session: Session, uri: str, position: types.Position) -> tuple[Document, Mention] | None:
    """The mention that a position stands in, or just behind, with its document."""
    document = session.readable(uri)
    if document is None or session.hub is None:
        return None
    offset = document.offset(position.line, position.character, session.encoding)
    mention = session.index(document).at(offset)
    return None if mention is None else (document, mention)


def folder_path(uri: str | None) -> Path | None:
    """The path of a workspace folder's ``file:`` URI; None for any other scheme (ours to read).

    None too for what no file system takes as a path.
    """
    if not uri:
        return None
    try:
        parts = urlsplit(uri)
        if parts.scheme != "file":
            return None
        # Not urllib.request's function: it loads an HTTP client, and the start of the process waits for it.
        path = unquote(parts.path)
        if os.name == "nt" and _DRIVE.match(path):
            path = path[1:]
        os.fsencode(path)
        if "\0" in path:
            return None
        return Path(f"//{parts.netloc}{path}" if parts.netloc not in ("", "localhost") else path)
    except ValueError:
        return None

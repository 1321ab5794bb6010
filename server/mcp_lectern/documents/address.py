"""The address of a virtual document: ``lectern:`` URI <-> server, URI and item; must not know contents.

``lectern://mcp/<server>/<file name>?<key>``: the path is for people, the key says it exactly. It consists of
characters that no editor encodes, decodes or folds, so that the address survives byte for byte.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote

from mcp_lectern.documents.media import document_extension

SCHEME = "lectern"
_PREFIX = f"{SCHEME}://mcp"
_ADDRESS = re.compile(r"lectern://mcp(/[A-Za-z0-9_-]+/[A-Za-z0-9._-]+\?([A-Za-z0-9_-]+))", re.IGNORECASE)
_KEY = re.compile(rb"(\d{0,9}):(\d{1,9}):")
_UNSAFE = re.compile(r"[^A-Za-z0-9_]+")
_SEPARATORS = "/\\:?#&="
_SEPARATOR = re.compile(f"[{re.escape(_SEPARATORS)}]")
_LOOK_BACK = 1024
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin|conout|com\d|lpt\d)\Z", re.IGNORECASE)
_SERVER_LIMIT = 40
_STEM_LIMIT = 60


@dataclass(frozen=True, slots=True)
class Key:
    """What an address stands for; ``item`` is an index into ``contents``, None for the whole resource."""

    server: str
    uri: str
    item: int | None = None


def address(server: str, uri: str, item: int | None, mime_type: str | None, *, binary_extension: bool) -> str:
    """The one address of a document. ``mime_type`` is the *listed* type, which gives the extension.

    ``binary_extension``: whether a binary type gives one too (the client serves the scheme as a file system).
    """
    name = file_name(uri, item, document_extension(mime_type, binary=binary_extension))
    return f"{_PREFIX}/{_slug(server, _SERVER_LIMIT, 'server')}/{name}?{_encoded(Key(server, uri, item))}"


def parse(document_uri: str) -> Key | None:
    """The key in a ``lectern:`` URI, None where there is none. Its path is not looked at: see ``names``."""
    match = _ADDRESS.fullmatch(unquote(document_uri))
    return _decoded(match[2]) if match else None


def names(document_uri: str, key: Key, mime_type: str | None, *, binary_extension: bool) -> bool:
    """Whether ``document_uri`` is the address of ``key`` for that listed type, in path and key.

    Editors may change the case of scheme and authority and percent-encode; nothing else may differ.
    """
    match = _ADDRESS.fullmatch(unquote(document_uri))
    expected = address(key.server, key.uri, key.item, mime_type, binary_extension=binary_extension)
    return match is not None and _PREFIX + match[1] == expected


def file_name(uri: str, item: int | None, extension: str | None) -> str:
    """A name of ``[A-Za-z0-9._-]`` for people, safe on every system; without an extension it has no dot."""
    text = unquote(_SEPARATOR.split(uri[-_LOOK_BACK:].rstrip(_SEPARATORS))[-1], errors="ignore")
    if extension and text.lower().endswith(f".{extension}"):
        text = text[: -len(extension) - 1]
    number = "" if item is None else f"-{item + 1}"
    if extension is None:
        return "-".join(filter(None, ("resource", _words(text, _STEM_LIMIT)))) + number
    return f"{_slug(text, _STEM_LIMIT, 'resource')}{number}.{extension}"


def _slug(text: str, limit: int, fallback: str) -> str:
    """``text`` as one path segment; ``fallback`` leads where nothing is left, or a device of Windows."""
    words = _words(text, limit)
    return f"{fallback}-{words}" if _RESERVED.match(words) else words or fallback


def _words(text: str, limit: int) -> str:
    ascii_only = unicodedata.normalize("NFKD", text[: limit * 4]).encode("ascii", "ignore").decode()
    return _UNSAFE.sub("-", ascii_only).strip("-")[:limit].strip("-")


def _encoded(key: Key) -> str:
    server = key.server.encode("utf-8", "surrogatepass")
    head = f"{'' if key.item is None else key.item}:{len(server)}:".encode()
    return (
        base64.urlsafe_b64encode(head + server + key.uri.encode("utf-8", "surrogatepass"))
        .rstrip(b"=")
        .decode()
    )


def _decoded(text: str) -> Key | None:
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        match = _KEY.match(data)
        if match is None:
            return None
        split = match.end() + int(match[2])
        server, uri = (
            part.decode("utf-8", "surrogatepass") for part in (data[match.end() : split], data[split:])
        )
    except (binascii.Error, UnicodeDecodeError):
        return None
    key = Key(server, uri, int(match[1]) if match[1] else None)
    # Each key has one spelling, or one resource would have several addresses.
    return key if _encoded(key) == text else None

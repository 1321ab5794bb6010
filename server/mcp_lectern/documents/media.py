"""What a MIME type means for showing content; must not know where the content is kept or who asks.

A type comes from a server and may be anything: it is compared by its lower-case base type, shown without
control characters, and never trusted to make a file that something would run.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from mcp_lectern.mcp.wire.resources import BlobItem, Item, TextItem
from mcp_lectern.text.untrusted import single_line

Kind: TypeAlias = Literal["text", "binary"]

_ESSENCE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")

_LANGUAGES = {
    "plaintext": ("txt", "text/plain"),
    "markdown": ("md", "text/markdown text/x-markdown"),
    "json": ("json", "application/json text/json application/json5"),
    "xml": ("xml", "application/xml text/xml image/svg+xml"),
    "html": ("html", "text/html application/xhtml+xml"),
    "css": ("css", "text/css"),
    "yaml": ("yaml", "application/yaml text/yaml application/x-yaml text/x-yaml"),
    "javascript": (
        "js",
        "text/javascript application/javascript application/x-javascript text/x-javascript",
    ),
    "typescript": ("ts", "application/typescript text/typescript text/x-typescript application/x-typescript"),
    "python": ("py", "text/x-python application/x-python text/x-script.python"),
    "rust": ("rs", "text/x-rust text/rust"),
    "go": ("go", "text/x-go text/go"),
    "c": ("c", "text/x-c text/x-csrc text/x-chdr"),
    "cpp": ("cpp", "text/x-c++ text/x-c++src text/x-c++hdr"),
    "csharp": ("cs", "text/x-csharp"),
    "java": ("java", "text/x-java text/x-java-source"),
    "ruby": ("rb", "text/x-ruby application/x-ruby"),
    "php": ("php", "text/x-php application/x-httpd-php application/x-php"),
    "perl": ("pl", "text/x-perl application/x-perl"),
    "lua": ("lua", "text/x-lua application/x-lua"),
    "swift": ("swift", "text/x-swift"),
    "scala": ("scala", "text/x-scala"),
    "sql": ("sql", "application/sql text/x-sql"),
    "shellscript": (
        "sh",
        "application/x-sh text/x-sh text/x-shellscript application/x-shellscript text/x-script.sh",
    ),
    "powershell": ("ps1", "text/x-powershell application/x-powershell"),
    "diff": ("diff", "text/x-diff text/x-patch"),
    "latex": ("tex", "application/x-tex text/x-tex application/x-latex text/x-latex"),
}
_TEXT_TYPES: dict[str, tuple[str | None, str]] = {
    essence: (language, extension)
    for language, (extension, types) in _LANGUAGES.items()
    for essence in types.split()
}
# Text of these is text, but editors agree on no language for it.
_TEXT_TYPES |= {
    "text/csv": (None, "csv"),
    "text/tab-separated-values": (None, "tsv"),
    "application/toml": (None, "toml"),
    "application/x-ndjson": (None, "jsonl"),
    "application/jsonl": (None, "jsonl"),
    "application/graphql": (None, "graphql"),
    "application/x-www-form-urlencoded": ("plaintext", "txt"),
}
_SUFFIXES = {"json": "application/json", "xml": "application/xml", "yaml": "application/yaml"}

# Types whose usual program shows them and runs nothing that they carry. Absent on purpose: anything that a
# desktop starts or scripts (html, svg, js, sh, desktop, lnk, url), and documents with macros or formulas.
_PASSIVE_BINARY = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/jpg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
    "image/bmp": "bmp",
    "image/tiff": "tiff",
    "image/x-icon": "ico",
    "image/vnd.microsoft.icon": "ico",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/ogg": "ogg",
    "audio/flac": "flac",
    "video/mp4": "mp4",
    "video/webm": "webm",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "application/gzip": "gz",
    "application/octet-stream": "bin",
}
_PASSIVE_TEXT = frozenset({"txt", "md", "json", "yaml"})


# Of several types with one extension the first counts.
_BY_EXTENSION = {
    **{extension: base for base, (_, extension) in reversed(_TEXT_TYPES.items())},
    "yml": "application/yaml",
    "markdown": "text/markdown",
}
_NAME = re.compile(r"[^?#]*")


def type_of_name(uri: str) -> str | None:
    """The type that the name in a URI suggests: for its look alone, where the user wants that.

    >>> type_of_name("memo://notes/a.py?x=1"), type_of_name("memo://a"), type_of_name("memo://a.exe")
    ('text/x-python', None, None)
    """
    match = _NAME.match(uri)
    stem, dot, extension = (match[0] if match else "").rpartition("/")[2].rpartition(".")
    return _BY_EXTENSION.get(extension.lower()) if stem and dot else None


def essence(mime_type: str | None) -> str:
    """The lower-case base type without parameters; empty where it is no type."""
    base = (mime_type or "").partition(";")[0].strip(" \t").lower()
    return base if _ESSENCE.fullmatch(base) else ""


def display(mime_type: str) -> str:
    """The type as written, parameters kept, without control characters."""
    return single_line(mime_type, 120)


def is_textual(mime_type: str | None) -> bool:
    """Whether bytes of this type are text: ``text/*``, JSON, XML and their like."""
    base = essence(mime_type)
    return base.startswith("text/") or _known_text(base) is not None


def language_id(mime_type: str | None) -> str | None:
    """The LSP language id of a textual type; None for every other type, and where editors agree on none."""
    known = _text_type(mime_type)
    return known[0] if known else None


def document_extension(mime_type: str | None, *, binary: bool) -> str | None:
    """The extension (no dot) in a virtual document's address, None where the type gives none.

    Nothing runs a virtual document, so source code has its own. ``binary``: whether binary types get one.
    """
    known = _text_type(mime_type)
    if known:
        return known[1]
    return _PASSIVE_BINARY.get(essence(mime_type)) if binary else None


def file_extension(mime_type: str | None, kind: Kind) -> str:
    """The extension (no dot) of a file on disk: passive types only, else ``txt`` or ``bin``."""
    if kind == "text":
        known = _text_type(mime_type)
        return known[1] if known and known[1] in _PASSIVE_TEXT else "txt"
    return _PASSIVE_BINARY.get(essence(mime_type), "bin")


def effective_type(item: Item, listed: str | None) -> str | None:
    """The item's own type, which beats the list's; an empty one is none."""
    return item.mime_type or listed or None


def decoded(item: Item, listed: str | None) -> str | bytes | None:
    """The item's content: str where it is text, bytes where it is binary, None where it is unreadable.

    ``text`` is text whatever its type. A blob is text if its type says so and its bytes are UTF-8.
    """
    if isinstance(item, TextItem):
        return item.text
    if not isinstance(item, BlobItem):
        return None
    if is_textual(effective_type(item, listed)):
        try:
            return item.data.decode()
        except UnicodeDecodeError:
            pass
    return item.data


def decide(item: Item, listed: str | None) -> Kind:
    """Whether an item is shown as text or as binary; an unreadable one is binary."""
    return "text" if isinstance(decoded(item, listed), str) else "binary"


def _text_type(mime_type: str | None) -> tuple[str | None, str] | None:
    base = essence(mime_type)
    known = _known_text(base)
    if known is None and base.startswith("text/"):
        return _TEXT_TYPES["text/plain"]
    return known


def _known_text(base: str) -> tuple[str | None, str] | None:
    return _TEXT_TYPES.get(base) or _TEXT_TYPES.get(_SUFFIXES.get(base.rpartition("+")[2], ""))

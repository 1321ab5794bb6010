"""A resource or template as Markdown for a hover or a completion's documentation; must not know which.

Every word of a server is escaped here: nothing of it becomes a link, an image, HTML or a code fence's end.
"""

from __future__ import annotations

from mcp_lectern.mcp.wire.resources import Resource, ResourceTemplate
from mcp_lectern.text.untrusted import code_fence, code_span, markdown_escape, single_line

DESCRIPTION_LIMIT = 1500
PREVIEW_LIMIT = 600
_LINE_LIMIT = 200
_FACTS_LIMIT = 500
_BIGGEST = 2**60
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def title_of(entry: Resource | ResourceTemplate) -> str:
    """What a person calls it, on one line."""
    return label(entry.title or "") or label(entry.name)


def label(text: str, limit: int = _LINE_LIMIT) -> str:
    """Text of a server on one line; most of it is plain already, and this runs for every completion item."""
    if len(text) <= limit and text.isascii() and text.isprintable() and "](" not in text:
        return text.strip()
    return single_line(text, limit)


def described(server: str, entry: Resource | ResourceTemplate) -> str:
    """Title, where it comes from, what is known of it, and the description."""
    uri = entry.uri if isinstance(entry, Resource) else entry.uri_template
    paragraphs = [
        f"**{escaped(title_of(entry)) or 'Untitled'}**",
        escaped(" · ".join([single_line(server), *map(single_line, _facts(entry))]), _FACTS_LIMIT),
        code_span(uri),
    ]
    if entry.description and entry.description.strip():
        paragraphs.append(markdown_escape(entry.description, DESCRIPTION_LIMIT))
    return "\n\n".join(paragraphs)


def preview(text: str) -> str:
    """The beginning of a content, as it is."""
    shown = text[:PREVIEW_LIMIT]
    return code_fence(shown + "…" if len(text) > PREVIEW_LIMIT else shown, limit=PREVIEW_LIMIT + 1)


def escaped(text: str, limit: int = _LINE_LIMIT) -> str:
    """Text of a server as one line of Markdown that means nothing but its letters."""
    return markdown_escape(single_line(text, limit), limit)


def size_shown(size: int) -> str:
    """A number of bytes for people.

    >>> size_shown(1), size_shown(1536), size_shown(2**60)
    ('1 byte', '1.5 KiB', '1048576.0 TiB')
    """
    if size < 1024:
        return f"{size} byte{'' if size == 1 else 's'}"
    size = min(size, _BIGGEST)
    unit = min((size.bit_length() - 1) // 10, len(_UNITS) - 1)
    return f"{size / 1024**unit:.1f} {_UNITS[unit]}"


def _facts(entry: Resource | ResourceTemplate) -> list[str]:
    facts = [entry.mime_type or ""]
    if isinstance(entry, Resource) and entry.size is not None:
        facts.append(size_shown(entry.size))
    if entry.annotations is not None:
        if entry.annotations.last_modified:
            facts.append(f"modified {entry.annotations.last_modified}")
        if entry.annotations.audience:
            facts.append(f"for {', '.join(entry.annotations.audience)}")
    return [fact for fact in facts if fact]

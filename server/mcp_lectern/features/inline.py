"""A resource's content as it stands in the middle of somebody's text; must not know where that is."""

from __future__ import annotations

from mcp_lectern.catalogue.resolve import Known, Resolution, TemplateMatch
from mcp_lectern.documents.media import decoded, is_textual
from mcp_lectern.documents.render import well_formed
from mcp_lectern.mcp.wire.resources import ReadResult


def may_be_inlined(resolution: Resolution) -> bool:
    """Whether a mention can give way to a content, as far as that can be told without reading it."""
    match resolution:
        case Known(_, resource):
            return resource.mime_type is None or is_textual(resource.mime_type)
        case TemplateMatch(_, _, template, _):
            return template.mime_type is None or is_textual(template.mime_type)
    return False


def inline(read: ReadResult, listed: str | None) -> str | None:
    """The text of all items, verbatim but for the line end behind it; None unless every item is text.

    ``listed`` is the type that the server's list gives.
    """
    contents = [decoded(item, listed) for item in read.items]
    texts = [well_formed(content) for content in contents if isinstance(content, str)]
    if not texts or len(texts) != len(contents):
        return None
    return "\n\n".join(_without_end(text) for text in texts)


def _without_end(text: str) -> str:
    """A text ends where its last line does: the sentence around a mention goes on behind it."""
    return text.removesuffix("\n").removesuffix("\r")

"""What became of each mentioned resource, read or not; must not know how it is written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mcp_lectern.catalogue.model import Catalogue
from mcp_lectern.documents.media import decoded, display, effective_type
from mcp_lectern.documents.render import EMPTY, well_formed
from mcp_lectern.features.describe import size_shown
from mcp_lectern.features.expand.model import Outcome, Part, Unread, Wanted
from mcp_lectern.mcp.wire.resources import Item, ReadResult, UnreadableItem

Reads = Mapping[tuple[str, str], ReadResult | Unread]
"""By server and URI."""


def outcomes(
    wanted: Iterable[Wanted], reads: Reads, catalogue: Catalogue, max_bytes: int | None
) -> list[Outcome]:
    """One outcome for each, in order. ``max_bytes`` limits the included text of all together, first come."""
    left = max_bytes
    found = []
    for one in wanted:
        outcome = _outcome(one, reads, catalogue)
        if left is not None and outcome.text_bytes > left:
            outcome = _too_large(outcome, left)
        elif left is not None:
            left -= outcome.text_bytes
        found.append(outcome)
    return found


def _outcome(wanted: Wanted, reads: Reads, catalogue: Catalogue) -> Outcome:
    server, uri = wanted.server, wanted.uri
    if server is None or wanted.status is not None:
        return Outcome(server, uri, wanted.status or "ambiguous", reason=wanted.reason)
    listed = catalogue.resource(server, uri)
    mime_type = listed.mime_type if listed else None
    read = reads[server, uri]
    if isinstance(read, Unread):
        size = (listed.size if listed else None) or 0
        return Outcome(server, uri, read.status, display(mime_type or "") or None, size, reason=read.reason)
    return _of_read(server, uri, read, mime_type)


def _of_read(server: str, uri: str, read: ReadResult, listed: str | None) -> Outcome:
    parts = tuple(_part(uri, item, listed) for item in read.items)
    shown = parts[0].mime_type if len(parts) == 1 else display(listed or "") or None
    size = sum(part.size for part in parts)
    if not parts:
        return Outcome(server, uri, "failed", shown, reason=EMPTY)
    if any(part.text is not None for part in parts):
        return Outcome(server, uri, "included", shown, size, parts, stale=read.stale)
    binary = any(not isinstance(item, UnreadableItem) for item in read.items)
    return Outcome(
        server, uri, "binary" if binary else "failed", shown, size, reason=" ".join(p.remark for p in parts)
    )


def _part(uri: str, item: Item, listed: str | None) -> Part:
    content = decoded(item, listed)
    mime_type = display(effective_type(item, listed) or "") or None
    where = item.uri or uri
    if isinstance(content, str):
        text = well_formed(content)
        return Part(where, mime_type, len(text.encode()), text)
    if isinstance(item, UnreadableItem) or content is None:
        return Part(where, mime_type, 0, None, getattr(item, "reason", ""))
    return Part(where, mime_type, len(content), None, f"Binary content of {size_shown(len(content))}.")


def _too_large(outcome: Outcome, left: int) -> Outcome:
    size = size_shown(outcome.text_bytes)
    reason = f"Its text of {size} does not fit in the {size_shown(left)} that are left of the limit."
    return Outcome(outcome.server, outcome.uri, "tooLarge", outcome.mime_type, outcome.size, reason=reason)

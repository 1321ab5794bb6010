"""The half-typed mention at a cursor; must not know the catalogue, nor anything beyond the cursor's line."""

from __future__ import annotations

from collections.abc import Collection

from mcp_lectern.mentions.grammar import (
    BREAKS_NAME,
    LINE_END,
    QUOTED,
    QUOTED_COLON,
    STARTS,
    STOP,
    looks_like_uri,
    trimmed,
    unescape,
)
from mcp_lectern.mentions.model import HalfTyped

_LOOK_BACK = 16_384
"""Code points of a line before the cursor that are looked at."""
_BEGINNINGS_LIMIT = 16


def at(text: str, offset: int, servers: Collection[str]) -> HalfTyped | None:
    """The mention that the cursor at ``offset`` stands in, or None; ``servers`` are the configured names."""
    offset = min(max(offset, 0), len(text))
    line_start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    line_start = max(line_start, offset - _LOOK_BACK)
    match = LINE_END.search(text, offset)
    line_end = match.start() if match else len(text)
    quote = _open_quote(text, line_start, offset)
    if quote is not None:
        return _quoted(text, quote, offset, line_end, servers)
    start = _bare_beginning(text, line_start, offset, servers)
    return None if start is None else _bare(text, start, offset, line_end, servers)


def _open_quote(text: str, line_start: int, offset: int) -> int | None:
    """The ``@`` of the quoted mention that is still open at the cursor."""
    position = line_start
    while match := STARTS.search(text, position, offset):
        position = match.end()
        if not text.startswith('"', position, offset):
            continue
        closed = QUOTED.match(text, position, offset)
        if closed is None:
            # White space right behind the quote: this is a quotation in prose, and the "@" was its end.
            return None if text[position + 1 : position + 2].isspace() else match.start()
        position = closed.end()
    return None


def _quoted(text: str, start: int, offset: int, line_end: int, servers: Collection[str]) -> HalfTyped:
    raw = text[start + 2 : offset]
    colon = QUOTED_COLON.match(raw)
    name = unescape(raw[: colon.end() - 1]) if colon else None
    server = name if name in servers else None
    rest = unescape(raw[colon.end() :]) if colon and server is not None else unescape(raw)
    end = _end_of_quoted(text, start, offset, line_end, servers)
    return HalfTyped(unescape(raw), start, end, True, server, rest)


def _end_of_quoted(text: str, start: int, offset: int, line_end: int, servers: Collection[str]) -> int:
    if text.startswith('"', offset, line_end):
        return offset + 1
    closed = QUOTED.match(text, start + 1, line_end)
    if closed is None or text[offset : offset + 1].isspace():
        return offset  # what follows is the sentence going on; a later quote belongs to that
    body = closed[1]
    colon = QUOTED_COLON.match(body)
    known = colon is not None and unescape(body[: colon.end() - 1]) in servers
    return closed.end() if known or looks_like_uri(unescape(body)) else offset


def _bare_beginning(text: str, line_start: int, offset: int, servers: Collection[str]) -> int | None:
    """The ``@`` of the bare mention at the cursor: the first that reads as one, else the last."""
    # Read backwards: the nearest character that no bare mention holds.
    stop = STOP.search(text[line_start:offset][::-1])
    run_start = offset - stop.start() if stop else line_start
    beginnings = [match.start() for match in STARTS.finditer(text, run_start, offset)]
    for start in beginnings[:_BEGINNINGS_LIMIT]:
        typed = text[start + 1 : offset]
        if _reads(typed, servers) or (len(beginnings) > 1 and _begins_name(typed, servers)):
            return start
    return beginnings[-1] if beginnings else None


def _bare(text: str, start: int, offset: int, line_end: int, servers: Collection[str]) -> HalfTyped:
    query = text[start + 1 : offset]
    server = _server(query, servers)
    rest = query if server is None else query[len(server) + 1 :]
    return HalfTyped(query, start, _end_of_bare(text, start, offset, line_end, servers), False, server, rest)


def _end_of_bare(text: str, start: int, offset: int, line_end: int, servers: Collection[str]) -> int:
    stop = STOP.search(text, offset, line_end)
    whole = text[start + 1 : stop.start() if stop else line_end]
    joins = text[offset - 1 : offset].isascii() and not text[offset : offset + 1].isascii()
    if joins or not _reads(whole, servers):
        return offset  # typed right before other words, which need no space in some scripts
    return max(offset, start + 1 + trimmed(whole))


def _server(query: str, servers: Collection[str]) -> str | None:
    name, colon, rest = query.partition(":")
    return name if colon and name in servers and name and not rest.startswith("//") else None


def _reads(text: str, servers: Collection[str]) -> bool:
    """Whether the text behind an ``@`` is a mention's: it names a server or begins with a scheme."""
    return _server(text, servers) is not None or looks_like_uri(text)


def _begins_name(typed: str, servers: Collection[str]) -> bool:
    """Whether this is the beginning of a configured name that holds an ``@`` itself."""
    return "@" in typed and any(name.startswith(typed) and not BREAKS_NAME.search(name) for name in servers)

"""Markdown as the client can show it: an editor that shows plain text gets what the marks stand for."""

from __future__ import annotations

import re

_MARKS = re.compile(
    r"""
      ^(?P<fence>`{3,})[^\n`]*\n(?P<block>.*?)\n(?P=fence)$
    | \\(?P<escaped>[!-/:-@\[-`{-~])
    | (?P<ticks>`+)(?P<span>.+?)(?<!`)(?P=ticks)(?!`)
    | (?P<strong>\*\*)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


def markup(text: str, *, markdown: bool) -> dict[str, str]:
    """LSP's MarkupContent."""
    if markdown:
        return {"kind": "markdown", "value": text}
    return {"kind": "plaintext", "value": _MARKS.sub(_bare, text)}


def _bare(mark: re.Match[str]) -> str:
    if (block := mark["block"]) is not None:
        return block
    if (span := mark["span"]) is not None:
        padded = span.startswith(" ") and span.endswith(" ") and "`" in span
        return span[1:-1] if padded else span
    return mark["escaped"] or ""

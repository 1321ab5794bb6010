"""Markdown as the client can show it: an editor that shows plain text gets it without the escapes."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def markup(text: str, *, markdown: bool) -> dict[str, str]:
    """LSP's MarkupContent."""
    if markdown:
        return {"kind": "markdown", "value": text}
    return {"kind": "plaintext", "value": _ESCAPE.sub(r"\1", text)}

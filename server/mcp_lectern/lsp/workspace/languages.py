"""The language of a file that no editor has told us of, by its name; must not open it."""

from __future__ import annotations

from collections.abc import Collection

_BY_SUFFIX = {
    "md": "markdown",
    "markdown": "markdown",
    "mdown": "markdown",
    "mdc": "markdown",
    "txt": "plaintext",
    "text": "plaintext",
    "rst": "restructuredtext",
    "adoc": "asciidoc",
    "asciidoc": "asciidoc",
    "tex": "latex",
    "latex": "latex",
    "typ": "typst",
    "org": "org",
    "eml": "mail",
}


def language_of(name: str, languages: Collection[str]) -> str | None:
    """The language id, if mentions are alive in it; with ``*`` among them any file is plain text."""
    lowered = name.lower()
    for kind in ("prompt", "instructions", "chatmode", "agent"):
        if lowered.endswith(f".{kind}.md"):
            found = {"chatmode": "chatagent", "agent": "chatagent"}.get(kind, kind)
            return found if found in languages or "*" in languages else None
    found = _BY_SUFFIX.get(lowered.rpartition(".")[2] if "." in lowered else "", "")
    if found in languages:
        return found
    return (found or "plaintext") if "*" in languages else None

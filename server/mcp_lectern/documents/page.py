"""The page that stands for a resource which nobody asked to read; must not read anything."""

from __future__ import annotations

import re

from mcp_lectern.mentions.printer import write
from mcp_lectern.text.untrusted import single_line

_URI_SHOWN = 2000
"""Characters of a URI that a page shows."""

# The URI may be a stranger's and the line is there to be pasted: nothing that any shell gives a meaning.
_SAFE_TO_PASTE = re.compile(r"[A-Za-z0-9@:/._~+,=-]+")


def unread_page(server: str, uri: str) -> str:
    """Plain text that says what would be read, and how to."""
    shown = single_line(uri, _URI_SHOWN)
    return (
        "Nothing was read yet.\n"
        "\n"
        f"Server: {single_line(server)}\n"
        f"URI:    {shown}\n"
        "\n"
        "Its server does not list this resource (or has not listed anything yet), and following a link is\n"
        "not enough to read such a one. To read it, run the code action “Lectern: Read this resource”\n"
        f"here, or in a terminal{_command(server, uri)}\n"
    )


def unasked_page(server: str, uri: str) -> str:
    """Plain text that says that the server wants to ask something first, and how to let it."""
    return (
        "Nothing was read yet.\n"
        "\n"
        f"Server: {single_line(server)}\n"
        f"URI:    {single_line(uri, _URI_SHOWN)}\n"
        "\n"
        "Its server asks something before it answers. To be asked, and to read it, run the code action\n"
        "“Lectern: Read this resource” here.\n"
    )


def _command(server: str, uri: str) -> str:
    mention = write(server, uri)
    if len(mention) <= _URI_SHOWN and _SAFE_TO_PASTE.fullmatch(mention):
        return f"\nmcp-lectern read '{mention}'"
    return ", with the server and the URI above,\nmcp-lectern read --server SERVER URI"

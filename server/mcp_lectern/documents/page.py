"""The page that stands for a resource which nobody asked to read; must not read anything."""

from __future__ import annotations

from mcp_lectern.mentions.printer import write
from mcp_lectern.text.untrusted import single_line

_URI_SHOWN = 2000
"""Characters of a URI that a page shows."""


def unread_page(server: str, uri: str) -> str:
    """Plain text that says what would be read, and how to."""
    shown = single_line(uri, _URI_SHOWN)
    return (
        "Nothing was read yet.\n"
        "\n"
        f"Server: {single_line(server)}\n"
        f"URI:    {shown}\n"
        "\n"
        "Its server does not list this resource, or has listed nothing yet, and following a link is not\n"
        "enough to read such a one. To read it, run the code action “Lectern: read this resource”, or\n"
        f"mcp-lectern read '{single_line(write(server, uri), _URI_SHOWN)}'\n"
    )

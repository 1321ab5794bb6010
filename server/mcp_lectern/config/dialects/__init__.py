"""One module per configuration host; each knows its own file's shape and variables.

A new host is one new file with a `Dialect`, and its place in `ALL`.
"""

from mcp_lectern.config.dialects.claude import CLAUDE
from mcp_lectern.config.dialects.model import Dialect
from mcp_lectern.config.dialects.reading import Source, read, read_section
from mcp_lectern.config.dialects.vscode import VSCODE

ALL = (VSCODE, CLAUDE)
"""Where two sections of one file name the same server, the dialect that stands first here counts."""

BY_NAME = {dialect.name: dialect for dialect in ALL}

__all__ = ["ALL", "BY_NAME", "CLAUDE", "VSCODE", "Dialect", "Source", "read", "read_section"]

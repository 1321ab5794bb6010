"""Writes a mention so that it reads back as the same server and URI; must not know the catalogue."""

from __future__ import annotations

from mcp_lectern.mentions.grammar import STOP, escape, unbalanced_brackets
from mcp_lectern.mentions.parser import parse


def write(server: str, uri: str) -> str:
    """The mention of ``uri`` on ``server``: bare where that is safe, else quoted.

    Bare is safe where the text alone reads back as the pair, whatever is listed or configured besides, and
    where no bracket stays open: the prose around it may close one.
    """
    bare = f"@{server}:{uri}"
    if _reads_back(bare, server, uri):
        return bare
    name = escape(server).replace(":", r"\:")
    return f'@"{name}:{escape(uri)}"'


def _reads_back(bare: str, server: str, uri: str) -> bool:
    # A stop in the name is allowed by the grammar, but other readers of the text would see two things.
    if STOP.search(server) or next(unbalanced_brackets(uri), None):
        return False
    found = parse(bare, (server,), lambda _server, _uri: False)
    return len(found) == 1 and found[0].end == len(bare) and (found[0].server, found[0].uri) == (server, uri)

"""Writes a mention so that it reads back as the same server and URI; must not know the catalogue."""

from __future__ import annotations

from mcp_lectern.mentions.grammar import STOP, escape, may_be_markup, unbalanced_brackets
from mcp_lectern.mentions.model import Mention
from mcp_lectern.mentions.parser import parse


def write(server: str, uri: str) -> str:
    """The mention of ``uri`` on ``server``: bare where that is safe, else quoted.

    Bare is safe where the text alone reads back as the pair, whatever is listed or configured besides, and
    where no bracket stays open: the prose around it may close one.
    """
    bare = f"@{server}:{uri}"
    if _reads_back(bare, server, uri):
        return bare
    return _quoted(server, uri)


def instead(of: Mention, server: str, uri: str) -> str:
    """The mention of ``uri`` in the place of another one: what is markup at the end of that one stays.

    Of ``**@docs:memo://a**`` the second pair of asterisks was read as a part of the URI; it is needed there.
    """
    behind = "" if of.quoted or not of.uri.startswith(uri) else of.uri[len(uri) :]
    return _quoted(server, uri) + behind if behind and may_be_markup(behind[0]) else write(server, uri)


def _quoted(server: str, uri: str) -> str:
    name = escape(server).replace(":", r"\:")
    return f'@"{name}:{escape(uri)}"'


def _reads_back(bare: str, server: str, uri: str) -> bool:
    # A stop in the name is allowed by the grammar, but other readers of the text would see two things.
    if STOP.search(server) or next(unbalanced_brackets(uri), None):
        return False
    found = parse(bare, (server,), lambda _server, _uri: False)
    return len(found) == 1 and found[0].end == len(bare) and (found[0].server, found[0].uri) == (server, uri)

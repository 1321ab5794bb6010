"""Brings a language server to where everything is listed; must not know what is measured then."""

from __future__ import annotations

from time import monotonic, sleep

from bench.bare_server import ITEMS
from bench.language_server import LanguageServer
from bench.resident import settled

_ENTRIES_A_SECOND = 8_000
"""Less than this, and a listing has failed."""


def begin(server: LanguageServer, count: int = 0, servers: int = 1) -> int:
    """The handshake, a document, and everything listed; the resident bytes before anything was."""
    server.initialize()
    server.open()
    before = settled(server) if count else 0
    if count:
        ready(server, count, servers)
    return before


def ready(server: LanguageServer, count: int, servers: int = 1) -> None:
    """Type an at-sign until everything is listed. Raises RuntimeError where that never comes."""
    patience = 30 + count / _ENTRIES_A_SECOND
    deadline = monotonic() + patience
    while monotonic() < deadline:
        _, items = server.typed("See @")
        _, message = server.request("workspace/executeCommand", {"command": "lectern.servers"})
        listed = [entry["resources"] for entry in message["result"]["servers"]]
        if listed == [count // servers] * servers and len(items) == ITEMS:
            return
        sleep(0.05 * servers)
    state = f"{message}\n{server.last_words()}"
    raise RuntimeError(f"{count} resources were not listed within {patience:g} s: {state}")

"""What a server turned out to be, for its next start: era and transport; must not know how it is reached.

Specification 2026-07-28, basic/versioning: the era belongs to the server, and is asked for again once what
was remembered fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mcp_lectern.config.model import Launch, Remote
from mcp_lectern.mcp.transport.remote import HttpParameters

if TYPE_CHECKING:
    from mcp_lectern.mcp.connect import Connection, Parameters

Preference = Literal["auto", "legacy", "modern", "remembered"]


@dataclass(slots=True)
class Memory:
    """``handshake``: the server speaks no stateless revision; ``older``: it is reached over HTTP+SSE."""

    handshake: bool = False
    older: bool = False

    def learn(self, connection: Connection) -> None:
        """Keep what a connection found out."""
        self.handshake = connection.era == "handshake"
        self.older = connection.transport == "sse"

    def protocol(self, wanted: Preference) -> Preference:
        """The era to speak: no probe where its outcome is known, as long as it holds."""
        return "remembered" if wanted == "auto" and self.handshake else wanted

    def parameters(self, ready: Launch | Remote) -> Parameters:
        """How to start or reach it."""
        if isinstance(ready, Launch):
            from mcp_lectern.mcp.transport.stdio import StdioParameters

            return StdioParameters(ready.command, ready.args, ready.env, ready.cwd)
        kind: Literal["http", "sse"] = "sse" if ready.kind == "sse" or self.older else "http"
        return HttpParameters(ready.url, ready.headers, kind, ready.ca_file, ready.proxy)

"""``lectern.approve``: a person has looked at what ``lectern.servers`` shows of an entry and wants it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.commands.servers import run as servers
from mcp_lectern.lsp.guard import optional_text, text_of

if TYPE_CHECKING:
    from mcp_lectern.hub.hub import Hub
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.approve"


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Approve exactly this fingerprint, and start the server. A stale fingerprint is refused.

    Without a fingerprint nobody has looked at anything yet: the user is shown it all and asked.
    """
    server, fingerprint = text_of(argument, "server"), optional_text(argument, "fingerprint")
    hub = await lectern.hub()
    if fingerprint is None:
        await lectern.approval.ask(server)
    else:
        await lectern.approval.approve(server, fingerprint)
    hub.want((server,))
    # Who approves a server wants it; what it still asks for is not waited for here.
    lectern.spawn(_completed(hub, server), "asking for inputs")
    return await servers(lectern, {})


async def _completed(hub: Hub, server: str) -> None:
    await hub.inputs.give_each((server,))
    hub.want((server,))

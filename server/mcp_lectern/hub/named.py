"""What a mention given to a command means: a server and a URI; must not know who gave it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lectern.hub.failure import refused
from mcp_lectern.mentions.model import Mention
from mcp_lectern.mentions.parser import parse
from mcp_lectern.mentions.printer import write
from mcp_lectern.settings.sentences import quoted

if TYPE_CHECKING:
    from mcp_lectern.hub.hub import Hub


async def named(hub: Hub, text: str) -> tuple[str, str]:
    """The server and URI of a whole mention. An unqualified one waits for every server's list.

    Raises Refused where the text is no mention, or means nothing or more than one thing.
    """
    mention = _whole(hub, text)
    if mention.server is not None:
        return mention.server, mention.uri
    await hub.ensure_listed()
    servers = hub.catalogue.servers_listing(mention.uri)
    if len(servers) == 1:
        return servers[0], mention.uri
    if mention.claimed is not None and not servers:
        hub.link(mention.claimed)
    if servers:
        written = " or ".join(write(server, mention.uri) for server in servers)
        raise refused(
            "ambiguous", f"More than one server lists this resource: write {written}.", uri=mention.uri
        )
    raise refused(
        "unknownResource",
        f"No server lists {mention.uri}. Name the server in front of it, as in @server:{mention.uri}.",
        uri=mention.uri,
    )


def _whole(hub: Hub, text: str) -> Mention:
    # A command's text is the mention and nothing else: no trailing character of it is prose.
    written = text if text.startswith("@") else f"@{text}"
    found = parse(written, hub.catalogue.listings, lambda _server, _uri: True)
    if len(found) == 1 and (found[0].start, found[0].end) == (0, len(written)):
        return found[0]
    subject = quoted(text) if text.strip() else "An empty text"
    raise refused(
        "invalidArgument",
        f'{subject} is no mention. Write @server:uri, or @"server:uri" around white space.',
    )

"""``lectern.complete``: values for one argument of a template, from its server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.guard import invalid, text_of

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.complete"


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """The values as the server wrote them, unencoded; none where it proposes none."""
    server, template = text_of(argument, "server"), text_of(argument, "uriTemplate")
    name, value = text_of(argument, "argument"), argument.get("value", "")
    if not isinstance(value, str):
        raise invalid("“value” must be a string.")
    hub = await lectern.hub()
    work = hub.complete(server, template, name, value, texts_of(argument))
    found = await lectern.progress.shown(f"Asking {server} for values", work)
    return {"values": list(found.values), "hasMore": found.has_more}


def texts_of(argument: Mapping[str, Any]) -> dict[str, str]:
    """The arguments chosen so far. Raises the response error for anything but strings."""
    given = argument.get("arguments")
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(value, str) for value in given.values()):
        raise invalid("“arguments” must be an object whose values are strings.")
    return dict(given)

"""Where a mention leads; must not know how the place is addressed or read."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_lectern.catalogue.model import Catalogue
from mcp_lectern.catalogue.resolve import Known, TemplateMatch, UnknownResource, Waiting, resolve
from mcp_lectern.mentions.model import Mention


@dataclass(frozen=True, slots=True)
class Target:
    """A resource of a server, listed or not."""

    server: str
    uri: str


def target(catalogue: Catalogue, mention: Mention) -> Target | None:
    """The resource that the mention names, or None where it names none for certain.

    A qualified mention leads to its URI even if that is not listed (yet): following it is no permission to
    read it.
    """
    match resolve(catalogue, mention, suggest=False):
        case Known(server, resource):
            return Target(server, resource.uri)
        case TemplateMatch(server, uri, _, _) | UnknownResource(server, uri, _):
            return Target(server, uri)
        case Waiting(server) if server is not None:
            return Target(server, mention.uri)
    return None

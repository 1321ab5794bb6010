"""The mentions of a text that lead somewhere; must not know how the place is addressed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mcp_lectern.catalogue.model import Catalogue
from mcp_lectern.features.definition import target
from mcp_lectern.mentions.model import Mention


@dataclass(frozen=True, slots=True)
class Link:
    """A span of the text (offsets in code points) and the resource it leads to."""

    start: int
    end: int
    server: str
    uri: str


def links(catalogue: Catalogue, mentions: Iterable[Mention]) -> list[Link]:
    """One link for each mention with a target, in order."""
    found = ((mention, target(catalogue, mention)) for mention in mentions)
    return [Link(mention.start, mention.end, aim.server, aim.uri) for mention, aim in found if aim]

"""The mentions of a text that lead somewhere; must not know how the place is addressed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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


def links(catalogue: Catalogue, mentions: Iterable[Mention]) -> Iterator[Link | None]:
    """For each mention with a target a link, for any other a None, in order."""
    for mention in mentions:
        aim = target(catalogue, mention)
        yield Link(mention.start, mention.end, aim.server, aim.uri) if aim else None

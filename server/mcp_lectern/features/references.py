"""The mentions of one resource, however each is written; must not know where texts come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mcp_lectern.catalogue.resolutions import Resolutions
from mcp_lectern.catalogue.resolve import (
    Known,
    Resolution,
    TemplateMatch,
    UnknownResource,
    UnknownServer,
    Waiting,
)
from mcp_lectern.mentions.grammar import escape
from mcp_lectern.mentions.model import Mention

Named = tuple[str, str]
"""A server's name and a URI."""


def named(resolutions: Resolutions, mention: Mention) -> Named | None:
    """What the mention names, listed or not; None where it is prose, or may be one of several."""
    return _named(resolutions.of(mention), mention)


def _named(resolution: Resolution, mention: Mention) -> Named | None:
    match resolution:
        case Known(server, resource):
            return server, resource.uri
        case (
            TemplateMatch(server, uri, _, _) | UnknownResource(server, uri, _) | UnknownServer(server, uri, _)
        ):
            return server, uri
        case Waiting(server) if server is not None:
            return server, mention.uri
    return None


def mentions_of(
    resolutions: Resolutions, wanted: Named, mentions: Iterable[Mention]
) -> Iterator[Mention | None]:
    """For each mention itself, if it names what is wanted, else None."""
    for mention in mentions:
        # What a mention names ends it, and most need not be resolved.
        same = mention.uri.endswith(wanted[1]) and named(resolutions, mention) == wanted
        yield mention if same else None


def may_mention(text: str, wanted: Named) -> bool:
    """Whether a text can hold a mention of it; far cheaper than reading it."""
    if "@" not in text:
        return False
    uri = wanted[1]
    return uri in text or escape(uri) in text or ('@"' in text and "\\" in text)

"""What the parts of mentions are, for highlighting; must not know how an editor encodes or draws it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mcp_lectern.catalogue.resolutions import Resolutions
from mcp_lectern.catalogue.resolve import (
    Ambiguous,
    NotAMention,
    Resolution,
    UnknownResource,
    UnknownServer,
    Waiting,
)
from mcp_lectern.mentions.model import Mention

TYPES = ("namespace", "string")
MODIFIERS = ("unresolved",)

Verdict = tuple[bool, bool] | None
"""Whether the server, and whether the URI, leads nowhere; None for prose."""


@dataclass(frozen=True, slots=True)
class Token:
    """A span of the text (offsets in code points). ``kind`` is one of ``TYPES``."""

    start: int
    end: int
    kind: str
    unresolved: bool


def tokens(resolutions: Resolutions, mentions: Iterable[Mention]) -> Iterator[Token | None]:
    """The parts in the order of the text, and a None behind each mention to pause at.

    Nothing is unresolved before somebody may know better.
    """
    for mention in mentions:
        verdict = _verdict(resolutions.of(mention))
        if verdict is not None:
            yield from _parts(mention, *verdict)
        yield None


def _verdict(resolution: Resolution) -> Verdict:
    match resolution:
        case NotAMention() | Waiting(None):
            return None
        case UnknownServer():
            return True, True
        case UnknownResource() | Ambiguous():
            return False, True
    return False, False


def _parts(mention: Mention, server_unresolved: bool, uri_unresolved: bool) -> Iterator[Token]:
    server, (start, end) = mention.server_span, mention.uri_span
    # What reads like "@nosuch:memo://a" is shown in two parts only where it means nothing else.
    if server is None and server_unresolved and mention.claimed_span is not None:
        server = mention.claimed_span
        start = server[1] + 1
    if server is not None and server[0] < server[1]:
        yield Token(*server, "namespace", server_unresolved)
    if start < end:
        yield Token(start, end, "string", uri_unresolved)

"""What is wrong with the mentions of a text; must not know how it is shown, and never asks a server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mcp_lectern.catalogue.model import Catalogue
from mcp_lectern.catalogue.resolutions import Resolutions
from mcp_lectern.catalogue.resolve import (
    Ambiguous,
    Known,
    Resolution,
    TemplateMatch,
    UnknownResource,
    UnknownServer,
)
from mcp_lectern.mentions.model import Mention
from mcp_lectern.mentions.printer import instead, write
from mcp_lectern.text.untrusted import single_line

Unreadable = Mapping[tuple[str, str], str]
"""Server and URI of reads that failed since, each with a sentence that says how."""

MOST_DIAGNOSTICS = 1000
MOST_SUGGESTED = 10
"""So many different mentions of one text get a did-you-mean: each may cost some milliseconds."""
_SHOWN = 120
_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A remark on a span of the text (offsets in code points). ``severity``: ``warning`` or ``information``.

    ``code`` is a kind of contract 6. ``data["suggestions"]`` holds mentions that may stand there instead.
    """

    start: int
    end: int
    severity: str
    code: str
    message: str
    data: Mapping[str, object]


def diagnostics(
    catalogue: Catalogue, mentions: Iterable[Mention], unreadable: Unreadable
) -> list[Diagnostic]:
    """The remarks in the order of the text; none on what no complete listing speaks about."""
    found = remarks(Resolutions(catalogue), mentions, unreadable)
    return [one for one in found if one is not None]


def remarks(
    resolutions: Resolutions, mentions: Iterable[Mention], unreadable: Unreadable
) -> Iterator[Diagnostic | None]:
    """The same one after the other, and a None behind each mention to pause at."""
    found = 0
    judged: dict[tuple[str | None, str, bool], tuple[str, str, str, list[str]] | None] = {}
    suggested = 0
    for mention in mentions:
        key = (mention.server, mention.uri, mention.quoted)
        if key not in judged:
            resolution = resolutions.of(mention)
            if isinstance(resolution, UnknownResource | UnknownServer) and suggested < MOST_SUGGESTED:
                suggested += 1
                resolution = resolutions.of(mention, suggest=True)
            judged[key] = _judged(resolutions.catalogue, resolution, mention, unreadable)
        verdict = judged[key]
        if verdict is not None and found < MOST_DIAGNOSTICS:
            severity, code, message, suggestions = verdict
            data = {"suggestions": suggestions}
            yield Diagnostic(mention.start, mention.end, severity, code, message, data)
            found += 1
        yield None


def _judged(
    catalogue: Catalogue, resolution: Resolution, mention: Mention, unreadable: Unreadable
) -> tuple[str, str, str, list[str]] | None:
    """Severity, code, message and suggestions, or None where nothing is wrong."""
    uri = mention.uri
    match resolution:
        case UnknownServer(name, rest, servers):
            message = f"No server {_quoted(name)} is configured.{_did_you_mean(servers)}"
            return "warning", "unknownServer", message, [write(server, rest) for server in servers]
        case UnknownResource(server, _, near):
            message = f"Server {_quoted(server)} does not list {_quoted(uri)}.{_did_you_mean(near)}"
            return "warning", "unknownResource", message, [instead(mention, server, other) for other in near]
        case Ambiguous(servers) if all(catalogue.listings[server].listed for server in servers):
            names = ", ".join(_enumerated(servers))
            message = f"Several servers have this URI: {names}. Name the one that is meant."
            return "warning", "ambiguous", message, [write(server, uri) for server in servers[:_NAMES_SHOWN]]
        case Known(server, resource) if why := unreadable.get((server, resource.uri)):
            return "information", "unreadable", single_line(why, 400), []
        case TemplateMatch(server, _, _, _) if why := unreadable.get((server, uri)):
            return "information", "unreadable", single_line(why, 400), []
    return None


def _quoted(text: str) -> str:
    return f"“{single_line(text, _SHOWN)}”"


def _enumerated(names: tuple[str, ...]) -> Iterator[str]:
    yield from map(_quoted, names[:_NAMES_SHOWN])
    if len(names) > _NAMES_SHOWN:
        yield f"and {len(names) - _NAMES_SHOWN} more"


def _did_you_mean(suggestions: tuple[str, ...]) -> str:
    return f" Did you mean {' or '.join(map(_quoted, suggestions))}?" if suggestions else ""

"""What can be done about a mention, as plain data; must not know how it is offered, and does nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcp_lectern.catalogue.resolve import (
    Ambiguous,
    Known,
    Resolution,
    TemplateMatch,
    UnknownResource,
    UnknownServer,
    Waiting,
)
from mcp_lectern.features.describe import label
from mcp_lectern.mentions.model import Mention
from mcp_lectern.mentions.printer import instead, write
from mcp_lectern.text.untrusted import single_line

MOST_REPLACEMENTS = 10
_NAME, _SHOWN = 60, 120

_BY_STATE = {
    "notTrusted": ("Approve {}…", "lectern.approve"),
    "needsSignIn": ("Sign in to {}", "lectern.signIn"),
    "idle": ("Start {}", "lectern.restart"),
    "stopped": ("Start {}", "lectern.restart"),
    "failed": ("Start {} again", "lectern.restart"),
    "backingOff": ("Start {} again", "lectern.restart"),
    "ready": ("Refresh {}", "lectern.refresh"),
}


@dataclass(frozen=True, slots=True)
class Replacement:
    """Another text for the mention; ``fixes`` is the code of the diagnostic that goes with it."""

    title: str
    text: str
    fixes: str


@dataclass(frozen=True, slots=True)
class Doing:
    """A server command with its argument."""

    title: str
    command: str
    argument: Mapping[str, str]


def actions(mention: Mention, resolution: Resolution, states: Mapping[str, str]) -> list[Replacement | Doing]:
    """The most likely wish first. ``resolution`` holds suggestions; ``states`` are the servers' by name."""
    found: list[Replacement | Doing] = [*_replacements(mention, resolution)]
    server, uri = _aim(mention, resolution)
    if server is not None:
        if uri is not None:
            found.append(Doing("Lectern: Open this resource", "lectern.open", {"server": server, "uri": uri}))
        title, command = _BY_STATE.get(states.get(server, ""), ("", ""))
        if command:
            shown = f"Lectern: {title.format(label(server, _NAME))}"
            found.append(Doing(shown, command, {"server": server}))
    return found


def _replacements(mention: Mention, resolution: Resolution) -> list[Replacement]:
    match resolution:
        case UnknownServer(_, uri, servers):
            texts, code = [write(server, uri) for server in servers], "unknownServer"
        case UnknownResource(server, _, near):
            texts, code = [instead(mention, server, other) for other in near], "unknownResource"
        case Ambiguous(servers):
            texts, code = [write(server, mention.uri) for server in servers], "ambiguous"
        case _:
            return []
    texts = texts[:MOST_REPLACEMENTS]
    return [Replacement(f"Write {single_line(text, _SHOWN)}", text, code) for text in texts]


def _aim(mention: Mention, resolution: Resolution) -> tuple[str | None, str | None]:
    """The server that the mention is about, and the resource that can be opened."""
    match resolution:
        case Known(server, resource):
            return server, resource.uri
        case TemplateMatch(server, uri, _, _) | UnknownResource(server, uri, _):
            return server, uri
        case Waiting(server) if server is not None:
            return server, mention.uri
    return None, None

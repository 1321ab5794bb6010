"""What a mention is, in Markdown, from what is known already; must not cause any I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from mcp_lectern.catalogue.model import Catalogue
from mcp_lectern.catalogue.resolve import (
    Ambiguous,
    Known,
    TemplateMatch,
    UnknownResource,
    UnknownServer,
    Waiting,
    resolve,
)
from mcp_lectern.features.describe import DESCRIPTION_LIMIT, described, escaped, preview
from mcp_lectern.mentions.model import Mention
from mcp_lectern.mentions.printer import instead, write
from mcp_lectern.text.untrusted import code_span

Preview = Callable[[str, str], str | None]
"""The text of a server's URI if it is at hand, else None."""

_ARGUMENTS_SHOWN = 10


def hover(
    catalogue: Catalogue,
    mention: Mention,
    preview_of: Preview,
    states: Mapping[str, str],
    troubles: Mapping[str, str] = MappingProxyType({}),
) -> str | None:
    """Markdown, or None where the mention is prose.

    ``states`` are the servers' states by name, ``troubles`` what went wrong with those that have any.
    """
    found = resolve(catalogue, mention)
    match found:
        case Known(server, resource):
            content = preview_of(server, resource.uri)
            shown = described(server, resource)
            return f"{shown}\n\n{preview(content)}" if content else shown
        case TemplateMatch():
            return _template_match(found)
        case Ambiguous(servers):
            return _ambiguous(servers, mention.uri)
        case UnknownServer(name, _, suggestions):
            return _with_suggestions(f"No server {code_span(name)} is configured.", suggestions)
        case UnknownResource(server, uri, suggestions):
            text = f"{escaped(server)} does not list {code_span(uri)}."
            return _with_suggestions(text, [instead(mention, server, near) for near in suggestions])
        case Waiting(server, undecided=True) if server is not None:
            return f"It takes too long to find out whether a template of {escaped(server)} makes this URI."
        case Waiting(server) if server is not None:
            return _waiting(catalogue, server, states.get(server, "idle"), troubles.get(server, ""))
    return None


def _template_match(found: TemplateMatch) -> str:
    shown = described(found.server, found.template)
    arguments = list(found.arguments.items())[:_ARGUMENTS_SHOWN]
    lines = [f"- {code_span(name)}: {code_span(_value(value))}" for name, value in arguments]
    return "\n\n".join([shown, *(["\n".join(lines)] if lines else [])])


def _value(value: str | list[str] | dict[str, str]) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={member}" for name, member in value.items())
    return value if isinstance(value, str) else ", ".join(value)


def _ambiguous(servers: tuple[str, ...], uri: str) -> str:
    names = ", ".join(map(escaped, servers))
    choices = "\n".join(f"- {code_span(write(server, uri))}" for server in servers)
    return f"Several servers have this URI: {names}. Write one of:\n\n{choices}"


def _with_suggestions(text: str, suggestions: tuple[str, ...] | list[str]) -> str:
    if not suggestions:
        return text
    return f"{text} Did you mean {' or '.join(map(code_span, suggestions))}?"


def _waiting(catalogue: Catalogue, server: str, state: str, trouble: str) -> str:
    name = escaped(server)
    if state == "notTrusted":
        return f"{name} needs your approval before it may start."
    if state == "needsSignIn":
        return f"{name} needs you to sign in."
    if state in {"failed", "backingOff"}:
        why = escaped(trouble, DESCRIPTION_LIMIT)
        return f"{name} failed to start.\n\n{why}" if why else f"{name} failed to start; its log says why."
    listing = catalogue.listings[server]
    if listing.listed:
        return f"This part of {name}'s list is not known: {escaped(listing.partial or '')}"
    return f"{name} has not listed its resources yet."

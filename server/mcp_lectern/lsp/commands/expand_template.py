"""``lectern.expandTemplate``: the URI that a template and its arguments make; starts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.guard import invalid, text_of

if TYPE_CHECKING:
    from mcp_lectern.catalogue.template_expand import Value
    from mcp_lectern.lsp.server import Lectern

NAME = "lectern.expandTemplate"


async def run(lectern: Lectern, argument: Mapping[str, Any]) -> dict[str, Any]:
    """RFC 6570; an argument is a string, a list or an object of strings, and a missing one is left out."""
    from mcp_lectern.catalogue.template import Template, Unusable

    server, text = text_of(argument, "server"), text_of(argument, "uriTemplate")
    (await lectern.hub()).link(server)
    template = Template.parse(text)
    if isinstance(template, Unusable):
        raise invalid(f"This template cannot be filled in: {template.reason}")
    return {"uri": template.expand(_values(argument.get("arguments")))}


def _values(given: Any) -> dict[str, Value]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(_is_value(value) for value in given.values()):
        raise invalid(
            "“arguments” must be an object whose values are strings, or lists or objects of strings."
        )
    return dict(given)


def _is_value(value: Any) -> bool:
    members = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return isinstance(value, (str, list, Mapping)) and all(isinstance(each, str) for each in members)

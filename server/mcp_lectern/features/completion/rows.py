"""Makes one row of each thing that completion offers; must not know what else is offered.

This runs a hundred times for every letter that is typed.
"""

from __future__ import annotations

from mcp_lectern.catalogue.template import Template
from mcp_lectern.features.completion.model import Item, Kind
from mcp_lectern.features.completion.notices import Remark
from mcp_lectern.features.completion.values import Standing
from mcp_lectern.features.describe import DESCRIPTION_LIMIT, escaped, label, title_of
from mcp_lectern.mcp.wire.resources import Resource, ResourceTemplate
from mcp_lectern.mentions.printer import write

_FILTERED = 200
"""Characters of each field that a client's own filter sees."""


class Rows:
    """Numbers the rows as they are asked for; ``covered`` is the text that they replace."""

    def __init__(self, covered: str) -> None:
        self._covered = covered
        self._next = 0

    def resource(self, server: str, resource: Resource) -> Item:
        """A resource, written so that it reads back as the same one."""
        return self._row(server, resource, resource.uri, Kind.RESOURCE, write(server, resource.uri))

    def template(self, server: str, entry: ResourceTemplate, template: Template) -> Item:
        """A template up to its first variable; one without variables is as good as a resource."""
        whole = not template.variables
        text = write(server, template.text) if whole else open_mention(server, template.start)
        row = self._row(server, entry, entry.uri_template, Kind.TEMPLATE, text)
        row.unfinished = not whole
        return row

    def server(self, name: str) -> Item:
        """A server: narrows the list to what it has."""
        shown = label(name)
        return Item(
            label=f"{shown}:",
            detail="",
            description="server",
            kind=Kind.SERVER,
            insert_text=open_mention(name, ""),
            filter_text=f"{self._covered} {name[:_FILTERED]}",
            sort_text=self._number(),
            server=name,
            unfinished=True,
        )

    def value(self, standing: Standing, value: str) -> Item:
        """A value for the variable, and the text up to the next one."""
        uri, whole = standing.place.continued(value)
        server, entry = standing.server, standing.entry
        return Item(
            label=label(value) or label(repr(value)),
            detail="",
            description=f"{label(server)} · {label(standing.place.variable.name)} of {title_of(entry)}",
            kind=Kind.VALUE,
            insert_text=write(server, uri) if whole else open_mention(server, uri),
            filter_text=f"{self._covered} {value[:_FILTERED]}",
            sort_text=self._number(),
            server=server,
            uri=entry.uri_template,
            unfinished=not whole,
        )

    def notice(self, remark: Remark) -> Item:
        """A remark about a server that cannot answer now; accepting it changes nothing in the text."""
        return Item(
            label=label(remark.text),
            detail="",
            description="",
            kind=Kind.NOTICE,
            insert_text=self._covered,
            filter_text=self._covered,
            sort_text=self._number(),
            server=remark.server,
            action=remark.action,
            documentation=escaped(remark.why, DESCRIPTION_LIMIT),
        )

    def _row(
        self, server: str, entry: Resource | ResourceTemplate, uri: str, kind: Kind, insert_text: str
    ) -> Item:
        title, name = title_of(entry), label(entry.name)
        origin = label(server)
        return Item(
            label=title or name or label(uri),
            detail="" if name in ("", title) else f"  {name}",
            description=f"{origin} · {label(entry.mime_type)}" if entry.mime_type else origin,
            kind=kind,
            insert_text=insert_text,
            filter_text=f"{self._covered} {name} {title} {origin} {uri[:_FILTERED]}",
            sort_text=self._number(),
            server=server,
            uri=uri,
        )

    def _number(self) -> str:
        self._next += 1
        return f"{self._next:05}"


def open_mention(server: str, beginning: str) -> str:
    """A mention of the server whose URI begins so and is still to be typed: a quote stays open.

    >>> open_mention("docs", "memo://"), open_mention("my docs", "memo://")
    ('@docs:memo://', '@"my docs:memo://')
    """
    # Some letter stands for what will be typed, so that the usual rules decide about the quotes.
    written = write(server, beginning + "x")
    return written[: -2 if written.endswith('"') else -1]

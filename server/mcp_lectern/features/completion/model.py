"""What a completion answers with, as plain data; must not know the protocol that carries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from mcp_lectern.features.completion.values import Question


class Kind(Enum):
    """What an item stands for; the client's icon follows from it."""

    RESOURCE = "resource"
    TEMPLATE = "template"
    SERVER = "server"
    VALUE = "value"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Action:
    """A server command that accepting the item runs."""

    command: str
    title: str
    argument: Mapping[str, str]


@dataclass(slots=True)
class Item:
    """One row. ``detail`` stands right behind the label, ``description`` at the row's end.

    ``insert_text`` replaces the answer's span. ``unfinished``: accepting it leaves a mention to be completed
    further, so the list should open again. ``uri`` is a resource's URI or a template's text, with ``server``
    the key by which its documentation is found again; ``documentation``, in Markdown, is that of other rows.
    """

    label: str
    detail: str
    description: str
    kind: Kind
    insert_text: str
    filter_text: str
    sort_text: str
    server: str
    uri: str = ""
    unfinished: bool = False
    action: Action | None = None
    documentation: str = ""

    @property
    def accepts_resource(self) -> bool:
        """Whether accepting it mentions a resource, whole."""
        return self.kind is Kind.RESOURCE


@dataclass(frozen=True, slots=True)
class CompletionAnswer:
    """The rows, and the span of the text (offsets in code points) that accepting one replaces.

    ``questions`` are what servers could say about the variable that stands here.
    It is always incomplete: an editor that filters a remembered list does so by rules of its own.
    """

    items: tuple[Item, ...]
    start: int
    end: int
    incomplete: bool = True
    questions: tuple[Question, ...] = ()

    @property
    def at_hand(self) -> bool:
        """Whether there is anything to choose that a template does not only begin."""
        return any(item.kind in (Kind.RESOURCE, Kind.VALUE, Kind.SERVER) for item in self.items)

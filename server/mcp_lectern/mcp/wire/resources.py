"""The resource types of the wire, as every layer above uses them; must not know how they arrive.

Specification 2026-07-28, server/resources. A URI here is an opaque string: it goes back as it came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Annotations:
    """Hints of the server. ``priority`` lies in 0..1; ``last_modified`` is the server's own text."""

    audience: tuple[str, ...] = ()
    priority: float | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class Resource:
    """One entry of ``resources/list``. ``name`` is never empty: a missing one becomes title, then URI.

    ``mime_type`` is as the server wrote it (control characters removed), ``size`` is in bytes.
    """

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None


@dataclass(frozen=True, slots=True)
class ResourceTemplate:
    """One entry of ``resources/templates/list``; ``uri_template`` is opaque, RFC 6570 is the catalogue's."""

    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    annotations: Annotations | None = None


@dataclass(frozen=True, slots=True)
class TextItem:
    """One text item of a read's ``contents``; ``uri`` is the item's own, or None where it has none."""

    uri: str | None
    mime_type: str | None
    text: str


@dataclass(frozen=True, slots=True)
class BlobItem:
    """One binary item of a read's ``contents``, decoded; ``data`` holds exactly the server's bytes."""

    uri: str | None
    mime_type: str | None
    data: bytes


@dataclass(frozen=True, slots=True)
class UnreadableItem:
    """An item that could not be decoded; ``reason`` is a sentence that says why."""

    uri: str | None
    mime_type: str | None
    reason: str


Item = TextItem | BlobItem | UnreadableItem


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The whole ``contents`` of one read, in order. ``ttl_ms`` is 0 where absent or unusable.

    ``notes`` are sentences about what was tolerated (an item with both text and blob, say). ``answered``:
    more than the URI went into it, as a person's answers do. ``unasked``: a question that came with it was
    put away unseen, since nobody had asked for the read. ``stale`` is a sentence that says why this is an
    older result, served since a new one could not be had.
    """

    items: tuple[Item, ...]
    ttl_ms: int = 0
    cache_scope: str = "private"
    notes: tuple[str, ...] = ()
    answered: bool = False
    unasked: bool = False
    stale: str | None = None


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """All pages of one list, in order, each key once (the first wins).

    ``partial`` is a sentence that says why the walk was cut short, None for a whole list.
    ``notes`` say what was left out or repaired. ``ttl_ms`` is the smallest of all pages, 0 = none.
    """

    entries: Sequence[T]
    partial: str | None = None
    notes: tuple[str, ...] = ()
    ttl_ms: int = 0

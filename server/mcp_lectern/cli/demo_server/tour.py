"""What the sample server lists and what a read of it returns; must not know JSON-RPC or a transport.

Contents are made on each read, so that the clock can tell the time of the read.
"""

from __future__ import annotations

import base64
import json
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from mcp_lectern.cli.demo_server import picture

CLOCK = "tour://clock"
JOURNAL = "tour://journal/"
WRITTEN = "2026-11-30T09:00:00Z"

Contents = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Moment:
    """What the moving resources depend on: the wall clock, and how often each has moved."""

    now: str
    ticks: int = 0
    journal_entries: int = 0


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One listed resource: its descriptor as the wire has it, and how its contents are made."""

    descriptor: dict[str, Any]
    contents: Callable[[Moment], Contents]
    moves: bool = False


@cache
def page(file: str) -> str:
    """The text of a file in ``pages``."""
    data = pkgutil.get_data(__package__ or "", f"pages/{file}")
    if data is None:
        raise FileNotFoundError(file)
    return data.decode().replace("\r\n", "\n")


def text_item(uri: str, mime_type: str, text: str) -> dict[str, Any]:
    """One text item of ``contents``."""
    return {"uri": uri, "mimeType": mime_type, "text": text}


def blob_item(uri: str, mime_type: str, data: bytes) -> dict[str, Any]:
    """One binary item of ``contents``."""
    return {"uri": uri, "mimeType": mime_type, "blob": base64.b64encode(data).decode()}


def _page(
    uri: str, file: str, title: str, description: str, mime_type: str, *, priority: float = 0.5
) -> Exhibit:
    descriptor = {
        "uri": uri,
        "name": file,
        "title": title,
        "description": description,
        "mimeType": mime_type,
        "size": len(page(file).encode()),
        "annotations": {"audience": ["user", "assistant"], "priority": priority, "lastModified": WRITTEN},
    }
    return Exhibit(descriptor, lambda _moment: [text_item(uri, mime_type, page(file))])


def _picture() -> Exhibit:
    data = picture.png()
    icon = base64.b64encode(picture.png(1)).decode()
    descriptor = {
        "uri": "tour://picture",
        "name": "lectern.png",
        "title": "A lectern, in pixels",
        "description": "An image: it opens in the editor's own image viewer, or as a private read-only file.",
        "mimeType": "image/png",
        "size": len(data),
        "annotations": {"audience": ["user"], "priority": 0.6, "lastModified": WRITTEN},
        "icons": [{"src": f"data:image/png;base64,{icon}", "mimeType": "image/png", "sizes": ["32x26"]}],
    }
    return Exhibit(descriptor, lambda _moment: [blob_item("tour://picture", "image/png", data)])


def _parcel_contents(_moment: Moment) -> Contents:
    letter = (
        "# A letter\n\nOne resource may bring several items. This parcel has a letter, a list and a stamp.\n"
    )
    inventory = {"letter": "Markdown", "inventory": "JSON", "stamp": "image"}
    return [
        text_item("tour://parcel/letter.md", "text/markdown", letter),
        text_item("tour://parcel/inventory.json", "application/json", json.dumps(inventory, indent=2) + "\n"),
        blob_item("tour://parcel/stamp.png", "image/png", picture.png(2)),
    ]


def _parcel() -> Exhibit:
    descriptor = {
        "uri": "tour://parcel",
        "name": "parcel",
        "title": "A parcel with three items",
        "description": "A letter, a list and a stamp in one read: it opens as an index that links them.",
        "annotations": {"audience": ["user"], "priority": 0.4, "lastModified": WRITTEN},
    }
    return Exhibit(descriptor, _parcel_contents)


def _clock_contents(moment: Moment) -> Contents:
    times = "once" if moment.ticks == 1 else f"{moment.ticks} times"
    text = (
        f"It is {moment.now}.\n\nThis resource has changed {times} since the server started. An editor that "
        "has it open\nis told so, and shows the new text without being asked.\n"
    )
    return [text_item(CLOCK, "text/plain", text)]


def _clock() -> Exhibit:
    descriptor = {
        "uri": CLOCK,
        "name": "clock.txt",
        "title": "The clock on the wall",
        "description": "Changes every few seconds, and can be subscribed to.",
        "mimeType": "text/plain",
        "annotations": {"audience": ["user"], "priority": 0.3},
    }
    return Exhibit(descriptor, _clock_contents, moves=True)


def journal(number: int) -> Exhibit:
    """The journal's page of this number; pages are added while the server runs, if it was told to."""
    uri = f"{JOURNAL}{number}"
    text = f"Journal, page {number}\n\nThis page was not listed when the server started.\n"
    descriptor = {
        "uri": uri,
        "name": f"journal-{number}.txt",
        "title": f"Journal, page {number}",
        "description": "A page that came later; the server said that its list had changed.",
        "mimeType": "text/plain",
        "size": len(text),
    }
    return Exhibit(descriptor, lambda _moment: [text_item(uri, "text/plain", text)])


@cache
def exhibits() -> dict[str, Exhibit]:
    """The tour in the order in which it is listed, by URI."""
    markdown, plain = "text/markdown", "text/plain"
    rooms = [
        _page("tour://welcome", "welcome.md", "Welcome to Lectern", "Start here.", markdown, priority=1.0),
        _page(
            "tour://mentions", "mentions.md", "How a mention is written",
            "Bare, quoted and unqualified, and what stays prose.", markdown, priority=0.9,
        ),
        _page(
            "tour://editors", "editors.md", "The same four gestures everywhere",
            "Complete, hover, follow, open.", markdown, priority=0.8,
        ),
        _page(
            "tour://trust", "trust.md", "Trust and privacy",
            "What Lectern starts, reads and keeps, and what it never does.", markdown, priority=0.8,
        ),
        _picture(),
        _parcel(),
        _clock(),
        _page(
            "tour://reading-list", "reading-list.txt", "A reading list",
            "Plain text, and it stays plain.", plain,
        ),
        _page(
            "tour://example/mcp.json", "mcp.json", "An mcp.json to start from",
            "This server's own entry, to copy.", "application/json",
        ),
        _page(
            "tour://rooms", "rooms.csv", "The rooms of the house", "A small table.",
            "text/csv", priority=0.2,
        ),
        _page(
            "tour://a page with spaces", "spaces.md", "A page with spaces in its URI",
            "Its mention is written in quotes.", markdown, priority=0.2,
        ),
    ]  # fmt: skip
    return {room.descriptor["uri"]: room for room in rooms}

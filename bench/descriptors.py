"""The made-up resources that everything is measured with; stdlib only, and always the same ones.

They hold what ``queries.txt`` asks for: words, titles, path pieces, names in camelCase, and ids.
"""

from __future__ import annotations

from string import ascii_lowercase
from typing import Any

KINDS = 5
AREAS = ("docs/guide", "docs/guide/api", "src/tests", "guides/intro", "handbook")
TOPICS = ("Getting Started", "Reading and writing", "Catalogue template", "Alpha beta", "Release notes")


def descriptor(number: int) -> dict[str, Any]:
    """One entry of ``resources/list`` with all that a good server says about it."""
    name, uri, mime_type = _address(number)
    topic = TOPICS[number // KINDS % len(TOPICS)]
    return {
        "uri": uri,
        "name": name,
        "title": f"{topic} {number}",
        "description": f"What {topic.lower()} number {number} is about, in a short sentence",
        "mimeType": mime_type,
        "size": 100 + number,
        "annotations": {"audience": ["user"], "priority": number % 11 / 10},
    }


def _address(number: int) -> tuple[str, str, str]:
    """Name, URI and type."""
    area = AREAS[number // 7 % len(AREAS)]
    match number % KINDS:
        case 0:
            return f"readme-{number}.md", f"file:///home/user/{area}/readme-{number}.md", "text/markdown"
        case 1:
            return f"getHTMLParser{number}", f"code://{area}/getHTMLParser{number}", "text/x-python"
        case 2:
            return f"{area}/part-{number}", f"made://{area}/part-{number}", "text/plain"
        case 3:
            return f"gettingStarted{number}.md", f"notes://gettingStarted{number}.md", "text/markdown"
        case _:
            return _ticket(number), f"tracker://items/item-{number}", "application/json"


def _ticket(number: int) -> str:
    """An id as trackers give them: ``aa-149``."""
    first, second = divmod(number // 1000 % 676, 26)
    return f"{ascii_lowercase[first]}{ascii_lowercase[second]}-{number % 1000}"

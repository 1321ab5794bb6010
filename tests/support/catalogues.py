"""Made-up lists of resources, of any length and always the same; must not know what is tested with them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import lru_cache

from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import Catalogue, ServerListing
from mcp_lectern.mcp.wire.resources import Resource, ResourceTemplate

FOLDERS = ("docs", "guide", "src", "api", "tests", "reference", "handbook", "notes", "projects", "design")
WORDS = (
    *(
        "alpha",
        "beta",
        "gamma",
        "delta",
        "getting",
        "started",
        "index",
        "intro",
        "readme",
        "server",
        "client",
    ),
    *("transport", "session", "catalogue", "mention", "parser", "cursor", "printer", "resource", "template"),
)


def identifier(number: int) -> str:
    """``aa-0`` to ``aa-999``, then ``ab-0`` and so on: unique below 676,000."""
    pair, within = divmod(number, 1000)
    return f"{chr(97 + pair // 26)}{chr(97 + pair % 26)}-{within}"


def files(count: int) -> list[Resource]:
    """Resources that look like files of a big project."""
    choose = random.Random(1)
    return [_file(choose, number) for number in range(count)]


def _file(choose: random.Random, number: int) -> Resource:
    first, second, third = choose.choices(WORDS, k=3)
    folder = "/".join(choose.choices(FOLDERS, k=3))
    return Resource(
        uri=f"file:///home/user/{folder}/{first}-{second}-{third}-{identifier(number)}.md",
        name=f"{first}{second.title()} {identifier(number)}",
        title=f"{first} {second} {third} {number}".title(),
        description=f"A page about {first}, {second} and {third}",
        mime_type="text/markdown",
    )


@lru_cache(maxsize=2)
def big_index(count: int) -> ServerIndex:
    """The index of ``files(count)`` under the server name ``files``; built once."""
    return ServerIndex.of(ServerListing.of("files", files(count)))


def named(*names: str) -> list[Resource]:
    """Resources that have a name and, made of it, a URI."""
    return [Resource(f"res://{number}", name) for number, name in enumerate(names)]


def listing(
    server: str,
    resources: Iterable[Resource | str] = (),
    templates: Iterable[str] = (),
    *,
    listed: bool = True,
) -> ServerListing:
    """A listing in which a plain text stands for a URI that is its own name."""
    entries = [Resource(entry, entry) if isinstance(entry, str) else entry for entry in resources]
    return ServerListing.of(server, entries, [ResourceTemplate(t, t) for t in templates], listed=listed)


def catalogue(*listings: ServerListing) -> Catalogue:
    """A snapshot of these."""
    return Catalogue({one.server: one for one in listings})

"""``mcp-lectern read``: the content of one resource; must not decide what a type means."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_lectern.cli.layout import in_utf8, write_text
from mcp_lectern.cli.program import DONE, FAILED, USAGE, CommandError
from mcp_lectern.cli.running import Running, note, print_json, run_with_hub
from mcp_lectern.documents.media import decoded, display, effective_type
from mcp_lectern.features.describe import size_shown
from mcp_lectern.hub.named import named
from mcp_lectern.mcp.wire.resources import Item, UnreadableItem
from mcp_lectern.text.untrusted import single_line


def run(arguments: argparse.Namespace) -> int:
    """Prints the content, or writes it to ``--out``; 1 where it cannot be read."""
    return run_with_hub(arguments, lambda running: _read(running, arguments))


@dataclass(frozen=True, slots=True)
class Content:
    """One item as it is printed: ``data`` is text, bytes, or None where it cannot be read (``reason``)."""

    uri: str
    mime_type: str | None
    data: str | bytes | None
    reason: str = ""

    @property
    def size(self) -> int:
        """The size in bytes, of text as UTF-8."""
        return len(self.encoded())

    def encoded(self) -> bytes:
        """The bytes that a file gets."""
        return in_utf8(self.data) if isinstance(self.data, str) else self.data or b""

    def described(self) -> str:
        """The type in brackets, if there is one."""
        return f" ({display(self.mime_type)})" if self.mime_type else ""

    def to_json(self) -> dict[str, Any]:
        """Text in full; of bytes, the size alone."""
        shared = {"uri": self.uri} | ({"mimeType": self.mime_type} if self.mime_type else {})
        if self.data is None:
            return {**shared, "error": self.reason}
        if isinstance(self.data, bytes):
            return {**shared, "kind": "binary", "size": self.size}
        return {**shared, "kind": "text", "size": self.size, "text": self.data}


async def _read(running: Running, arguments: argparse.Namespace) -> int:
    if arguments.json and arguments.out:
        raise CommandError("--json and --out exclude each other.", USAGE)
    if arguments.server is not None:
        running.entry(arguments.server)
        server, uri = arguments.server, arguments.mention
    else:
        server, uri = await named(running.hub, arguments.mention)
    result = await running.hub.read(server, uri, asked=True)
    for remark in result.notes:
        note(remark)
    listed = await _listed_type(running, server, uri, result.items)
    contents = [_content(item, uri, listed) for item in result.items]
    if arguments.json:
        print_json({"server": server, "uri": uri, "items": [content.to_json() for content in contents]})
    elif arguments.out is not None:
        _write(arguments.out, contents)
    else:
        _print(contents)
    return FAILED if any(content.data is None for content in contents) else DONE


async def _listed_type(running: Running, server: str, uri: str, items: Sequence[Item]) -> str | None:
    """The type in the server's list, which is waited for only where an item has none of its own."""
    if any(item.mime_type is None for item in items):
        await running.hub.ensure_listed([server])
    resource = running.hub.catalogue.resource(server, uri)
    return resource.mime_type if resource else None


def _content(item: Item, uri: str, listed: str | None) -> Content:
    reason = item.reason if isinstance(item, UnreadableItem) else ""
    return Content(item.uri or uri, effective_type(item, listed), decoded(item, listed), reason)


def _print(contents: Sequence[Content]) -> None:
    if not contents:
        note("The resource is empty: its server sent no content.")
    elif len(contents) == 1:
        _print_one(contents[0])
    else:
        for content in contents:
            _print_part(content)


def _print_one(content: Content) -> None:
    if content.data is None:
        note(content.reason)
    elif isinstance(content.data, bytes):
        what = f"The content is binary{content.described()}, {size_shown(content.size)}"
        raise CommandError(f"{what}: write it to a file with --out PATH.")
    else:
        write_text(content.data)


def _print_part(content: Content) -> None:
    write_text(f"--- {single_line(content.uri, 2000)}{content.described()}\n")
    if content.data is None:
        note(content.reason)
    elif isinstance(content.data, bytes):
        write_text(f"{size_shown(content.size)} of binary content\n")
    else:
        write_text(content.data if content.data.endswith("\n") else f"{content.data}\n")


def _write(path: Path, contents: Sequence[Content]) -> None:
    if len(contents) != 1:
        many = f"The resource has {len(contents)} items, and --out holds one"
        raise CommandError(f"{many}: read one item by its own URI.")
    content = contents[0]
    if content.data is None:
        raise CommandError(content.reason)
    try:
        with path.open("xb") as file:
            file.write(content.encoded())
    except FileExistsError:
        raise CommandError(f"{path} exists already: --out writes a new file.") from None
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
    note(f"{size_shown(content.size)} written to {path}")

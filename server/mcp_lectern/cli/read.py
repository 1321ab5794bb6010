"""``mcp-lectern read``: the content of one resource; must not decide what a type means."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcp_lectern.cli.layout import amount, on_terminal
from mcp_lectern.cli.program import DONE, FAILED, USAGE, CommandError
from mcp_lectern.cli.running import Running, note, print_json, run_with_hub
from mcp_lectern.hub.named import named
from mcp_lectern.mcp.wire.resources import BlobItem, Item, TextItem, UnreadableItem
from mcp_lectern.text.untrusted import single_line


def run(arguments: argparse.Namespace) -> int:
    """Prints the content, or writes it to ``--out``; 1 where it cannot be read."""
    return run_with_hub(arguments, lambda running: _read(running, arguments))


async def _read(running: Running, arguments: argparse.Namespace) -> int:
    if arguments.json and arguments.out:
        raise CommandError("--json and --out exclude each other.", USAGE)
    if arguments.server is not None:
        running.entry(arguments.server)
        server, uri = arguments.server, arguments.mention
    else:
        server, uri = await named(running.hub, arguments.mention)
    result = await running.hub.read(server, uri)
    for remark in result.notes:
        note(remark)
    if arguments.json:
        print_json({"server": server, "uri": uri, "items": [_json(item, uri) for item in result.items]})
    elif arguments.out is not None:
        _write(arguments.out, result.items)
    else:
        _print(result.items, uri)
    return FAILED if any(isinstance(item, UnreadableItem) for item in result.items) else DONE


def _json(item: Item, uri: str) -> dict[str, Any]:
    shared = {"uri": item.uri or uri} | ({"mimeType": item.mime_type} if item.mime_type else {})
    if isinstance(item, TextItem):
        return {**shared, "kind": "text", "size": len(_encoded(item.text)), "text": item.text}
    if isinstance(item, BlobItem):
        return {**shared, "kind": "binary", "size": len(item.data)}
    return {**shared, "error": item.reason}


def _print(items: Sequence[Item], uri: str) -> None:
    if len(items) == 1:
        _print_one(items[0])
        return
    for item in items:
        heading = single_line(item.uri or uri, 2000)
        described = f" ({single_line(item.mime_type)})" if item.mime_type else ""
        _out(f"--- {heading}{described}\n")
        if isinstance(item, BlobItem):
            _out(f"{amount(len(item.data))} of binary content\n")
        elif isinstance(item, UnreadableItem):
            note(item.reason)
        else:
            _out(item.text if item.text.endswith("\n") else f"{item.text}\n")


def _print_one(item: Item) -> None:
    if isinstance(item, UnreadableItem):
        note(item.reason)
    elif isinstance(item, BlobItem):
        described = f" ({single_line(item.mime_type)})" if item.mime_type else ""
        raise CommandError(
            f"The content is binary{described}, {amount(len(item.data))}: write it to a file with --out PATH."
        )
    else:
        _out(item.text)


def _write(path: Path, items: Sequence[Item]) -> None:
    if len(items) != 1:
        raise CommandError(
            f"The resource has {len(items)} items, and --out holds one: read one item by its own URI."
        )
    item = items[0]
    if isinstance(item, UnreadableItem):
        raise CommandError(item.reason)
    data = item.data if isinstance(item, BlobItem) else _encoded(item.text)
    try:
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise CommandError(f"{path} exists already: --out writes a new file.") from None
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
    note(f"{amount(len(data))} written to {path}")


def _encoded(text: str) -> bytes:
    """UTF-8; a lone surrogate, which has none, becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _out(text: str) -> None:
    """The text as it is, unless a terminal would obey it."""
    sys.stdout.flush()
    sys.stdout.buffer.write(_encoded(on_terminal(text) if sys.stdout.isatty() else text))

"""Plays servers' oddities to our client and to the official SDK's, and writes a table into docs/protocol.md.

``python -m bench.cases_against_sdk`` needs the project's environment with the group ``peer``.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.language_server import ROOT
from bench.list_client import Silent
from mcp_lectern.mcp.connect import StdioParameters, connect
from mcp_lectern.mcp.wire.resources import TextItem

DOCUMENT = ROOT / "docs" / "protocol.md"
BEGIN, END = "<!-- cases: begin -->\n", "<!-- cases: end -->\n"
SERVER = ROOT / "tests" / "support" / "mcp_server.py"
PATIENCE = 10.0
GOOD, BAD = {"uri": "a://1", "name": "one"}, {"uri": "a://2"}

Script = dict[str, Any]
CASES: list[tuple[str, str, str, Script]] = [
    (
        "CAP-01",
        "templates are not implemented: the resources",
        "list",
        {"answers": {"resources/templates/list": {"error": {"code": -32601, "message": "no"}}}},
    ),
    ("LST-03", "one entry of two lacks its name", "list", {"resources": [GOOD, BAD]}),
    (
        "LST-03",
        "a size that is text, a priority of 7",
        "list",
        {
            "resources": [
                {**GOOD, "size": "big", "annotations": {"priority": 7}},
                {"uri": "a://2", "name": "two"},
            ]
        },
    ),
    (
        "RD-03",
        "a text and an item without a shape",
        "read",
        {"contents": {"a://1": [{"uri": "a://1", "text": "fine"}, {"uri": "a://1"}]}},
    ),
    (
        "IO-01",
        "log lines on stdout before the answer",
        "read",
        {"answers": {"resources/read": {"before": [{"write": "starting up\n[info] {\n"}]}}},
    ),
    (
        "IO-08",
        "the id of the answer is a string",
        "read",
        {
            "answers": {
                "resources/read": {
                    "raw": '{"jsonrpc":"2.0","id":"$ID","result":{"contents":'
                    '[{"uri":"a://1","text":"fine"}]}}\n'
                }
            }
        },
    ),
    (
        "IO-08",
        "an answer that nobody asked for, first",
        "read",
        {"answers": {"resources/read": {"before": [{"write": '{"jsonrpc":"2.0","id":9999,"result":{}}\n'}]}}},
    ),
]


async def lectern(task: str, command: list[str]) -> str:
    """What our client makes of it."""
    parameters = StdioParameters(command[0], tuple(command[1:]), dict(os.environ), Path.cwd())
    async with connect(parameters, server="case", observer=Silent(), version="1") as connection:
        if task == "list":
            await connection.list_templates()
            return _entries(len((await connection.list_resources()).entries))
        items = (await connection.read("a://1")).items
        return _items([item.text for item in items if isinstance(item, TextItem)])


async def sdk(task: str, command: list[str]) -> str:
    """What the official SDK's client makes of it."""
    from mcp import Client, StdioServerParameters

    parameters = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with Client(parameters) as client:
        if task == "list":
            return _entries(len((await client.list_resources()).resources))
        contents = (await client.read_resource("a://1")).contents
        return _items([item.text for item in contents if hasattr(item, "text")])


def _entries(count: int) -> str:
    return f"{count} listed"


def _items(texts: list[str]) -> str:
    return f"read: {', '.join(texts)}"


async def _outcome(client: Callable[[str, list[str]], Awaitable[str]], task: str, command: list[str]) -> str:
    try:
        return await asyncio.wait_for(client(task, command), PATIENCE)
    except TimeoutError:
        return f"nothing within {PATIENCE:.0f} s"
    except Exception as error:  # noqa: BLE001 - whatever a client raises is its outcome
        first: BaseException = error
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        return f"fails: {type(first).__name__}"


def rows() -> str:
    """The table's rows, one for each case."""
    found = []
    with TemporaryDirectory() as folder:
        for identity, oddity, task, more in CASES:
            script = {"resources": [GOOD], "contents": {"a://1": "fine"}, **more}
            path = Path(folder, "script.json")
            path.write_text(json.dumps(script), encoding="utf-8")
            command = [sys.executable, str(SERVER), "--script", str(path)]
            ours, theirs = (asyncio.run(_outcome(client, task, command)) for client in (lectern, sdk))
            found.append(f"| {identity} | {oddity} | {ours} | {theirs} |\n")
    return "".join(found)


def main() -> None:
    """Measure, and write the table."""
    before, rest = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)
    head = "| case | a server's oddity | Lectern | the official SDK's client |\n|---|---|---|---|\n"
    text = before + BEGIN + head + rows() + END + rest.split(END)[1]
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

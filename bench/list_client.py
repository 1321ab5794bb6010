"""One client that lists everything a server has, in a process of its own; prints what it needed.

That is seconds and peak memory, and for our client how long its event loop was held at a time.

``python -m bench.list_client CLIENT COMMAND...``, where the client is ``lectern``, ``sdk`` or ``loop``: the
official SDK's, or the least that any Python client must do (read a line, parse it, keep the entries).
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any


def loop(command: Sequence[str]) -> tuple[float, int]:
    """No protocol, no checks."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        _loop_call(process, 0, "server/discover", {})
        began = perf_counter()
        entries: list[Any] = []
        params: dict[str, Any] = {}
        while True:
            result = _loop_call(process, len(entries) + 1, "resources/list", params)
            entries += result["resources"]
            if "nextCursor" not in result:
                break
            params = {"cursor": result["nextCursor"]}
        seconds = perf_counter() - began
        process.communicate()
    return seconds, len(entries)


def _loop_call(process: subprocess.Popen[bytes], identity: int, method: str, params: Any) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    result: dict[str, Any] = json.loads(process.stdout.readline())["result"]
    return result


def sdk(command: Sequence[str]) -> tuple[float, int]:
    """The official SDK's client, in the era that it negotiates by itself."""
    from mcp import Client, StdioServerParameters

    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(os.environ))

    async def listed() -> tuple[float, int]:
        async with Client(parameters) as client:
            began, entries, cursor = perf_counter(), [], None
            while True:
                page = await client.list_resources(cursor=cursor)
                entries += page.resources
                cursor = page.next_cursor
                if cursor is None:
                    return perf_counter() - began, len(entries)

    return asyncio.run(listed())


def lectern(command: Sequence[str]) -> tuple[float, int, float]:
    """Our client, tolerant and typed, as the hub uses it."""
    import anyio

    from bench.watching import watched
    from mcp_lectern.mcp.connect import StdioParameters, connect

    parameters = StdioParameters(command[0], tuple(command[1:]), dict(os.environ), Path.cwd())

    async def listed() -> tuple[float, int, float]:
        async with connect(parameters, server="bench", observer=Silent(), version="1.0") as connection:
            async with watched() as held:
                began = perf_counter()
                listing = await connection.list_resources()
                seconds = perf_counter() - began
            return seconds, len(listing.entries), held.longest

    return anyio.run(listed)


class Silent:
    """An observer that wants to know nothing."""

    def log(self, line: str) -> None: ...

    def resources_changed(self) -> None: ...

    def resource_updated(self, uri: str | None) -> None: ...

    def subscriptions_changed(self) -> None: ...


CLIENTS: dict[str, Callable[[Sequence[str]], tuple[float, ...]]] = {
    "lectern": lectern,
    "loop": loop,
    "sdk": sdk,
}


def peak_bytes() -> int:
    """The most memory that this process ever held."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    seconds, count, *block = CLIENTS[sys.argv[1]](sys.argv[2:])
    print(json.dumps({"seconds": seconds, "count": count, "peak": peak_bytes(), "block": sum(block)}))

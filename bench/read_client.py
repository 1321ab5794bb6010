"""One client that reads, in a process of its own; prints seconds, peak memory, the longest block of its loop.

``python -m bench.read_client CLIENT TASK ADDRESS_OR_COMMAND...``, where the client is ``lectern``, ``sdk`` or
``loop`` (the least that any Python client must do), and the task a kind of ``read_server`` or ``many``.
"""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from bench.list_client import Silent, peak_bytes
from bench.watching import watched

MANY = 1000
Read = Callable[[str], Awaitable[int]]
Call = Callable[[int, str, Any], dict[str, Any]]


async def timed(read: Read, task: str) -> dict[str, float]:
    """One read, or many at the same time; ``size`` is what came, ``block`` the loop's longest stretch."""
    # What is done once only, such as loading modules, is not what is measured.
    await read("bench://first")
    async with watched() as held:
        began = perf_counter()
        if task == "many":
            sizes = await asyncio.gather(*(read(f"bench://{number:06}") for number in range(MANY)))
        else:
            sizes = [await read(f"bench://{task}")]
        seconds = perf_counter() - began
    return {"seconds": seconds, "size": sum(sizes), "block": held.longest}


def lectern(task: str, target: Sequence[str]) -> dict[str, float]:
    """Our client, as the hub uses it."""
    import anyio

    from mcp_lectern.mcp.connect import HttpParameters, Limits, StdioParameters, connect
    from mcp_lectern.mcp.wire.resources import BlobItem, TextItem

    async def main() -> dict[str, float]:
        where = (
            HttpParameters(target[0])
            if target[0].startswith("http")
            else StdioParameters(target[0], tuple(target[1:]), dict(os.environ), Path.cwd())
        )
        limits = Limits(read_bytes=256 << 20)
        async with connect(
            where, server="bench", observer=Silent(), version="1.0", limits=limits
        ) as connection:

            async def read(uri: str) -> int:
                (item,) = (await connection.read(uri)).items
                assert isinstance(item, (TextItem, BlobItem))
                return len(item.text if isinstance(item, TextItem) else item.data)

            return await timed(read, task)

    return anyio.run(main)


def sdk(task: str, target: Sequence[str]) -> dict[str, float]:
    """The official SDK's client, in the era that it negotiates by itself; it leaves base64 to its caller."""
    from mcp import Client, StdioServerParameters
    from mcp_types import TextResourceContents

    async def main() -> dict[str, float]:
        where: Any = target[0]
        if not where.startswith("http"):
            where = StdioServerParameters(command=where, args=list(target[1:]), env=dict(os.environ))
        async with Client(where) as client:

            async def read(uri: str) -> int:
                (item,) = (await client.read_resource(uri)).contents
                if isinstance(item, TextResourceContents):
                    return len(item.text)
                return len(base64.b64decode(item.blob))

            return await timed(read, task)

    return asyncio.run(main())


def loop(task: str, target: Sequence[str]) -> dict[str, float]:
    """No protocol, no checks, nothing at the same time."""
    with _calls(target) as call:
        call(0, "server/discover", {})
        call(1, "resources/read", {"uri": "bench://first"})
        began, size = perf_counter(), 0
        kinds = [f"{number:06}" for number in range(MANY)] if task == "many" else [task]
        for number, kind in enumerate(kinds, 2):
            (item,) = call(number, "resources/read", {"uri": f"bench://{kind}"})["contents"]
            size += len(item["text"]) if "text" in item else len(base64.b64decode(item["blob"]))
        return {"seconds": perf_counter() - began, "size": size, "block": 0.0}


@contextmanager
def _calls(target: Sequence[str]) -> Iterator[Call]:
    """A way to ask, and to wait for the result."""
    if target[0].startswith("http"):
        address = urlsplit(target[0])
        connection = http.client.HTTPConnection(address.hostname or "", address.port)

        def ask(message: bytes) -> bytes:
            connection.request("POST", address.path, message, {"Content-Type": "application/json"})
            return connection.getresponse().read()

        yield partial(_call, ask)
        connection.close()
        return
    with subprocess.Popen(target, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:

        def say(message: bytes) -> bytes:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(message + b"\n")
            process.stdin.flush()
            return process.stdout.readline()

        yield partial(_call, say)
        process.communicate()


def _call(ask: Callable[[bytes], bytes], identity: int, method: str, params: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
    result: dict[str, Any] = json.loads(ask(json.dumps(message).encode()))["result"]
    return result


CLIENTS: dict[str, Callable[[str, Sequence[str]], dict[str, float]]] = {
    "lectern": lectern,
    "loop": loop,
    "sdk": sdk,
}

if __name__ == "__main__":
    measured = CLIENTS[sys.argv[1]](sys.argv[2], sys.argv[3:])
    print(json.dumps({**measured, "peak": peak_bytes()}))

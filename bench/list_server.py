"""An MCP server that does nothing but list, from bytes that are ready before it is asked; stdlib only.

``python -m bench.list_server COUNT PAGE_SIZE [FIRST]`` lists so many, from number FIRST on, and
speaks both protocol eras over standard input and output.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from bench.descriptors import descriptor

CAPABILITIES: dict[str, Any] = {"resources": {}}
INFORMATION = {"name": "bench-list-server", "version": "1.0"}
MODERN = "2026-07-28"


def rendered_pages(count: int, size: int, first: int = 0) -> list[bytes]:
    """Every page, from ``result`` on; the cursor of a page is its number."""
    pages: list[bytes] = []
    for start in range(0, count, size):
        numbers = range(first + start, first + min(start + size, count))
        entries = [descriptor(number) for number in numbers]
        result: dict[str, Any] = {"resultType": "complete", "resources": entries}
        if start + size < count:
            result["nextCursor"] = str(len(pages) + 1)
        result |= {"ttlMs": 0, "cacheScope": "private"}
        pages.append(b',"result":' + json.dumps(result, separators=(",", ":")).encode() + b"}\n")
    return pages


def greeting(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The answer to everything but the list."""
    if method == "initialize":
        version = params.get("protocolVersion")
        return {"protocolVersion": version, "capabilities": CAPABILITIES, "serverInfo": INFORMATION}
    if method == "server/discover":
        return {
            "resultType": "complete",
            "supportedVersions": [MODERN],
            "capabilities": CAPABILITIES,
            "_meta": {"io.modelcontextprotocol/serverInfo": INFORMATION},
            "ttlMs": 0,
            "cacheScope": "private",
        }
    if method == "resources/templates/list":
        return {"resultType": "complete", "resourceTemplates": [], "ttlMs": 0, "cacheScope": "private"}
    return {} if method == "ping" else None


def main(count: int, size: int, first: int = 0) -> None:
    """Serve until the input ends."""
    pages = rendered_pages(count, size, first)
    output = sys.stdout.buffer
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        head = b'{"jsonrpc":"2.0","id":%b' % json.dumps(message["id"]).encode()
        params = message.get("params") or {}
        if message["method"] == "resources/list":
            output.write(head + pages[int(params.get("cursor", "0"))])
        elif (result := greeting(message["method"], params)) is not None:
            output.write(head + b',"result":' + json.dumps(result).encode() + b"}\n")
        else:
            output.write(head + b',"error":{"code":-32601,"message":"Method not found"}}\n')
        output.flush()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""An MCP server that does nothing but answer reads, from bytes that are ready beforehand; stdlib only.

``python -m bench.read_server stdio|http`` speaks both eras. ``bench://text`` and ``bench://blob`` hold
50 MB each, ``bench://largest`` 60 MB, every other address a short text. Over HTTP it prints its port first.
"""

from __future__ import annotations

import base64
import json
import random
import sys
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bench.list_server import greeting

MEGABYTE = 1_000_000
SIZES = {"text": 50 * MEGABYTE, "blob": 50 * MEGABYTE, "largest": 60 * MEGABYTE}
LINE = "A line of a document with a quote \\u0022, an umlaut ü and a \\\\ now and then.\\n"
"""As it stands in JSON: what a reader has to unescape and decode is in it."""


def prepared(kind: str) -> bytes:
    """The result of a read of this resource."""
    uri = f"bench://{kind}"
    if kind == "blob":
        data = base64.b64encode(random.Random(1).randbytes(SIZES[kind])).decode()
        content = f'"blob":"{data}","mimeType":"application/octet-stream"'
    elif kind in SIZES:
        content = f'"text":"{LINE * (SIZES[kind] // len(json.loads(chr(34) + LINE + chr(34))))}"'
    else:
        content = f'"text":"{kind}"'
    rest = '"resultType":"complete","ttlMs":0,"cacheScope":"private"'
    return f'{{{rest},"contents":[{{"uri":"{uri}",{content}}}]}}'.encode()


large = cache(prepared)


def answer(message: dict[str, Any]) -> bytes | None:
    """The answer to one message; None where it wants none."""
    if "id" not in message or "method" not in message:
        return None
    head = b'{"jsonrpc":"2.0","id":%b,' % json.dumps(message["id"]).encode()
    params = message.get("params") or {}
    if message["method"] == "resources/read":
        kind = params["uri"].removeprefix("bench://")
        return head + b'"result":' + (large if kind in SIZES else prepared)(kind) + b"}"
    if (result := greeting(message["method"], params)) is not None:
        return head + b'"result":' + json.dumps(result).encode() + b"}"
    return head + b'"error":{"code":-32601,"message":"Method not found"}}'


class Handler(BaseHTTPRequestHandler):
    """Streamable HTTP without sessions or streams of notices."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """One message."""
        body = answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(202 if body is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def do_GET(self) -> None:
        """There is no stream of notices."""
        self.send_response(405)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Takes a crowd that comes at once."""

    request_queue_size = 1024
    daemon_threads = True


def main(way: str) -> None:
    """Serve until the input ends, or for ever over HTTP."""
    for kind in SIZES:
        large(kind)
    if way == "http":
        server = Server(("127.0.0.1", 0), Handler)
        print(server.server_port, flush=True)
        server.serve_forever()
    for line in sys.stdin.buffer:
        if (body := answer(json.loads(line))) is not None:
            sys.stdout.buffer.write(body + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1])

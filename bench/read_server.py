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
from socketserver import StreamRequestHandler, ThreadingTCPServer
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


def answer(message: dict[str, Any]) -> list[bytes]:
    """The answer to one message, empty where it wants none; in parts, since copies would be timed as well."""
    if "id" not in message or "method" not in message:
        return []
    head = b'{"jsonrpc":"2.0","id":%b,' % json.dumps(message["id"]).encode()
    params = message.get("params") or {}
    if message["method"] == "resources/read":
        kind = params["uri"].removeprefix("bench://")
        if kind in SIZES:
            return [head + b'"result":', large(kind), b"}"]
        return [head + b'"result":' + prepared(kind) + b"}"]
    if (result := greeting(message["method"], params)) is not None:
        return [head + b'"result":' + json.dumps(result).encode() + b"}"]
    return [head + b'"error":{"code":-32601,"message":"Method not found"}}']


class Handler(StreamRequestHandler):
    """Streamable HTTP without sessions or streams of notices; the least that is HTTP/1.1.

    The standard library's own server takes most of the time of a small request, whoever is the client.
    """

    disable_nagle_algorithm = True

    def handle(self) -> None:
        """One request after another, until the client closes."""
        while request := self.rfile.readline():
            length = 0
            while (line := self.rfile.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            content = self.rfile.read(length)
            if request.startswith(b"POST "):
                self._answer(answer(json.loads(content)))
            else:
                self.request.sendall(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")

    def _answer(self, parts: list[bytes]) -> None:
        if not parts:
            self.request.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
            return
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        first, *others = parts
        self.request.sendall(head % sum(map(len, parts)) + first)
        for part in others:
            self.request.sendall(part)


class Server(ThreadingTCPServer):
    """Takes a crowd that comes at once."""

    request_queue_size = 1024
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A client that goes away in the middle is no news."""


def main(way: str) -> None:
    """Serve until the input ends, or for ever over HTTP."""
    for kind in SIZES:
        large(kind)
    if way == "http":
        server = Server(("127.0.0.1", 0), Handler)
        print(server.server_address[1], flush=True)
        server.serve_forever()
    for line in sys.stdin.buffer:
        if parts := answer(json.loads(line)):
            sys.stdout.buffer.writelines([*parts, b"\n"])
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1])

"""A language server as a child process, asked one thing at a time with a stop-watch; must not know what for.

Everything blocks, and an answer's time is taken before it is parsed, so that the stop-watch measures the
server and not this side.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from mcp_lectern.lsp.editor import CAPABILITIES, serving
from mcp_lectern.lsp.stdio import Frames

ROOT = Path(__file__).parents[1]
BARE = (sys.executable, "-P", "-m", "bench.bare_server")
DOCUMENT = "file:///bench.md"
LAST_LINE = 2
_CHUNK_BYTES = 1 << 18
_PATIENCE_SECONDS = 180.0

Json = Any


class LanguageServer:
    """One process. ``began`` is the moment before it was started."""

    def __init__(self, command: tuple[str, ...], home: Path) -> None:
        self._command = " ".join(command)
        self._log = home / "stderr.txt"
        self.began = perf_counter()
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                cwd=home,
                env=environment(home),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
            )
        self._frames = Frames()
        self._ready: Iterator[bytes] = iter(())
        self._count = 0
        self._version = 1
        # A server that never answers must not hang the run: its end does what a time-out would.
        self._watch = threading.Timer(_PATIENCE_SECONDS, self.process.kill)
        self._watch.daemon = True
        self._watch.start()

    def request(self, method: str, params: Json = None) -> tuple[float, Json]:
        """The seconds until the answer was there, and its message. Raises RuntimeError if the server ends."""
        self._count += 1
        began = perf_counter()
        self._send({"id": self._count, "method": method, "params": params})
        while True:
            body = self._next()
            ended = perf_counter()
            message = json.loads(body)
            if "method" not in message and message.get("id") == self._count:
                return ended - began, message
            if "method" in message and "id" in message:
                self._send({"id": message["id"], "result": friendly(message)})

    def notify(self, method: str, params: Json) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def initialize(self, options: Json = None) -> float:
        """The handshake; the seconds from the start of the process until ``initialize`` was answered."""
        began = perf_counter()
        params = {
            "processId": None,
            "rootUri": None,
            "workspaceFolders": [],
            "capabilities": CAPABILITIES,
            "initializationOptions": options,
        }
        seconds, message = self.request("initialize", params)
        if "capabilities" not in message.get("result", {}):
            raise RuntimeError(f"initialize was answered with {message}")
        self.notify("initialized", {})
        return began - self.began + seconds

    def open(self) -> None:
        """Open a small Markdown document whose last line is to be typed in."""
        text = "# A document\n\n"
        document = {"uri": DOCUMENT, "languageId": "markdown", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def typed(self, line: str) -> tuple[float, list[Json]]:
        """Make ``line`` the last line and complete at its end: the seconds of the completion, and the items.

        The change itself is not timed: a request that nobody knows is answered when it has been taken in.
        """
        self._version += 1
        whole = {"start": {"line": LAST_LINE, "character": 0}, "end": {"line": LAST_LINE + 1, "character": 0}}
        self.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": DOCUMENT, "version": self._version},
                "contentChanges": [{"range": whole, "text": line}],
            },
        )
        self.request("bench/barrier", {})
        place = {"line": LAST_LINE, "character": len(line)}
        seconds, message = self.request(
            "textDocument/completion", {"textDocument": {"uri": DOCUMENT}, "position": place}
        )
        if "result" not in message:
            raise RuntimeError(f"completion was answered with {message}")
        return seconds, (message["result"] or {}).get("items", [])

    def end(self) -> None:
        """Shut it down; whatever does not end is killed."""
        try:
            self.request("shutdown")
            self.notify("exit", None)
            self.process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self._watch.cancel()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()

    def last_words(self) -> str:
        """The end of what was written to stderr, for the message of a failure."""
        return self._log.read_text(encoding="utf-8", errors="replace")[-2000:]

    def _send(self, message: dict[str, Json]) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        data = memoryview(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        while data:
            data = data[self.process.stdin.write(data) :]

    def _next(self) -> bytes:
        assert self.process.stdout is not None
        while (body := next(self._ready, None)) is None:
            data = os.read(self.process.stdout.fileno(), _CHUNK_BYTES)
            if not data:
                raise RuntimeError(f"{self._command} ended before it answered:\n{self.last_words()}")
            self._ready = self._frames.feed(data)
        return body


def friendly(message: dict[str, Json]) -> Json:
    """What an editor without any configuration answers to a request of the server."""
    if message["method"] == "workspace/configuration":
        return [None for _ in message["params"]["items"]]
    return None


def environment(home: Path) -> dict[str, str]:
    """An environment that holds nothing of the user's, with this checkout's ``bench`` importable."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG") if name in os.environ}
    folders = {name: str(home) for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA")}
    return {**kept, **folders, "PYTHONPATH": str(ROOT)}


def list_server(count: int, page_size: int, first: int = 0) -> list[str]:
    """The command of an MCP server that lists so many resources, from this number on."""
    return [sys.executable, "-P", "-m", "bench.list_server", *map(str, (count, page_size, first))]


def lectern(home: Path, count: int = 0, servers: int = 1) -> tuple[str, ...]:
    """The command of our language server; with a count, it has MCP servers that share so many resources."""
    if not count:
        return tuple(serving("--no-discover"))
    each = count // servers
    entries = {f"bench{number or ''}": _entry(each, number * each) for number in range(servers)}
    file = home / f"settings-{count}.json"
    file.write_text(json.dumps({"servers": entries}), encoding="utf-8")
    return tuple(serving("--no-discover", "--config", str(file)))


def _entry(count: int, first: int) -> dict[str, Json]:
    program, *arguments = list_server(count, 1000, first)
    return {"command": program, "args": arguments, "env": {"PYTHONPATH": str(ROOT)}}


@contextmanager
def running(command: tuple[str, ...], home: Path) -> Iterator[LanguageServer]:
    """A started server that is ended on leaving."""
    server = LanguageServer(command, home)
    try:
        yield server
    finally:
        server.end()


@contextmanager
def empty_home() -> Iterator[Path]:
    """A home folder in which nothing is."""
    with TemporaryDirectory(prefix="lectern-bench-") as folder:
        yield Path(folder)

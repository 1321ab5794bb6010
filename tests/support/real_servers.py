"""MCP servers that we did not write, each in every way it can be reached; must not know what is asked.

Who uses them needs their parts (see ``tests.parts``), and ends what ``reached`` started by leaving it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mcp_lectern.mcp.connect import HttpParameters, Parameters, StdioParameters

from .tree import ROOT

Part = Callable[[str], Path]
PRELOAD = ROOT / "tests" / "support" / "loopback.cjs"
WAYS = {"stdio": "stdio", "http": "Streamable HTTP", "sse": "HTTP+SSE"}

SDK = """
import socket
import sys

import uvicorn
from mcp.server import MCPServer

server = MCPServer("sdk")
way = sys.argv[1]


def application():
    return server.sse_app() if way == "sse" else server.streamable_http_app()
"""

FASTMCP = """
import socket
import sys

import uvicorn
from fastmcp import FastMCP

server = FastMCP("fastmcp")
way = sys.argv[1]


def application():
    return server.http_app(transport=way)
"""

SERVED = """

@server.resource("memo://today", mime_type="text/markdown")
def today() -> str:
    return "# Today"


@server.resource("memo://picture", mime_type="image/png")
def picture() -> bytes:
    return bytes(range(256))


@server.resource("memo://day/{day}")
def of_day(day: str) -> str:
    return day


if way == "stdio":
    server.run("stdio")
else:
    listening = socket.create_server(("127.0.0.1", 0))
    print("LISTENING", listening.getsockname()[1], file=sys.stderr, flush=True)
    uvicorn.Server(uvicorn.Config(application(), log_level="error")).run(sockets=[listening])
"""


@dataclass(frozen=True, slots=True)
class RealServer:
    """``program`` is below the part; ``arguments`` may name ``{folder}``, an empty folder of the test's.

    ``ways`` are those in which it is reached, with the words that make it serve so; ``script`` is a program
    for a Python server, ``files`` what it finds in its folder, ``newer_node`` whether it needs Node 22,
    ``repository`` whether its folder is to be a Git repository with a commit.
    """

    name: str
    part: str
    program: str
    arguments: tuple[str, ...] = ()
    ways: Mapping[str, tuple[str, ...]] | None = None
    script: str | None = None
    files: Mapping[str, str] | None = None
    environment: Mapping[str, str] | None = None
    newer_node: bool = False
    repository: bool = False

    def command(self, part: Part, folder: Path, way: str) -> tuple[str, ...]:
        """Prepares the folder, and says how the server is started there."""
        for name, text in (self.files or {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        if self.repository:
            for step in (("init", "--quiet"), COMMIT):
                subprocess.run(("git", *step), cwd=folder, check=True)
        words = (*self.arguments, *(self.ways or {}).get(way, ()))
        if self.script is not None:
            (folder / "served.py").write_text(self.script, encoding="utf-8")
            words = (str(folder / "served.py"), *words)
        return (str(part(self.part) / self.program), *(word.format(folder=folder) for word in words))

    def surroundings(self, part: Part, folder: Path) -> dict[str, str]:
        """Its environment; a home of its own, so that it finds nothing and leaves nothing."""
        own = {name: value.format(folder=folder) for name, value in (self.environment or {}).items()}
        node = f"{part('node').parent}{os.pathsep}" if self.newer_node else ""
        return {"PATH": node + os.environ["PATH"], "HOME": str(folder), **own}


ALL_WAYS = {"stdio": ("stdio",), "http": ("http",), "sse": ("sse",)}
EVERYTHING_WAYS = {"stdio": ("stdio",), "http": ("streamableHttp",), "sse": ("sse",)}
COMMIT = (
    *("-c", "user.name=test", "-c", "user.email=test@example.org"),
    *("commit", "--quiet", "--allow-empty", "--message", "First"),
)
VAULT = {".obsidian/app.json": "{}", "Welcome.md": "# Welcome\n"}

OFFICIAL = (
    RealServer("mcp (Python SDK)", "python-servers", "python", ways=ALL_WAYS, script=SDK + SERVED),
    RealServer("fastmcp", "other-python-servers", "python", ways=ALL_WAYS, script=FASTMCP + SERVED),
    RealServer("server-everything", "npm-servers", "mcp-server-everything", ways=EVERYTHING_WAYS),
)

OTHERS = (
    RealServer(
        "server-memory",
        "npm-servers",
        "mcp-server-memory",
        environment={"MEMORY_FILE_PATH": "{folder}/m.jsonl"},
    ),
    RealServer("server-pdf", "other-npm-servers", "mcp-pdf-server", ("--stdio",)),
    RealServer("@cyanheads/git-mcp-server", "other-npm-servers", "git-mcp-server"),
    RealServer("mcp-hello-world", "other-npm-servers", "mcp-hello-world"),
    RealServer(
        "obsidian-mcp", "other-npm-servers", "obsidian-mcp", ("{folder}",), files=VAULT, newer_node=True
    ),
    RealServer("mcp-server-git", "python-servers", "mcp-server-git"),
    RealServer("mcp-server-time", "python-servers", "mcp-server-time"),
    RealServer("mcp-server-sqlite", "old-python-servers", "mcp-server-sqlite", ("--db-path", "{folder}/db")),
    RealServer("fastmcp-sample-server", "old-python-servers", "sample-mcp-server", ("--transport", "stdio")),
    RealServer("code-index-mcp", "index-server", "code-index-mcp", ("--project-path", "{folder}")),
    RealServer(
        "devmcp-server", "other-python-servers", "devmcp", ("--repo-path", "{folder}"), repository=True
    ),
)


@contextlib.contextmanager
def reached(server: RealServer, way: str, part: Part, folder: Path) -> Iterator[Parameters]:
    """What to connect to. Over HTTP the server runs until the context is left."""
    command, environment = server.command(part, folder, way), server.surroundings(part, folder)
    if way == "stdio":
        yield StdioParameters(command[0], command[1:], environment, folder)
        return
    environment |= {"PORT": "0", "NODE_OPTIONS": f"--require {PRELOAD}"}
    with subprocess.Popen(command, env=environment, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            port = next(line.split()[1] for line in process.stderr if line.startswith("LISTENING"))
            yield HttpParameters(f"http://127.0.0.1:{port}/{'sse' if way == 'sse' else 'mcp'}")
        finally:
            process.kill()

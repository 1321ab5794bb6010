"""The official SDK's server as the peer over HTTP: every way it has, in both eras."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_lectern.mcp.connect import HttpParameters, connect
from mcp_lectern.mcp.errors import ResourceNotFound
from mcp_lectern.mcp.wire.resources import BlobItem, TextItem

from .conftest import RecordingObserver

# With CI set a missing SDK is a failure: then the server below does not start.
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("mcp") is None and "CI" not in os.environ,
    reason="the official SDK is missing: install the dependency group peer",
)

SERVER = """
import socket
import sys

import uvicorn
from mcp.server.mcpserver import MCPServer

server = MCPServer("sdk")


@server.resource("note://one", mime_type="text/markdown", description="The first")
def one() -> str:
    return "# one"


@server.resource("note://picture", mime_type="image/png")
def picture() -> bytes:
    return bytes(range(256))


@server.resource("note://big")
def big() -> str:
    return "x" * 5_000_000


@server.resource("note://{name}/page")
def page(name: str) -> str:
    return f"page of {name}"


apps = {
    "sse": server.sse_app,
    "streams": server.streamable_http_app,
    "json": lambda: server.streamable_http_app(json_response=True),
    "no sessions": lambda: server.streamable_http_app(stateless_http=True),
}
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
config = uvicorn.Config(apps[sys.argv[1]](), log_level="error", timeout_graceful_shutdown=1)
uvicorn.Server(config).run(sockets=[listening])
"""


@pytest.fixture(scope="module", params=["streams", "json", "no sessions", "sse"])
def peer(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """How it serves, and its address."""
    file: Path = tmp_path_factory.mktemp("peer") / "server.py"
    file.write_text(SERVER)
    process = subprocess.Popen(
        [sys.executable, str(file), request.param],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    port = process.stdout.readline().strip()
    yield request.param, f"http://127.0.0.1:{port}/{'sse' if request.param == 'sse' else 'mcp'}"
    process.terminate()
    process.wait(10)
    process.stdout.close()


@pytest.mark.anyio
@pytest.mark.parametrize("protocol", ["auto", "legacy"])
async def test_lists_reads_and_errors(
    peer: tuple[str, str], observer: RecordingObserver, protocol: Any
) -> None:
    way, address = peer
    async with connect(
        HttpParameters(address), server="sdk", observer=observer, version="1", protocol=protocol
    ) as connection:
        modern = protocol == "auto" and way != "sse"
        assert connection.protocol_version == ("2026-07-28" if modern else "2025-11-25")
        assert connection.transport == ("sse" if way == "sse" else "http")
        entries = (await connection.list_resources()).entries
        assert {entry.uri for entry in entries} == {"note://one", "note://picture", "note://big"}
        assert [entry.name for entry in (await connection.list_templates()).entries] == ["page"]
        (text,) = (await connection.read("note://one")).items
        assert isinstance(text, TextItem)
        assert (text.text, text.mime_type) == ("# one", "text/markdown")
        (picture,) = (await connection.read("note://picture")).items
        assert isinstance(picture, BlobItem)
        assert picture.data == bytes(range(256))
        (big,) = (await connection.read("note://big")).items
        assert isinstance(big, TextItem)
        assert len(big.text) == 5_000_000
        with pytest.raises(ResourceNotFound):
            await connection.read("note://missing")


@pytest.mark.anyio
async def test_fifty_reads_at_once(peer: tuple[str, str], observer: RecordingObserver) -> None:
    texts: dict[str, str] = {}
    async with connect(HttpParameters(peer[1]), server="sdk", observer=observer, version="1") as connection:

        async def read(name: str) -> None:
            (item,) = (await connection.read(f"note://{name}/page")).items
            assert isinstance(item, TextItem)
            texts[name] = item.text

        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(read, f"n{number}")
    assert texts == {f"n{number}": f"page of n{number}" for number in range(50)}

"""The official SDK's server as the peer, in both eras."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from mcp_lectern.mcp.client.opening import Preference
from mcp_lectern.mcp.connect import StdioParameters, connect
from mcp_lectern.mcp.errors import ResourceNotFound
from mcp_lectern.mcp.wire.resources import BlobItem, TextItem

from .conftest import RecordingObserver

# With CI set a missing SDK is a failure: then the server below does not start.
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("mcp") is None and "CI" not in os.environ,
    reason="the official SDK is missing: install the dependency group peer",
)

SERVER = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("sdk")


@server.resource("note://one", mime_type="text/markdown", description="The first")
def one() -> str:
    return "# one"


@server.resource("note://picture", mime_type="image/png")
def picture() -> bytes:
    return bytes(range(256))


@server.resource("note://{name}/page")
def page(name: str) -> str:
    return f"page of {name}"


server.run("stdio")
"""


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("protocol", "era"), [("auto", "stateless"), ("modern", "stateless"), ("legacy", "handshake")]
)
async def test_it_is_spoken_to_in_either_era(protocol: Preference, era: str, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    parameters = StdioParameters(sys.executable, ("-P", "server.py"), dict(os.environ), tmp_path)
    observer = RecordingObserver()
    async with connect(
        parameters, server="sdk", observer=observer, version="1", protocol=protocol
    ) as connection:
        assert connection.era == era
        resources = await connection.list_resources()
        assert [(entry.uri, entry.mime_type) for entry in resources.entries] == [
            ("note://one", "text/markdown"),
            ("note://picture", "image/png"),
        ]
        assert [entry.uri_template for entry in (await connection.list_templates()).entries] == [
            "note://{name}/page"
        ]
        assert (await connection.read("note://one")).items == (
            TextItem("note://one", "text/markdown", "# one"),
        )
        (picture,) = (await connection.read("note://picture")).items
        assert isinstance(picture, BlobItem)
        assert picture.data == bytes(range(256))
        (page,) = (await connection.read("note://me/page")).items
        assert isinstance(page, TextItem)
        assert page.text == "page of me"
        with pytest.raises(ResourceNotFound):
            await connection.read("note://nowhere/at/all")

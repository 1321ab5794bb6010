"""Subscriptions against servers that we did not write: the official SDK's, and server-everything.

Lectern calls no tools. Here they are called over the session, since tools are how these servers are made to
change.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import parts

from mcp_lectern.mcp.connect import Connection, StdioParameters, connect
from mcp_lectern.mcp.session import Patience
from mcp_lectern.mcp.wire.resources import TextItem

from .conftest import RecordingObserver

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(90)]

SERVER = """
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("sdk")
state = {"text": "old"}


@server.resource("note://one", mime_type="text/plain")
def one() -> str:
    return state["text"]


@server.tool()
async def change(text: str, ctx: Context) -> str:
    state["text"] = text
    await ctx.notify_resource_updated("note://one")
    return "done"


server.run("stdio")
"""


async def call_tool(connection: Connection, name: str, **arguments: Any) -> Any:
    """What no part of Lectern does."""
    session = connection._session
    params = {"name": name, "arguments": arguments}
    return await session.request(session.asked("tools/call"), params, Patience(30, 60))


@pytest.mark.skipif(
    importlib.util.find_spec("mcp") is None and "CI" not in os.environ,
    reason="the official SDK is missing: install the dependency group peer",
)
async def test_the_official_sdk_tells_of_a_change_on_a_listen_stream(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    parameters = StdioParameters(sys.executable, ("-P", "server.py"), dict(os.environ), tmp_path)
    observer = RecordingObserver()
    async with connect(parameters, server="sdk", observer=observer, version="1") as connection:
        assert connection.era == "stateless"
        connection.subscribe("note://one")
        await observer.wait_for(lambda: connection.subscriptions == {"note://one"})
        await call_tool(connection, "change", text="new")
        await observer.wait_for(lambda: "note://one" in observer.updates)
        (item,) = (await connection.read("note://one")).items
        assert isinstance(item, TextItem)
        assert item.text == "new"
        connection.unsubscribe("note://one")
        await observer.wait_for(lambda: not connection.subscriptions)


async def test_server_everything_tells_of_a_change_after_a_subscribe(tmp_path: Path) -> None:
    found = parts.find("npm-servers")
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(parts.missing("npm-servers"))
    parameters = StdioParameters(str(found / "mcp-server-everything"), ("stdio",), dict(os.environ), tmp_path)
    observer = RecordingObserver()
    async with connect(parameters, server="everything", observer=observer, version="1") as connection:
        uri = (await connection.list_resources()).entries[0].uri
        connection.subscribe(uri)
        await observer.wait_for(lambda: connection.subscriptions == {uri})
        await call_tool(connection, "toggle-subscriber-updates")
        await observer.wait_for(lambda: uri in observer.updates, 30)
        connection.unsubscribe(uri)
        await observer.wait_for(lambda: not connection.subscriptions)

"""What the tests of the MCP client share: a recording observer, and connections to the scripted server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.support.http_server import HttpServer
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.mcp.connect import Connection, HttpParameters, StdioParameters, connect

Connect = Callable[..., AbstractAsyncContextManager[Connection]]
Script = Callable[..., ScriptedServer]


class RecordingObserver:
    """Keeps everything; ``wait_for`` waits for a log line or a number of change notices without polling."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.changes = 0
        self.updates: list[str | None] = []
        self._news = anyio.Event()

    def log(self, line: str) -> None:
        self.lines.append(line)
        self._wake()

    def resources_changed(self) -> None:
        self.changes += 1
        self._wake()

    def resource_updated(self, uri: str | None) -> None:
        self.updates.append(uri)
        self._wake()

    def subscriptions_changed(self) -> None:
        self._wake()

    def logged(self, text: str) -> int:
        return sum(text in line for line in self.lines)

    async def wait_for(self, condition: Callable[[], bool], seconds: float = 20) -> None:
        with anyio.fail_after(seconds):
            while not condition():
                await self._news.wait()

    def _wake(self) -> None:
        self._news.set()
        self._news = anyio.Event()


@pytest.fixture
def observer() -> RecordingObserver:
    return RecordingObserver()


@pytest.fixture
def script(tmp_path: Path) -> Any:
    """Makes scripted servers that end with the test."""
    servers: list[ScriptedServer] = []

    def make(**keys: Any) -> ScriptedServer:
        servers.append(ScriptedServer(tmp_path, name=f"server{len(servers)}", **keys))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.fixture
def connected(observer: RecordingObserver, tmp_path: Path) -> Connect:
    """Opens connections to scripted servers."""

    @asynccontextmanager
    async def open_connection(server: ScriptedServer, **options: Any) -> AsyncIterator[Connection]:
        parameters = StdioParameters(server.command, server.args, server.env, tmp_path)
        async with connect(
            parameters, **{"server": "scripted", "observer": observer, "version": "9.9", **options}
        ) as connection:
            yield connection

    return open_connection


@pytest.fixture
def reach(observer: RecordingObserver) -> Any:
    """Opens connections to HTTP servers of the test; ``headers``, ``kind`` and so on are the parameters'."""

    @asynccontextmanager
    async def open_connection(
        server: HttpServer | str, *, parameters: dict[str, Any] | None = None, **options: Any
    ) -> AsyncIterator[Connection]:
        url = server if isinstance(server, str) else server.url
        reached = HttpParameters(url, **(parameters or {}))
        async with connect(
            reached, **{"server": "remote", "observer": observer, "version": "9.9", **options}
        ) as connection:
            yield connection

    return open_connection

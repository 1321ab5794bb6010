"""The sample server over HTTP: both eras for a right client, and nothing for a web page."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import httpx
import pytest

from mcp_lectern.mcp.connect import Connection, HttpParameters, connect

COMMAND = [sys.executable, "-P", "-m", "mcp_lectern", "demo-server", "--http", "0", "--tick", "0.05"]
META = "io.modelcontextprotocol/"
MODERN = {
    META + "protocolVersion": "2026-07-28",
    META + "clientInfo": {"name": "t", "version": "1"},
    META + "clientCapabilities": {},
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    process = subprocess.Popen([*COMMAND, "--journal", "0.2"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    found = re.search(r"http://127\.0\.0\.1:\d+/mcp", process.stderr.readline())
    assert found
    yield found[0]
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
    assert process.stderr.read() == ""
    process.stderr.close()


class Observer:
    """Counts what it is told, and wakes who waits."""

    def __init__(self) -> None:
        self.lists = 0
        self.updates: list[str | None] = []
        self.news = anyio.Event()

    def log(self, line: str) -> None:
        pass

    def resources_changed(self) -> None:
        self.lists += 1
        self.news.set()

    def resource_updated(self, uri: str | None) -> None:
        self.updates.append(uri)
        self.news.set()

    def subscriptions_changed(self) -> None:
        pass

    async def until_told(self) -> None:
        with anyio.fail_after(20):
            while not (self.lists and "tour://clock" in self.updates):
                self.news = anyio.Event()
                await self.news.wait()


@pytest.mark.anyio
@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_lists_reads_and_live_changes_in_both_eras(address: str, protocol: Any) -> None:
    observer = Observer()
    connection: Connection
    async with connect(
        HttpParameters(address), server="tour", observer=observer, version="1", protocol=protocol
    ) as connection:
        assert connection.era == ("handshake" if protocol == "legacy" else "stateless")
        uris = [entry.uri for entry in (await connection.list_resources()).entries]
        assert "tour://welcome" in uris
        for uri in uris[:6]:
            assert (await connection.read(uri)).items
        connection.subscribe("tour://clock")
        await observer.until_told()


def post(address: str, message: Any, **headers: str) -> httpx.Response:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.post(address, content=body, headers=named, trust_env=False)


def modern(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": MODERN}}


def test_a_web_page_is_refused(address: str) -> None:
    message = modern("server/discover")
    right = {"mcp_protocol_version": "2026-07-28", "mcp_method": "server/discover"}
    assert post(address, message, **right).status_code == 200
    assert post(address, message, **right, origin="http://localhost:3000").status_code == 200
    for origin in ("https://evil.example", "null", "http://127.0.0.1.evil.example"):
        assert post(address, message, **right, origin=origin).status_code == 403
    assert post(address, message, **right, host="evil.example").status_code == 403
    assert httpx.get(address, headers={"Origin": "https://evil.example"}).status_code == 403


def test_headers_and_body_must_agree(address: str) -> None:
    read = modern("resources/read", uri="tour://wélcome")
    right = {"mcp_protocol_version": "2026-07-28", "mcp_method": "resources/read"}
    name = {"mcp_name": "=?base64?dG91cjovL3fDqWxjb21l?="}
    assert post(address, read, **right, **name).json()["error"]["code"] == -32602
    wrong = [
        {**right},
        {**right, "mcp_name": "tour://other"},
        {**right, "mcp_name": "=?base64?///?="},
        {**right, **name, "mcp_method": "resources/list"},
        {**right, **name, "mcp_protocol_version": "2025-11-25"},
        {**name, "mcp_method": "resources/read"},
    ]
    for headers in wrong:
        answer = post(address, read, **headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)


def test_statuses_are_those_of_the_specification(address: str) -> None:
    headers = {"mcp_protocol_version": "2026-07-28", "mcp_method": "x/y"}
    assert post(address, modern("x/y"), **headers).status_code == 404
    newer = modern("x/y")
    newer["params"]["_meta"] = {**MODERN, META + "protocolVersion": "2099-01-01"}
    answer = post(address, newer, mcp_protocol_version="2099-01-01", mcp_method="x/y")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32022)
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert post(address, ping).status_code == 400
    assert post(address, ping, mcp_session_id="unknown").status_code == 404
    assert post(address, b"{").status_code == 400
    assert post(address + "x", ping).status_code == 404
    assert httpx.get(address).status_code == 405
    assert httpx.put(address).status_code == 405


def test_a_session_ends_with_delete(address: str) -> None:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    opened = post(address, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    session = {"mcp_session_id": opened.headers["mcp-session-id"]}
    assert (
        post(address, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **session).status_code == 202
    )
    named = {"Mcp-Session-Id": session["mcp_session_id"]}
    assert httpx.delete(address, headers=named).status_code == 204
    assert post(address, {"jsonrpc": "2.0", "id": 2, "method": "ping"}, **session).status_code == 404


@pytest.mark.parametrize(
    "garbage",
    [b"\r\n\r\n", b"GET\r\n\r\n", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
     b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
     b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", b"x" * 100_000],
    ids=range(6),
)  # fmt: skip
@pytest.mark.anyio
async def test_garbage_ends_a_connection_and_nothing_else(address: str, garbage: bytes) -> None:
    port = int(address.rpartition(":")[2].removesuffix("/mcp"))
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        await stream.send(garbage)
        with anyio.fail_after(20):
            assert (await stream.receive()).startswith(b"HTTP/1.1 4")
    assert httpx.get(address).status_code == 405


def test_a_port_that_is_taken_is_a_sentence(address: str) -> None:
    port = address.rpartition(":")[2].removesuffix("/mcp")
    again = [sys.executable, "-P", "-m", "mcp_lectern", "demo-server", "--http", port]
    ended = subprocess.run(again, capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == 1
    assert f"cannot listen on port {port}" in ended.stderr
    assert "Traceback" not in ended.stderr

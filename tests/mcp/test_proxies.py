"""Which proxy counts for an address, and that nothing breaks for want of one that is not used."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx
import pytest
from tests.support.http_mcp import HttpMcp
from tests.support.http_server import HttpServer, Reply, Request

from mcp_lectern.mcp.auth.exchange import plain_clients
from mcp_lectern.mcp.connect import Connection
from mcp_lectern.mcp.transport.proxies import is_excepted, proxy_for

Reach = Callable[..., AbstractAsyncContextManager[Connection]]
PROXY = "http://proxy.example:8080"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.case("HTTP-04")
@pytest.mark.parametrize(
    ("names", "excepted"),
    [
        ("", False),
        (",, ", False),
        ("far.example", True),
        ("FAR.example ,other", True),
        (".example", True),
        ("example", True),
        ("*.example", True),
        ("ample", False),
        ("r.example", False),
        ("*", True),
        ("far.*", True),
        ("far.example:8443", True),
        ("far.example:443", False),
        ("far.example.org", False),
        ("10.0.0.0/8", False),
    ],
)
def test_http_04_no_proxy_names_hosts_domains_and_patterns(names: str, excepted: bool) -> None:
    assert is_excepted("far.example", 8443, names) is excepted


@pytest.mark.case("HTTP-04")
@pytest.mark.parametrize(
    ("host", "names", "excepted"),
    [
        ("10.1.2.3", "10.0.0.0/8", True),
        ("11.1.2.3", "10.0.0.0/8", False),
        ("10.1.2.3", "10.1.2.3", True),
        ("127.0.0.1", "127.*", True),
        ("fd00::1", "fd00::/8", True),
        ("fd00::1", "[fd00::1]", True),
        ("fd00::1", "[fd00::1]:80", True),
        ("fd00::1", "10.0.0.0/8,x", False),
    ],
)
def test_http_04_no_proxy_names_networks(host: str, names: str, excepted: bool) -> None:
    assert is_excepted(host, 80, names) is excepted


@pytest.mark.case("HTTP-04")
def test_http_04_the_proxy_of_the_addresss_own_kind_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert proxy_for("https://far.example/mcp") is None
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1080")
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:8080")
    assert proxy_for("https://far.example/mcp") == PROXY
    assert proxy_for("http://far.example/mcp") == "socks5://127.0.0.1:1080"
    assert proxy_for("https://far.example/mcp", "http://mine:1") == "http://mine:1"
    assert proxy_for("http://localhost:1/mcp", "http://mine:1") is None
    monkeypatch.setenv("NO_PROXY", "example")
    assert proxy_for("https://far.example/mcp") is None
    assert proxy_for("https://far.example/mcp", "http://mine:1") is None


@pytest.mark.anyio
@pytest.mark.case("HTTP-04")
async def test_http_04_a_proxy_that_is_not_used_harms_nobody(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks9://nobody.example:1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.0/8")
    async with HttpServer(HttpMcp()) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items


@asynccontextmanager
async def socks(asked: list[str], port: int) -> AsyncIterator[str]:
    """A SOCKS 5 proxy (RFC 1928) that takes everybody to one port of this machine."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        await reader.readexactly(count)
        writer.write(b"\5\0")
        await reader.readexactly(4)
        (length,) = await reader.readexactly(1)
        asked.append((await reader.readexactly(length)).decode())
        await reader.readexactly(2)
        writer.write(b"\5\0\0\1" + bytes(4) + struct.pack("!H", port))
        there, back = await asyncio.open_connection("127.0.0.1", port)

        async def pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            while data := await source.read(65536):
                target.write(data)
            target.close()

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(pass_on(reader, back))
            tasks.create_task(pass_on(there, writer))

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        host, own = server.sockets[0].getsockname()
        yield f"socks5h://{host}:{own}"


@pytest.mark.anyio
@pytest.mark.case("HTTP-04")
async def test_http_04_a_socks_proxy_resolves_names_itself(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    async with HttpServer(HttpMcp()) as server, socks(asked, server.port) as address:
        monkeypatch.setenv("ALL_PROXY", address)
        async with reach("http://far.example/mcp") as connection:
            assert (await connection.read("memo://a")).items
    assert set(asked) == {"far.example"}


@pytest.mark.anyio
async def test_authorization_servers_are_reached_as_their_own_addresses_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    async def answer(request: Request, reply: Reply) -> None:
        asked.append(request.target)
        await reply.send(200)

    async with HttpServer(answer) as proxy:
        monkeypatch.setenv("NO_PROXY", "near.example")
        clients = plain_clients(route=lambda url: proxy_for(url, proxy.origin))
        async with clients() as client:
            await client.get("http://far.example/token")
            await client.get(f"{proxy.origin}/itself")
            with pytest.raises(httpx.ConnectError):
                await client.get("http://near.example/token")
    assert asked == ["http://far.example/token", "/itself"]

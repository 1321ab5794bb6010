"""The way to a server: redirects, certificates, proxies, addresses."""

from __future__ import annotations

import asyncio
import base64
import ssl
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
import trustme
from tests.support.http_mcp import TEXT, HttpMcp
from tests.support.http_server import Handler, HttpServer, Reply, Request

from mcp_lectern.mcp.connect import Connection, Timing
from mcp_lectern.mcp.errors import HttpFailure, Unreachable
from mcp_lectern.mcp.transport import http, http_client
from mcp_lectern.mcp.transport.remote import beside, shown

pytestmark = pytest.mark.anyio
Reach = Callable[..., AbstractAsyncContextManager[Connection]]
SECRET = {"headers": {"Authorization": "Bearer tiger"}}
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def moved(status: int, to: str, mcp: HttpMcp, path: str = "/mcp") -> Handler:
    """A server that lives one address further."""

    async def answer(request: Request, reply: Reply) -> None:
        if request.target == path:
            await reply.send(status, location=to)
        else:
            await mcp(request, reply)

    return answer


@pytest.mark.case("HTTP-04")
@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("status", [307, 308])
async def test_http_04_a_redirect_within_the_origin_keeps_everything(
    reach: Reach, status: int, era: str
) -> None:
    async with HttpServer(moved(status, "/mcp/", HttpMcp(era))) as server:
        async with reach(server, parameters=SECRET) as connection:
            assert (await connection.read("memo://a")).items
        reads = server.received("resources/read")
        assert {request.verb for request in reads} == {"POST"}
        assert {request.headers["authorization"] for request in reads} == {"Bearer tiger"}
        asked = [request.target for request in reads]
        assert asked == (["/mcp/"] if status == 308 else ["/mcp", "/mcp/"])


@pytest.mark.case("HTTP-04")
@pytest.mark.parametrize("status", [301, 302, 303])
async def test_http_04_a_redirect_that_loses_the_body_is_told(reach: Reach, status: int) -> None:
    async with HttpServer(moved(status, "/mcp/", HttpMcp())) as server:
        with pytest.raises(HttpFailure, match=rf"redirects to {server.origin}/mcp/ .*{status}"):
            async with reach(server):
                pass
        assert {request.target for request in server.requests} == {"/mcp"}


@pytest.mark.case("HTTP-04")
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_http_04_another_origin_gets_nothing(reach: Reach, status: int) -> None:
    async with HttpServer(HttpMcp()) as other:
        async with HttpServer(moved(status, other.url + "?key=hidden", HttpMcp())) as server:
            with pytest.raises(HttpFailure, match="another origin") as caught:
                async with reach(server, parameters=SECRET):
                    pass
        assert other.requests == []
        assert other.url in str(caught.value)
        assert "hidden" not in str(caught.value)
        assert "tiger" not in str(caught.value)


@pytest.mark.case("HTTP-04")
async def test_http_04_a_circle_ends(reach: Reach) -> None:
    async with HttpServer(moved(307, "/mcp", HttpMcp())) as server:
        with pytest.raises(HttpFailure, match="in a circle"):
            async with reach(server):
                pass
        assert len(server.requests) <= 10


@pytest.mark.case("HTTP-04")
@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/", "/a/b?key=1"])
async def test_http_04_the_address_is_used_as_it_is_typed(reach: Reach, path: str) -> None:
    async with HttpServer(HttpMcp(), path=path) as server:
        async with reach(server) as connection:
            assert (await connection.read("memo://a")).items
        assert {request.target for request in server.requests} == {path}


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.mark.case("HTTP-04")
@pytest.mark.parametrize("to", ["/mcp/", "//else:where@127.0.0.1:$PORT/mcp/"])
async def test_http_04_a_redirect_does_not_say_who_asks(reach: Reach, to: str) -> None:
    mcp = HttpMcp()

    async def answer(request: Request, reply: Reply) -> None:
        await moved(307, to.replace("$PORT", str(server.port)), mcp)(request, reply)

    async with HttpServer(answer) as server:
        async with reach(server.url.replace("://", "://me:tiger@")) as connection:
            assert (await connection.read("memo://a")).items
        said = {request.headers["authorization"] for request in server.requests}
        assert {request.target for request in server.requests} >= {"/mcp", "/mcp/"}
        assert said == {f"Basic {base64.b64encode(b'me:tiger').decode()}"}


@pytest.mark.case("HTTP-04")
async def test_http_04_a_certificate_of_nobody_is_refused_in_words(reach: Reach, tls: ssl.SSLContext) -> None:
    async with HttpServer(HttpMcp(), tls=tls) as server:
        with pytest.raises(Unreachable, match=r"certificate is not trusted .*network\.caFile") as caught:
            async with reach(server):
                pass
        assert caught.value.retryable
        assert server.requests == []


@pytest.mark.case("HTTP-04")
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_http_04_an_extra_authority_is_honoured(
    reach: Reach, tls: ssl.SSLContext, authority: trustme.CA, tmp_path: Path, era: str
) -> None:
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    trusting = {"ca_file": file}
    async with HttpServer(HttpMcp(era), tls=tls) as server, reach(server, parameters=trusting) as connection:
        assert (await connection.read("memo://a")).items


async def test_a_certificate_for_another_name_is_refused(
    reach: Reach, authority: trustme.CA, tmp_path: Path
) -> None:
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("example.org").configure_cert(context)
    async with HttpServer(HttpMcp(), tls=context) as server:
        with pytest.raises(Unreachable, match=r"for another name .*check its address"):
            async with reach(server, parameters={"ca_file": file}):
                pass


async def test_a_certificate_that_has_ended_is_refused_with_its_cause(
    reach: Reach, authority: trustme.CA, tmp_path: Path
) -> None:
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ended = datetime.now(UTC) - timedelta(days=2)
    authority.issue_cert("127.0.0.1", not_before=ended, not_after=ended + timedelta(days=1)).configure_cert(
        context
    )
    async with HttpServer(HttpMcp(), tls=context) as server:
        with pytest.raises(Unreachable, match=r"does not count today .*expired"):
            async with reach(server, parameters={"ca_file": file}):
                pass


@pytest.mark.parametrize(("content", "words"), [(None, "No such file"), (b"x", "no certificates in PEM")])
async def test_an_authority_file_that_cannot_be_used_is_named(
    reach: Reach, tmp_path: Path, content: bytes | None, words: str
) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(Unreachable, match=words):
        async with reach("https://127.0.0.1:9/mcp", parameters={"ca_file": file}):
            pass


async def test_tls_where_there_is_none_is_told(reach: Reach) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Unreachable, match="does not speak TLS"):
            async with reach(f"https://127.0.0.1:{port}/mcp"):
                pass


async def test_a_server_that_never_finishes_the_handshake_is_told(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "CONNECT_SECONDS", 0.3)
    async with HttpServer(HttpMcp()) as server:
        with pytest.raises(Unreachable, match=r"no connection within 0\.3 s"):
            async with reach(server.url.replace("http:", "https:")):
                pass


async def test_nobody_there_is_told_without_what_is_secret(reach: Reach) -> None:
    async with HttpServer(HttpMcp()) as server:
        port = server.port
    with pytest.raises(Unreachable, match="Connection refused") as caught:
        async with reach(f"http://user:tiger@127.0.0.1:{port}/mcp?key=tiger"):
            pass
    assert "tiger" not in str(caught.value)


@pytest.mark.parametrize("url", ["ftp://x/", "http://", "nonsense", "http://[::1", "http://x:99999/"])
async def test_what_is_no_address_is_told(reach: Reach, url: str) -> None:
    with pytest.raises(Unreachable):
        async with reach(url):
            pass


def proxying(mcp: HttpMcp) -> tuple[Handler, list[str]]:
    """A proxy that answers itself, and the addresses that it was asked for."""
    asked: list[str] = []

    async def answer(request: Request, reply: Reply) -> None:
        asked.append(request.target)
        await mcp(request, reply)

    return answer, asked


@pytest.mark.case("HTTP-04")
async def test_http_04_the_environments_proxy_and_its_exceptions_are_honoured(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler, asked = proxying(HttpMcp())
    async with HttpServer(handler) as proxy, HttpServer(HttpMcp()) as server:
        monkeypatch.setenv("http_proxy", proxy.origin)
        async with reach("http://far.example/mcp") as connection:
            assert (await connection.read("memo://a")).items
        assert set(asked) == {"http://far.example/mcp"}
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        async with reach(server) as connection:
            assert (await connection.read("memo://a")).items
        assert set(asked) == {"http://far.example/mcp"}
        assert server.requests


@pytest.mark.case("HTTP-04")
async def test_http_04_the_configured_proxy_replaces_the_environments(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler, asked = proxying(HttpMcp())
    async with HttpServer(handler) as proxy, HttpServer(HttpMcp()) as server:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        async with reach("http://far.example/mcp", parameters={"proxy": proxy.origin}) as connection:
            assert (await connection.read("memo://a")).items
        assert asked
        before = len(asked)
        async with reach(server, parameters={"proxy": proxy.origin}) as connection:
            assert (await connection.read("memo://a")).items
        assert len(asked) == before


async def test_a_proxy_that_refuses_is_told(reach: Reach) -> None:
    async def refuse(request: Request, reply: Reply) -> None:
        await reply.send(407)

    async with HttpServer(refuse) as proxy:
        with pytest.raises(Unreachable, match="the proxy refused"):
            async with reach("https://far.example/mcp", parameters={"proxy": proxy.origin}):
                pass


@pytest.mark.parametrize("proxy", ["nonsense", "socks9://x", "socks5://127.0.0.1:9"])
async def test_a_proxy_that_cannot_be_is_told(reach: Reach, proxy: str) -> None:
    with pytest.raises(Unreachable):
        async with reach("http://far.example/mcp", parameters={"proxy": proxy}):
            pass


async def test_other_servers_do_not_notice(reach: Reach) -> None:
    async with HttpServer(HttpMcp()) as server, reach(server) as connection:
        with pytest.raises(Unreachable):
            async with reach("http://127.0.0.1:9/mcp"):
                pass
        assert (await connection.read("memo://a")).items


@pytest.mark.case("HTTP-04")
@pytest.mark.parametrize(
    ("reference", "target", "same"),
    [
        ("/b?c#d", "https://h:8/b?c#d", True),
        ("//h:8/b", "https://h:8/b", True),
        ("HTTPS://H:8/b", "https://h:8/b", True),
        ("http://h:8/b", None, False),
        ("//h:9/b", None, False),
        ("//h:8.evil/b", None, False),
        ("/b\x7fc", None, False),
        ("/b\u202ec", None, False),
        ("//[", None, False),
    ],
)
def test_http_04_an_address_beside_another_is_of_the_same_origin_or_not(
    reference: str, target: str | None, same: bool
) -> None:
    found, is_same = beside("https://h:8/a", reference)
    assert is_same is same
    assert target in (None, found)


def test_an_address_is_shown_without_secrets() -> None:
    assert shown("https://u:p@host:8/path?key=1#x") == "https://host:8/path"


async def test_a_thousand_reads_at_once_are_all_answered(reach: Reach) -> None:
    mcp = HttpMcp("modern")

    async def echo(request: Request, reply: Reply) -> None:
        uri = request.message["params"]["uri"]
        await reply.result(request, {"contents": [{"uri": uri, "text": uri}]})

    mcp.on["resources/read"] = echo
    answers: dict[str, Any] = {}
    async with HttpServer(mcp) as server, reach(server) as connection:

        async def read(uri: str) -> None:
            answers[uri] = (await connection.read(uri)).items[0]

        async with anyio.create_task_group() as tasks:
            for number in range(1000):
                tasks.start_soon(read, f"n://{number}")
        assert all(item.text == uri for uri, item in answers.items())
        assert len(answers) == 1000
        assert server.connections <= 40


async def test_a_read_that_waits_for_its_turn_does_not_use_up_its_time(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "AT_ONCE", 2)
    monkeypatch.setattr(http, "TURN_SECONDS", 0.1)
    mcp = HttpMcp("modern", capabilities={"resources": {}})
    under_way = most = 0

    async def slow(request: Request, reply: Reply) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await anyio.sleep(0.3)
        under_way -= 1
        await mcp.serve(request, reply)

    mcp.on["resources/read"] = slow
    async with (
        HttpServer(mcp) as server,
        reach(server, timing=Timing(request=1)) as connection,
        anyio.create_task_group() as tasks,
    ):
        for _ in range(12):
            tasks.start_soon(connection.read, "memo://a")
    assert most == 2


async def test_reads_that_are_given_up_while_they_wait_leave_the_turns_to_others(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "AT_ONCE", 2)
    monkeypatch.setattr(http, "TURN_SECONDS", 0.01)
    mcp = HttpMcp("modern", capabilities={"resources": {}})

    async def never(request: Request, reply: Reply) -> None:
        await reply.gone.wait()

    mcp.on["resources/read"] = never
    async with HttpServer(mcp) as server, reach(server) as connection:
        with anyio.move_on_after(0.5):
            async with anyio.create_task_group() as tasks:
                for _ in range(20):
                    tasks.start_soon(connection.read, "memo://a")
        assert len(server.received("resources/read")) == 2
        del mcp.on["resources/read"]
        for _ in range(4):
            assert (await connection.read("memo://a")).items


async def test_a_cookie_is_sent_back_unless_it_cannot_be(reach: Reach) -> None:
    mcp = HttpMcp("modern", capabilities={"resources": {}})
    cookies = ["lane=a7; Path=/", "lane=é; Path=/", ""]

    async def setting(request: Request, reply: Reply) -> None:
        await reply.result(request, TEXT, **({"set_cookie": cookies.pop(0)} if cookies[0] else {}))

    mcp.on["resources/read"] = setting
    async with HttpServer(mcp) as server, reach(server) as connection:
        for _ in range(3):
            assert (await connection.read("memo://a")).items
        sent = [request.headers.get("cookie") for request in server.received("resources/read")]
        assert sent == [None, "lane=a7", None]


async def test_a_permanent_redirect_to_nothing_is_not_remembered(reach: Reach) -> None:
    mcp = HttpMcp("modern", capabilities={"resources": {}})
    moves = [True, False]

    async def answer(request: Request, reply: Reply) -> None:
        if request.target != "/mcp":
            await reply.send(404)
        elif request.method == "resources/read" and moves.pop(0):
            await reply.send(308, location="/gone")
        else:
            await mcp(request, reply)

    async with HttpServer(answer) as server, reach(server) as connection:
        with pytest.raises(HttpFailure, match="404"):
            await connection.read("memo://a")
        assert (await connection.read("memo://a")).items


def test_the_http_client_is_loaded_for_remote_servers_alone() -> None:
    modules = "mcp_lectern.hub.hub, mcp_lectern.hub.prepare, mcp_lectern.mcp.connect"
    script = f"import sys, {modules}; print(*sys.modules)"
    command = [sys.executable, "-P", "-c", script]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert "mcp_lectern.mcp.transport.remote" in loaded
    assert not {"httpx", "httpcore", "certifi", "mcp_lectern.mcp.transport.http"} & set(loaded)

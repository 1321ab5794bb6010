"""The address to which a browser comes back: what counts, what does not, and what anybody gets to see."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx
import pytest
from tests.support.oauth import Browser, World

from mcp_lectern.mcp.auth.loopback import Redirect, listen, port_of, serving
from mcp_lectern.mcp.errors import SignInFailed

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def redirect() -> AsyncIterator[Redirect]:
    async with serving(await listen()) as opened:
        opened.expect(lambda response: response.get("state") == "right")
        yield opened


async def get(address: str, **options: object) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.get(address, **options)  # type: ignore[arg-type]


async def raw(uri: str, request: bytes) -> bytes:
    async with await anyio.connect_tcp("127.0.0.1", port_of(uri) or 0) as stream:
        await stream.send(request)
        answer = b""
        try:
            while True:
                answer += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return answer


async def test_the_first_response_with_the_right_state_counts_and_no_other() -> None:
    async with redirect() as opened:
        assert (await get(f"{opened.uri}?state=wrong&code=evil")).status_code == 400
        assert (await get(f"{opened.uri}?code=evil")).status_code == 400
        assert (await get(f"{opened.uri}?state=right&state=wrong&code=evil")).status_code == 404
        good = await get(f"{opened.uri}?state=right&code=good&iss=https%3A%2F%2Fa.example%2F")
        assert good.status_code == 200
        assert (await get(f"{opened.uri}?state=right&code=late")).status_code == 400
        response = await opened.response()
    assert response == {"state": "right", "code": "good", "iss": "https://a.example/"}


async def test_the_page_is_plain_and_repeats_nothing() -> None:
    async with redirect() as opened:
        page = await get(f"{opened.uri}?state=right&code=%3Cscript%3Ealert(1)%3C/script%3E&error=boo")
    assert "script" not in page.text
    assert "boo" not in page.text
    assert "close this page" in page.text
    assert page.headers["content-security-policy"] == "default-src 'none'"
    assert (page.headers["cache-control"], page.headers["referrer-policy"]) == ("no-store", "no-referrer")


@pytest.mark.parametrize(
    "request_head",
    [
        b"POST /callback?state=right HTTP/1.1\r\n\r\n",
        b"GET /callback/?state=right HTTP/1.1\r\n\r\n",
        b"GET /favicon.ico HTTP/1.1\r\n\r\n",
        b"GET http://evil.example/callback?state=right HTTP/1.1\r\n\r\n",
        b"GET /callback?state=right\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
        b"\r\n\r\n",
        b"GET /callback?" + b"a=1&" * 200 + b"state=right HTTP/1.1\r\n\r\n",
    ],
)
async def test_anything_else_is_not_found(request_head: bytes) -> None:
    async with redirect() as opened:
        assert (await raw(opened.uri, request_head)).startswith(b"HTTP/1.1 404 ")
        assert (await get(f"{opened.uri}?state=right")).status_code == 200


async def test_silent_and_endless_connections_keep_nobody_waiting() -> None:
    async with redirect() as opened:
        port = port_of(opened.uri) or 0
        async with await anyio.connect_tcp("127.0.0.1", port), await anyio.connect_tcp("127.0.0.1", port):
            assert (await raw(opened.uri, b"x" * 40_000)).startswith(b"HTTP/1.1 404 ")
            assert (await get(f"{opened.uri}?state=right&code=1")).status_code == 200


async def test_the_listener_is_on_this_machine_alone_and_closes() -> None:
    async with redirect() as opened:
        port = port_of(opened.uri) or 0
        listener = opened._listener.extra_attributes[anyio.abc.SocketAttribute.local_address]()
        assert listener == ("127.0.0.1", port)
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


class Impatient(Browser):
    async def open_browser(self, url: str) -> None:
        self.opened.append(url)


async def test_a_person_who_never_comes_back_is_told() -> None:
    world = World()
    authorization = world.authorization(sign_in_seconds=0.05)
    with pytest.raises(SignInFailed) as failed:
        await authorization.sign_in(Impatient(world))
    assert failed.value.step == "waiting for the browser"
    assert "0.05 s" in str(failed.value)


async def test_a_second_sign_in_ends_the_first() -> None:
    world = World()
    authorization = world.authorization()
    failures: list[SignInFailed] = []
    shown = anyio.Event()

    class Waiting(Impatient):
        async def open_browser(self, url: str) -> None:
            shown.set()

    async def first() -> None:
        with pytest.raises(SignInFailed) as failed:
            await authorization.sign_in(Waiting(world))
        failures.append(failed.value)

    async with anyio.create_task_group() as group:
        group.start_soon(first)
        await shown.wait()
        await authorization.sign_in(Browser(world))
    assert "another sign-in" in str(failures[0])
    assert authorization.signed_in


@pytest.mark.parametrize(
    ("response", "advertised", "reason"),
    [
        ({"iss": "https://auth.example"}, True, None),
        ({"iss": "https://auth.example"}, False, None),
        ({}, False, None),
        ({}, True, "does not name its issuer"),
        ({"iss": "https://auth.example/"}, False, "another issuer"),
        ({"iss": "https://evil.example"}, True, "another issuer"),
        ({"iss": "https://evil.example", "error": "access_denied"}, False, "another issuer"),
        ({"iss": ""}, False, "another issuer"),
        ({"error": "access_denied", "error_description": "you said no", "code": None}, False, "you said no"),
        ({"code": None}, False, "no code"),
    ],
)
async def test_a_response_counts_only_from_its_issuer(
    response: dict[str, str | None], advertised: bool, reason: str | None
) -> None:
    world = World()
    world.response = response
    world.change_metadata(authorization_response_iss_parameter_supported=advertised)
    authorization = world.authorization()
    if reason is None:
        await authorization.sign_in(Browser(world))
        return
    with pytest.raises(SignInFailed) as failed:
        await authorization.sign_in(Browser(world))
    assert reason in str(failed.value)
    assert world.forms() == []
    if reason == "another issuer":
        assert "access_denied" not in str(failed.value)


async def test_a_configured_port_is_the_one_or_none() -> None:
    world = World()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SignInFailed) as failed:
            await world.authorization(settings={"redirect_port": port}).sign_in(Browser(world))
        assert f"127.0.0.1:{port}" in str(failed.value)
    browser = Browser(world)
    await world.authorization(settings={"redirect_port": port}).sign_in(browser)
    assert browser.query["redirect_uri"] == f"http://127.0.0.1:{port}/callback"


async def test_a_second_sign_in_comes_back_to_the_registered_port_or_registers_anew() -> None:
    world = World()
    authorization = world.authorization()
    first, second, third = Browser(world), Browser(world), Browser(world)
    await authorization.sign_in(first)
    await authorization.sign_in(second)
    assert first.query["redirect_uri"] == second.query["redirect_uri"]
    assert len(world.registrations) == 1
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port_of(first.query["redirect_uri"]) or 0))
        taken.listen()
        await authorization.sign_in(third)
    assert third.query["redirect_uri"] != first.query["redirect_uri"]
    assert len(world.registrations) == 2


async def test_an_address_that_the_editor_gives_is_the_one_that_is_registered() -> None:
    world = World()

    class Forwarded(Browser):
        async def redirect_address(self, local: str) -> str:
            self.redirects.append(local)
            return "https://forwarded.example/x?to=editor"

        async def follow(self, address: str) -> None:
            assert address.startswith("https://forwarded.example/x?to=editor")
            await super().follow(f"{self.redirects[0]}?{address.split('?', 2)[2]}")

    browser = Forwarded(world)
    await world.authorization().sign_in(browser)
    (registered,) = world.registrations.values()
    assert registered["redirect_uris"] == ["https://forwarded.example/x?to=editor"]

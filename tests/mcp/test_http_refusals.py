"""Statuses that are no success: who may ask, who must wait, what is no MCP server at all."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import anyio
import httpx
import pytest
from tests.support.http_mcp import TEXT, HttpMcp, in_turn
from tests.support.http_server import Handler, HttpServer, Reply, Request

from mcp_lectern.mcp.connect import Connection, Timing
from mcp_lectern.mcp.errors import Forbidden, HttpFailure, NotUnderstood, ServerError, Unauthorized
from mcp_lectern.mcp.transport import delays
from mcp_lectern.mcp.transport.answers import PATIENCE
from mcp_lectern.mcp.transport.http_status import retry_after

pytestmark = pytest.mark.anyio
Reach = Callable[..., AbstractAsyncContextManager[Connection]]
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])
CHALLENGE = 'Bearer resource_metadata="https://x/.well-known/oauth-protected-resource"'
PAGE = (
    "<!doctype html><html><head><title>Just a moment&hellip;</title><script>alert(1)</script></head></html>"
)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delays, "FIRST", 0.01)


def status(code: int, body: str = "", **headers: str) -> Handler:
    async def answer(request: Request, reply: Reply) -> None:
        await reply.send(code, body, **headers)

    return answer


@ERAS
@pytest.mark.case("HTTP-05")
async def test_http_05_refused_credentials_of_the_configuration_are_told_as_such(
    reach: Reach, observer: Any, era: str
) -> None:
    mcp = HttpMcp(era)
    mcp.on["resources/read"] = status(401, www_authenticate=CHALLENGE)
    token = {"headers": {"Authorization": "Bearer tiger-9"}}
    async with HttpServer(mcp) as server, reach(server, parameters=token) as connection:
        with pytest.raises(Unauthorized, match="refused the credentials of its entry") as caught:
            await connection.read("memo://a")
        assert not caught.value.sign_in
        assert not caught.value.retryable
        assert len(server.received("resources/read")) == 1
        assert not any("tiger" in text for text in [*observer.lines, str(caught.value), repr(caught.value)])


@pytest.mark.case("HTTP-05")
@pytest.mark.parametrize("headers", [{"www_authenticate": CHALLENGE}, {}])
async def test_http_05_a_401_without_credentials_asks_for_signing_in(
    reach: Reach, headers: dict[str, str]
) -> None:
    async with HttpServer(status(401, **headers)) as server:
        with pytest.raises(Unauthorized, match="sign in") as caught:
            async with reach(server):
                pass
        assert caught.value.sign_in
        assert caught.value.challenge == headers.get("www_authenticate")
        assert len(server.requests) == 1


class Retrying(httpx.Auth):
    """Signs, and tries once with another token where the first is refused."""

    def __init__(self) -> None:
        self.attempts = 0

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        request.headers["Authorization"] = f"Bearer token-{self.attempts}"
        response = yield request
        if response.status_code == 401:
            self.attempts += 1
            request.headers["Authorization"] = f"Bearer token-{self.attempts}"
            yield request


@ERAS
@pytest.mark.case("HTTP-05")
async def test_http_05_the_flow_is_asked_once_for_each_refusal(reach: Reach, era: str) -> None:
    mcp, auth = HttpMcp(era), Retrying()

    async def guarded(request: Request, reply: Reply) -> None:
        if request.headers.get("authorization") == "Bearer token-1":
            await mcp(request, reply)
        else:
            await reply.send(401, www_authenticate=CHALLENGE)

    async with HttpServer(guarded) as server, reach(server, parameters={"auth": auth}) as connection:
        assert (await connection.read("memo://a")).items
        assert auth.attempts == 1


@pytest.mark.case("HTTP-05")
async def test_http_05_a_401_for_ever_ends_after_one_attempt(reach: Reach) -> None:
    auth = Retrying()
    async with HttpServer(status(401)) as server:
        with pytest.raises(Unauthorized):
            async with reach(server, parameters={"auth": auth}):
                pass
        assert auth.attempts == 1
        assert len(server.requests) == 2


@pytest.mark.case("HTTP-05")
@pytest.mark.parametrize(
    "challenge",
    [
        'Bearer error="insufficient_scope", scope="files:read files:list", resource_metadata="https://x"',
        'Bearer scope="files:read files:list",error=insufficient_scope',
    ],
)
async def test_http_05_a_403_names_the_scope(reach: Reach, challenge: str) -> None:
    mcp = HttpMcp()
    mcp.on["resources/read"] = status(403, www_authenticate=challenge)
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(Forbidden, match=r'the scope "files:read files:list"') as caught:
            await connection.read("memo://a")
        assert caught.value.scope == "files:read files:list"
        assert "expired" not in str(caught.value)


@ERAS
@pytest.mark.case("HTTP-05")
@pytest.mark.parametrize("code", [200, 403, 502])
async def test_http_05_a_web_page_is_a_status_and_its_title(reach: Reach, era: str, code: int) -> None:
    mcp = HttpMcp(era)
    mcp.on["resources/read"] = status(code, PAGE, content_type="text/html; charset=utf-8")
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(HttpFailure, match="Just a moment…") as caught:
            await connection.read("memo://a")
        assert str(code) in str(caught.value)
        assert "JSON" not in str(caught.value)
        assert "<" not in str(caught.value)
        assert "alert" not in str(caught.value)


@ERAS
@pytest.mark.case("HTTP-05")
async def test_http_05_retry_after_is_waited_for(reach: Reach, era: str) -> None:
    mcp = HttpMcp(era)
    mcp.on["resources/read"] = in_turn(status(429, retry_after="1"), mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        began = anyio.current_time()
        assert (await connection.read("memo://a")).items
        assert anyio.current_time() - began >= 1
        assert len(server.received("resources/read")) == 2


@pytest.mark.case("HTTP-05")
@pytest.mark.parametrize(
    ("headers", "times"),
    [({"retry_after": "3600"}, 1), ({"retry_after": "21"}, 1), ({"retry_after": "0"}, 3), ({}, 1)],
)
async def test_http_05_what_would_last_too_long_fails_and_says_when(
    reach: Reach, headers: dict[str, str], times: int
) -> None:
    mcp = HttpMcp()
    mcp.on["resources/read"] = status(429, "slow down", **headers)
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(HttpFailure, match="429 Too Many Requests: slow down; try again") as caught:
            await connection.read("memo://a")
        assert caught.value.retryable
        assert len(server.received("resources/read")) == times
        assert ("in 3600 s" in str(caught.value)) == (headers.get("retry_after") == "3600")


@pytest.mark.case("HTTP-05")
async def test_http_05_what_the_server_asked_to_wait_does_not_use_up_its_time(reach: Reach) -> None:
    """Else a person would read of a server that does not answer, and not of one that wants less."""
    mcp = HttpMcp()
    mcp.on["resources/read"] = status(429, "slow down", retry_after="1.5")
    timing = Timing(request=1)
    async with HttpServer(mcp) as server, reach(server, timing=timing) as connection:
        with pytest.raises(HttpFailure, match="429 Too Many Requests: slow down"):
            await connection.read("memo://a")
        assert len(server.received("resources/read")) == 3


def test_retry_after_may_be_a_fraction() -> None:
    assert retry_after("1.5") == 1.5


def test_retry_after_may_be_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 80 < (retry_after(later) or 0) <= 90
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    for odd in ["", "soon", "-5", ".5", "1.", "9" * 40, None]:
        assert retry_after(odd) is None


@ERAS
async def test_an_error_of_the_server_keeps_its_words_and_its_code(reach: Reach, era: str) -> None:
    async def broken(request: Request, reply: Reply) -> None:
        await reply.error(request, -32603, "disk on fire", 500)

    async def refused(request: Request, reply: Reply) -> None:
        await reply.error(request, -32005, "not today", 400)

    mcp = HttpMcp(era)
    mcp.on["resources/read"] = in_turn(broken, refused, mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(HttpFailure, match="disk on fire") as caught:
            await connection.read("memo://a")
        assert (caught.value.code, caught.value.retryable) == (-32603, True)
        with pytest.raises(ServerError, match="not today") as second:
            await connection.read("memo://a")
        assert second.value.code == -32005
        assert (await connection.read("memo://a")).items


@pytest.mark.case("VER-01")
@pytest.mark.parametrize("code", [401, 403, 429, 500, 502, 503])
async def test_ver_01_an_outage_is_no_verdict_on_the_era(reach: Reach, code: int) -> None:
    async with HttpServer(status(code)) as server:
        with pytest.raises(HttpFailure, match=str(code)):
            async with reach(server):
                pass
        assert not server.received("initialize")


@pytest.mark.case("VER-01")
@pytest.mark.parametrize(
    "answer", [status(400), status(404), status(405), status(400, "no"), status(400, PAGE)], ids=range(5)
)
async def test_ver_01_any_other_refusal_of_the_probe_means_the_handshake(
    reach: Reach, answer: Handler
) -> None:
    mcp = HttpMcp()
    mcp.on["server/discover"] = answer
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert connection.era == "handshake"


@pytest.mark.case("VER-01")
@pytest.mark.parametrize("code", [-32020, -32021, -32022])
async def test_ver_01_a_modern_error_in_a_400_means_the_stateless_era(reach: Reach, code: int) -> None:
    async def modern(request: Request, reply: Reply) -> None:
        await reply.error(request, code, "modern", 400)

    mcp = HttpMcp("modern")
    mcp.on["server/discover"] = in_turn(modern, mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert connection.era == "stateless"
        assert not server.received("initialize")
        assert (await connection.read("memo://a")).items


@pytest.mark.case("VER-01")
async def test_ver_01_an_error_that_names_handshake_versions_alone_means_initialize(reach: Reach) -> None:
    async def older(request: Request, reply: Reply) -> None:
        error = {"code": -32022, "message": "no", "data": {"supported": ["2025-06-18"]}}
        await reply.json({"jsonrpc": "2.0", "id": request.message["id"], "error": error}, 400)

    mcp = HttpMcp()
    mcp.on["server/discover"] = older
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert connection.protocol_version == "2025-06-18"


async def test_what_is_no_server_of_any_kind_is_told_with_its_status(reach: Reach) -> None:
    async with HttpServer(status(404, "nothing here")) as server:
        with pytest.raises(NotUnderstood, match="404 Not Found: nothing here"):
            async with reach(server):
                pass
        assert server.verbs() == ["POST", "POST", "GET"]


async def test_credentials_in_the_address_are_the_configurations_own(reach: Reach) -> None:
    async with HttpServer(status(401)) as server:
        with pytest.raises(Unauthorized, match="refused the credentials") as caught:
            async with reach(server.url.replace("http://", "http://user:tiger@")):
                pass
        assert not caught.value.sign_in
        assert "tiger" not in str(caught.value)
        assert server.requests[0].headers["authorization"].startswith("Basic ")


@ERAS
@pytest.mark.case("HTTP-05")
async def test_http_05_a_longer_wait_than_a_person_bears_fails_at_once_and_says_how_long(
    reach: Reach, era: str
) -> None:
    mcp = HttpMcp(era)
    mcp.on["resources/read"] = in_turn(status(429, retry_after=str(int(PATIENCE) + 1)), mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(HttpFailure, match=f"try again in {PATIENCE + 1:.0f} s") as caught:
            await connection.read("memo://a")
        assert caught.value.retry_after == PATIENCE + 1
        assert len(server.received("resources/read")) == 1


@pytest.mark.case("HTTP-05")
@pytest.mark.parametrize(
    "date",
    [
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
        "Mon, 01 Jan 2040 00:00:00 99999999999 +0000",
        "-199999999999 Jan Jan 60:60:60+99999999",
        "Fri, 31 Dec 9999 23:59:59 -2359",
    ],
)
async def test_http_05_a_date_beyond_all_calendars_costs_one_call(reach: Reach, date: str) -> None:
    mcp = HttpMcp()
    mcp.on["resources/read"] = in_turn(status(429, retry_after=date), mcp.serve)
    async with HttpServer(mcp) as server, reach(server) as connection:
        with pytest.raises(HttpFailure, match="429"):
            await connection.read("memo://a")
        assert (await connection.read("memo://a")).items


async def test_a_type_that_is_said_twice_is_the_same_type(reach: Reach) -> None:
    async def read(request: Request, reply: Reply) -> None:
        await reply.result(request, TEXT, Content_Type="application/json")

    mcp = HttpMcp()
    mcp.on["resources/read"] = read
    async with HttpServer(mcp) as server, reach(server) as connection:
        assert (await connection.read("memo://a")).items

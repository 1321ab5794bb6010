"""What a refusal leads to: one attempt, never two, and a sentence; tokens stay where they belong."""

from __future__ import annotations

import json
import time
from typing import Any

import anyio
import httpx
import pytest
from tests.support.oauth import Browser, World

from mcp_lectern.mcp.auth.flow import OAuthFlow
from mcp_lectern.mcp.auth.tokens import InMemory
from mcp_lectern.mcp.errors import SignInFailed

pytestmark = pytest.mark.anyio


async def age(storage: InMemory, *, seconds: float) -> None:
    """What is kept was kept that long ago."""
    ((key, text),) = storage._kept.items()
    grant = json.loads(text)
    grant["tokens"]["expires_at"] -= seconds
    storage._kept[key] = json.dumps(grant)


@pytest.mark.case("HTTP-05")
async def test_http_05_refusals_for_ever_lead_to_one_attempt_each() -> None:
    world = World()
    browser = Browser(world)
    authorization = world.authorization(interaction=browser)
    world.accepts = False
    answer = await world.call(authorization)
    assert answer.status_code == 401
    assert len(browser.opened) == 1
    assert [header is not None for header in world.calls()] == [False, True]


@pytest.mark.case("HTTP-05")
async def test_http_05_a_refused_token_is_renewed_once_and_nobody_is_asked() -> None:
    world = World()
    authorization = world.authorization()
    await authorization.sign_in(Browser(world))
    world.accepts = False
    answer = await world.call(authorization)
    assert answer.status_code == 401
    assert [form["grant_type"] for form in world.forms()] == ["authorization_code", "refresh_token"]
    assert len(set(world.calls())) == 2


@pytest.mark.case("HTTP-05")
async def test_http_05_a_401_without_a_header_is_enough_to_sign_in() -> None:
    world = World()
    world.challenge = None
    answer = await world.call(world.authorization(interaction=Browser(world)))
    assert answer.status_code == 200


@pytest.mark.case("HTTP-05")
async def test_http_05_a_403_that_names_scopes_is_answered_once_with_all_scopes_together() -> None:
    world = World()
    world.challenge = 'Bearer scope="c"'
    world.scopes["resources/read"] = ("a", "b")
    browser = Browser(world)
    authorization = world.authorization(interaction=browser)
    assert (await world.call(authorization)).status_code == 200
    assert (await world.call(authorization, "resources/read")).status_code == 200
    assert browser.query["scope"].split() == ["c", "a", "b"]
    assert len(browser.opened) == 2
    world.token_answer = lambda _form: httpx.Response(
        200, json={"access_token": next(iter(world.tokens)), "token_type": "bearer"}
    )
    world.scopes["resources/read"] = ("d",)
    assert (await world.call(authorization, "resources/read")).status_code == 403
    assert len(browser.opened) == 3
    assert (await world.call(authorization, "resources/read")).status_code == 403
    assert len(browser.opened) == 3


@pytest.mark.case("HTTP-05")
async def test_http_05_without_a_person_a_403_is_the_answer_and_remembered_for_the_next_sign_in() -> None:
    world = World()
    authorization = world.authorization()
    await authorization.sign_in(Browser(world))
    world.scopes["resources/read"] = ("a",)
    assert (await world.call(authorization, "resources/read")).status_code == 403
    assert len(world.forms()) == 1
    browser = Browser(world)
    await authorization.sign_in(browser)
    assert browser.query["scope"] == "a"


@pytest.mark.case("HTTP-05")
@pytest.mark.parametrize("status", [200, 403, 404, 429, 500])
async def test_http_05_a_page_of_a_firewall_starts_no_sign_in(status: int) -> None:
    world = World()
    world.documents[world.server_url] = httpx.Response(status, html="<title>Blocked</title>")
    browser = Browser(world)
    answer = await world.call(world.authorization(interaction=browser))
    assert answer.status_code == status
    assert (browser.opened, len(world.requests)) == ([], 1)


@pytest.mark.case("HTTP-05")
async def test_http_05_no_token_reaches_a_log_or_a_message() -> None:
    world = World()
    lines: list[str] = []
    authorization = world.authorization(interaction=Browser(world), log=lines.append)
    await world.call(authorization)
    world.token_answer = lambda form: httpx.Response(
        400, json={"error": "invalid_scope", "error_description": "no"}
    )
    world.accepts = False
    with pytest.raises(SignInFailed) as failed:
        await world.call(authorization)
    told = "\n".join([*lines, str(failed.value), repr(failed.value), repr(authorization._grant)])
    for secret in [*world.tokens, *world.refresh_tokens]:
        assert secret not in told
        assert secret not in authorization.hide(f"Bearer {secret}")
    assert "signed in at https://auth.example" in told


async def test_a_token_never_leaves_for_another_origin() -> None:
    world = World()
    authorization = world.authorization()
    await authorization.sign_in(Browser(world))
    async with world.http() as client:
        for url in ("https://evil.example/mcp", "http://mcp.example/mcp", "https://mcp.example:8443/mcp"):
            await client.post(url, auth=OAuthFlow(authorization))
    assert all("authorization" not in request.headers for request in world.requests)


async def test_a_token_is_renewed_before_it_ends() -> None:
    world = World()
    authorization = world.authorization(storage := InMemory())
    await authorization.sign_in(Browser(world))
    await age(storage, seconds=3550)
    authorization = world.authorization(storage)
    assert (await world.call(authorization)).status_code == 200
    assert [form["grant_type"] for form in world.forms()] == ["authorization_code", "refresh_token"]
    assert world.forms()[1]["resource"] == world.server_url
    assert len(world.calls()) == 1


async def test_a_token_of_a_short_life_is_not_renewed_for_each_request() -> None:
    world = World()
    world.expires_in = 30
    authorization = world.authorization()
    await authorization.sign_in(Browser(world))
    for _ in range(3):
        assert (await world.call(authorization)).status_code == 200
    assert len(world.forms()) == 1


async def test_a_token_that_cannot_be_renewed_is_sent_for_as_long_as_the_server_takes_it() -> None:
    world = World()
    world.token_answer = lambda _form: httpx.Response(
        200, json={"access_token": "opaque", "token_type": "Bearer", "expires_in": 0}
    )
    world.tokens["opaque"] = ()
    authorization = world.authorization()
    await authorization.sign_in(Browser(world))
    assert (await world.call(authorization)).status_code == 200


async def test_many_requests_at_once_renew_once() -> None:
    world = World()
    world.expires_in = 0
    authorization = world.authorization()
    await authorization.sign_in(Browser(world))
    world.expires_in = None
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(world.call, authorization)
    assert len(world.forms()) == 2
    assert len(world.calls()) == 20


async def test_many_refusals_at_once_ask_the_person_once() -> None:
    world = World()
    browser = Browser(world)
    authorization = world.authorization(interaction=browser)
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(world.call, authorization)
    assert len(browser.opened) == 1


async def test_a_renewal_that_is_cancelled_still_keeps_the_new_token() -> None:
    world, storage = World(), InMemory()
    world.expires_in = 0
    authorization = world.authorization(storage)
    await authorization.sign_in(Browser(world))
    world.expires_in = 3600
    with anyio.CancelScope() as scope:

        def answer(form: dict[str, str]) -> httpx.Response:
            scope.cancel()
            return world._issued(world.refresh_tokens.pop(form["refresh_token"]))

        world.token_answer = answer
        await world.call(authorization)
        await anyio.lowlevel.checkpoint()
    assert scope.cancelled_caught
    world.token_answer = None
    assert (await world.call(world.authorization(storage))).status_code == 200
    assert len(world.forms()) == 2


async def test_an_outage_of_the_authorization_server_costs_nothing_while_the_token_is_good() -> None:
    world = World()
    authorization = world.authorization(storage := InMemory())
    await authorization.sign_in(Browser(world))
    await age(storage, seconds=3550)
    authorization = world.authorization(storage)
    world.token_answer = lambda _form: httpx.Response(503)
    assert (await world.call(authorization)).status_code == 200


async def test_an_outage_after_the_end_of_the_token_is_told_and_may_heal() -> None:
    world = World()
    world.expires_in = 0
    authorization = world.authorization()
    await authorization.sign_in(Browser(world))
    world.token_answer = lambda _form: httpx.Response(503)
    with pytest.raises(SignInFailed) as failed:
        await world.call(authorization)
    assert failed.value.retryable
    assert "503" in str(failed.value)
    world.token_answer = None
    assert (await world.call(authorization)).status_code == 200


async def test_what_another_process_renewed_is_taken_over() -> None:
    world, storage = World(), InMemory()
    world.expires_in = 0
    first, second = world.authorization(storage), world.authorization(storage)
    await first.sign_in(Browser(world))
    await second.recall()
    world.expires_in = 3600
    assert (await world.call(first)).status_code == 200
    assert (await world.call(second)).status_code == 200
    assert len(world.forms()) == 2


async def test_a_refresh_token_that_another_process_used_up_just_now_ends_nothing() -> None:
    world, storage = World(), InMemory()
    world.expires_in = 0
    authorization = world.authorization(storage)
    await authorization.sign_in(Browser(world))
    ((key, text),) = storage._kept.items()

    def used_up(_form: dict[str, str]) -> httpx.Response:
        theirs = json.loads(text)
        theirs["tokens"] |= {"access": "theirs", "refresh": "theirs-too", "expires_at": time.time() + 3600}
        storage._kept[key] = json.dumps(theirs)
        return httpx.Response(400, json={"error": "invalid_grant"})

    world.tokens["theirs"] = ()
    world.token_answer = used_up
    assert (await world.call(authorization)).status_code == 200
    assert world.calls() == ["Bearer theirs"]


async def test_a_refresh_token_that_is_worth_nothing_ends_the_sign_in() -> None:
    world, storage = World(), InMemory()
    authorization = world.authorization(storage)
    await authorization.sign_in(Browser(world))
    world.tokens.clear()
    world.refresh_tokens.clear()
    assert (await world.call(authorization)).status_code == 401
    assert not authorization.signed_in
    assert not world.authorization(storage).signed_in


@pytest.mark.parametrize(
    "body",
    [
        "not json",
        [],
        {},
        {"access_token": "x"},
        {"access_token": "x", "token_type": "Bearer", "error": "bad_verification_code"},
        {"access_token": "x", "token_type": "mac"},
        {"access_token": "", "token_type": "Bearer"},
        {"access_token": 5, "token_type": "Bearer"},
        {"access_token": "a\r\nX-Evil: 1", "token_type": "Bearer"},
        {"access_token": "é", "token_type": "Bearer"},
        {"access_token": "x" * 100_000, "token_type": "Bearer"},
    ],
)
async def test_an_odd_token_answer_is_refused(body: Any) -> None:
    world = World()
    content = body if isinstance(body, str) else json.dumps(body)
    world.token_answer = lambda _form: httpx.Response(200, text=content)
    with pytest.raises(SignInFailed) as failed:
        await world.authorization().sign_in(Browser(world))
    assert "redeeming the code" in failed.value.step


@pytest.mark.parametrize(
    ("expires_in", "ends"),
    [
        (3600, True),
        ("3600", True),
        (None, False),
        (-5, False),
        (True, False),
        ("soon", False),
        (1e30, False),
        (float("inf"), False),
    ],
)
async def test_an_odd_lifetime_harms_nothing(expires_in: Any, ends: bool) -> None:
    world = World()
    world.token_answer = lambda _form: httpx.Response(
        200, text=json.dumps({"access_token": "x", "token_type": "bEaReR", "expires_in": expires_in})
    )
    authorization = world.authorization()
    await authorization.sign_in(Browser(world))
    assert authorization._grant is not None
    expiry = authorization._grant.tokens.expires_at
    assert (expiry is not None and abs(expiry - time.time() - 3600) < 60) is ends


async def test_an_error_of_the_token_endpoint_is_repeated_in_one_line() -> None:
    world = World()
    world.token_answer = lambda _form: httpx.Response(
        400, json={"error": "invalid_target", "error_description": "not\nfor\u202eyou" + "x" * 5000}
    )
    with pytest.raises(SignInFailed) as failed:
        await world.authorization().sign_in(Browser(world))
    assert "invalid_target (not for you" in str(failed.value)
    assert "\n" not in str(failed.value)
    assert len(str(failed.value)) < 1000

"""A server that wants to know who is asking, as a person meets it through the hub."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from tests.support.hubs import hub_of
from tests.support.oauth import Browser, World

from mcp_lectern.hub.failure import Refused
from mcp_lectern.hub.sign_in import sign_in, sign_out
from mcp_lectern.hub.status import State
from mcp_lectern.mcp.auth.tokens import InMemory

pytestmark = pytest.mark.anyio


class LocalBrowser(Browser):
    """The world is on a real port: everything is asked over real connections."""

    async def open_browser(self, url: str) -> None:
        import httpx

        self.opened.append(url)
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.get(url)
        await self.follow(answer.headers["location"])


async def test_signing_in_makes_a_locked_server_ready_and_readable() -> None:
    world = World()
    async with world.serve(), hub_of({"docs": {"url": world.server_url}}) as (hub, news):
        browser = LocalBrowser(world)
        with pytest.raises(Refused) as refused:
            await hub.read("docs", "res://secret")
        assert refused.value.failure.kind == "needsSignIn"
        assert hub.states()["docs"] is State.NEEDS_SIGN_IN
        assert browser.opened == []
        await sign_in(hub, "docs", browser)
        result = await hub.read("docs", "res://secret")
        assert result.items[0].text == "for the signed-in only"  # type: ignore[union-attr]
        assert hub.states()["docs"] is State.READY
        assert (len(browser.opened), browser.pages[0].status_code) == (1, 200)
        assert all(token not in line for token in world.tokens for _, line in news.logs)


async def test_a_wish_that_nobody_spoke_opens_no_browser_and_asks_no_server() -> None:
    world = World()
    async with world.serve(), hub_of({"docs": {"url": world.server_url}}) as (hub, news):
        hub.want()
        await news.until(lambda: hub.states()["docs"] is State.NEEDS_SIGN_IN)
        before = len(world.requests)
        hub.want()
        await anyio.lowlevel.checkpoint()
        assert hub.states()["docs"] is State.NEEDS_SIGN_IN
        assert len(world.requests) == before
        assert world.asked("well-known") == []


async def test_a_server_that_greets_everybody_and_lists_for_nobody_asks_to_sign_in() -> None:
    world = World()
    world.open = ("initialize", "notifications/initialized")
    async with world.serve(), hub_of({"docs": {"url": world.server_url}}) as (hub, _):
        browser = LocalBrowser(world)
        await sign_in(hub, "docs", browser)
        assert len(browser.opened) == 1


async def test_a_server_that_greets_everybody_and_lists_for_nobody_waits_for_a_person_too() -> None:
    world = World()
    world.open = ("initialize", "notifications/initialized")
    async with world.serve(), hub_of({"docs": {"url": world.server_url}}) as (hub, news):
        hub.want()
        await news.until(lambda: hub.states()["docs"] is State.NEEDS_SIGN_IN)
        with pytest.raises(Refused) as refused:
            await hub.read("docs", "res://secret")
        assert refused.value.failure.kind == "needsSignIn"
        await sign_in(hub, "docs", LocalBrowser(world))
        await hub.ensure_listed()
        assert hub.catalogue.resource("docs", "res://secret") is not None
        assert hub.states()["docs"] is State.READY


async def test_a_sign_in_is_remembered_by_the_next_process() -> None:
    world, storage = World(), InMemory()
    async with world.serve():
        for number in (1, 2):
            async with hub_of({"docs": {"url": world.server_url}}, tokens=lambda: storage) as (hub, _):
                if number == 1:
                    await sign_in(hub, "docs", LocalBrowser(world))
                await hub.read("docs", "res://secret")
    assert len(world.asked("/authorize")) == 1


async def test_signing_out_revokes_and_forgets_what_was_read() -> None:
    world, storage = World(), InMemory()
    async with world.serve(), hub_of({"docs": {"url": world.server_url}}, tokens=lambda: storage) as (hub, _):
        await sign_in(hub, "docs", LocalBrowser(world))
        await hub.ensure_listed()
        await hub.read("docs", "res://secret")
        refresh = next(iter(world.refresh_tokens))
        await sign_out(hub, "docs")
        assert world.revoked == [refresh]
        assert hub.catalogue.resource("docs", "res://secret") is None
        assert hub.preview("docs", "res://secret") is None
        assert hub.states()["docs"] is State.NEEDS_SIGN_IN
        with pytest.raises(Refused) as refused:
            await hub.read("docs", "res://secret")
        assert refused.value.failure.kind == "needsSignIn"


async def test_signing_out_of_one_entry_signs_out_of_the_others_of_its_address() -> None:
    """They share one sign-in: what is revoked for one must not go on for another until it ends by itself."""
    world, storage = World(), InMemory()
    async with (
        world.serve(),
        hub_of(
            {"one": {"url": world.server_url}, "two": {"url": world.server_url}}, tokens=lambda: storage
        ) as (hub, _),
    ):
        await sign_in(hub, "one", LocalBrowser(world))
        await hub.read("one", "res://secret")
        await hub.read("two", "res://secret")
        assert len(world.asked("/authorize")) == 1
        await sign_out(hub, "one")
        assert hub.states() == {"one": State.NEEDS_SIGN_IN, "two": State.NEEDS_SIGN_IN}
        assert hub.preview("two", "res://secret") is None
        with pytest.raises(Refused) as refused:
            await hub.read("two", "res://secret")
        assert refused.value.failure.kind == "needsSignIn"


async def test_what_was_read_under_one_sign_in_is_not_shown_under_another() -> None:
    world = World()
    async with world.serve(), hub_of({"docs": {"url": world.server_url}}) as (hub, _):
        await sign_in(hub, "docs", LocalBrowser(world))
        await hub.read("docs", "res://secret")
        first = hub.link("docs").authorization
        await sign_in(hub, "docs", LocalBrowser(world))
        assert hub.preview("docs", "res://secret") is None
        await hub.read("docs", "res://secret")
        assert hub.link("docs").authorization not in ("", first)


async def test_a_token_that_is_refused_in_the_middle_of_a_session_locks_the_server() -> None:
    world = World()
    async with world.serve(), hub_of({"docs": {"url": world.server_url}}) as (hub, _):
        await sign_in(hub, "docs", LocalBrowser(world))
        await hub.read("docs", "res://secret")
        world.tokens.clear()
        world.refresh_tokens.clear()
        with pytest.raises(Refused) as refused:
            await hub.read("docs", "res://other")
        assert refused.value.failure.kind == "needsSignIn"
        assert hub.states()["docs"] is State.NEEDS_SIGN_IN


@pytest.mark.case("HTTP-05")
async def test_http_05_a_static_header_is_refused_without_any_dance() -> None:
    world = World()
    async with world.serve():
        entry = {"url": world.server_url, "headers": {"Authorization": "Bearer static-secret"}}
        async with hub_of({"docs": entry}) as (hub, news):
            with pytest.raises(Refused) as refused:
                await hub.read("docs", "res://secret")
            assert refused.value.failure.kind == "serverFailed"
            assert "credentials" in refused.value.failure.message
            assert hub.states()["docs"] is State.FAILED
            assert world.asked("well-known") == []
            assert "static-secret" not in "".join(line for _, line in news.logs)
            with pytest.raises(Refused) as refused:
                await sign_in(hub, "docs", LocalBrowser(world))
            assert refused.value.failure.kind == "invalidArgument"


@pytest.mark.case("HTTP-05")
async def test_http_05_a_403_names_the_missing_scope_and_signing_in_asks_for_it() -> None:
    world = World()
    async with world.serve(), hub_of({"docs": {"url": world.server_url}}) as (hub, _):
        await sign_in(hub, "docs", LocalBrowser(world))
        await hub.ensure_listed()
        world.scopes["resources/read"] = ("files:read", "files:more")
        with pytest.raises(Refused) as refused:
            await hub.read("docs", "res://secret")
        message = refused.value.failure.message
        assert "files:read files:more" in message
        assert "expired" not in message
        browser = LocalBrowser(world)
        await sign_in(hub, "docs", browser)
        assert browser.query["scope"] == "files:read files:more"
        await hub.read("docs", "res://secret")


async def test_a_server_that_asks_for_nothing_is_merely_started() -> None:
    world = World()
    world.accepts = True
    world.tokens[""] = ()
    async with world.serve(), hub_of({"docs": {"url": world.server_url}}) as (hub, _):
        browser = LocalBrowser(world)
        await sign_in(hub, "docs", browser)
        assert browser.opened == []
        assert hub.states()["docs"] is State.READY


async def test_a_program_is_not_signed_in_to() -> None:
    async with hub_of({"local": {"command": "python3"}}) as (hub, _):
        for act in (sign_in(hub, "local", LocalBrowser(World())), sign_out(hub, "local")):
            with pytest.raises(Refused) as refused:
                await act
            assert refused.value.failure.kind == "invalidArgument"


async def test_a_failed_sign_in_names_its_step_and_leaves_the_server_locked() -> None:
    world = World()
    async with world.serve(), hub_of({"docs": {"url": world.server_url}}) as (hub, _):
        world.change_metadata(code_challenge_methods_supported=None)
        with pytest.raises(Refused) as refused:
            await sign_in(hub, "docs", LocalBrowser(world))
        assert refused.value.failure.kind == "needsSignIn"
        assert "S256" in refused.value.failure.message
        assert hub.states()["docs"] is State.NEEDS_SIGN_IN


async def test_a_program_signs_in_by_itself_where_the_entry_says_so() -> None:
    world = World()
    async with world.serve():
        oauth: dict[str, Any] = {
            "grant": "client_credentials",
            "clientId": "robot",
            "clientSecret": "s3cret-word",
        }
        async with hub_of({"docs": {"url": world.server_url, "oauth": oauth}}) as (hub, news):
            await hub.read("docs", "res://secret")
            assert [form["grant_type"] for form in world.forms()] == ["client_credentials"]
            greetings = [each.content for each in world.requests if b'"initialize"' in each.content]
            greeting = json.loads(greetings[-1])
            assert greeting["params"]["capabilities"]["extensions"] == {
                "io.modelcontextprotocol/oauth-client-credentials": {}
            }
            assert "s3cret-word" not in "".join(line for _, line in news.logs)

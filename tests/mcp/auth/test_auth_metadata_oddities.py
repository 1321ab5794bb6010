"""Metadata as it is in the wild: misplaced, misspelt, missing, hostile; a sign-in works or names its step."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.support.oauth import HTML, NOTHING, Browser, World

from mcp_lectern.mcp.errors import SignInFailed

PATH_FORM = "https://mcp.example/.well-known/oauth-protected-resource/mcp"
ROOT_FORM = "https://mcp.example/.well-known/oauth-protected-resource"
ISSUER_FORM = "https://auth.example/.well-known/oauth-authorization-server"

pytestmark = pytest.mark.anyio


async def signed_in(world: World, **options: Any) -> Browser:
    browser = Browser(world)
    answer = await world.call(world.authorization(interaction=browser, **options))
    assert answer.status_code == 200
    return browser


async def refused(world: World, **options: Any) -> SignInFailed:
    browser = Browser(world)
    with pytest.raises(SignInFailed) as failed:
        await world.call(world.authorization(interaction=browser, **options))
    assert browser.opened == []
    assert world.forms() == []
    assert failed.value.server == "docs"
    assert failed.value.step in str(failed.value)
    return failed.value


@pytest.mark.case("HTTP-06")
async def test_http_06_metadata_only_at_the_root_or_only_at_the_path() -> None:
    world = World()
    world.documents[ROOT_FORM] = world.documents.pop(PATH_FORM)
    await signed_in(world)
    assert world.asked("protected-resource") == [PATH_FORM, ROOT_FORM]
    world = World()
    await signed_in(world)
    assert world.asked("protected-resource") == [PATH_FORM]


@pytest.mark.case("HTTP-06")
async def test_http_06_the_advertised_address_comes_first_and_the_others_after_it() -> None:
    world = World()
    elsewhere = "https://mcp.example/elsewhere.json"
    world.challenge = f'Bearer resource_metadata="{elsewhere}"'
    world.documents = {elsewhere: world.resource(), ISSUER_FORM: world.metadata()}
    await signed_in(world)
    assert world.asked("elsewhere") == [elsewhere]
    assert world.asked("protected-resource") == []
    world = World()
    world.challenge = f'Bearer resource_metadata="{elsewhere}"'
    await signed_in(world)
    assert world.asked("elsewhere") + world.asked("protected-resource") == [elsewhere, PATH_FORM]


@pytest.mark.case("HTTP-06")
@pytest.mark.parametrize(
    ("server_url", "resource", "works"),
    [
        ("https://mcp.example/mcp", "https://mcp.example/mcp", True),
        ("https://mcp.example/mcp", "https://mcp.example/mcp/", False),
        ("https://mcp.example/mcp/", "https://mcp.example/mcp", True),
        ("https://mcp.example/mcp", "https://mcp.example", True),
        ("https://mcp.example/mcp", "https://mcp.example/", True),
        ("https://mcp.example/mcp", "https://mcp.example/mcpx", False),
        ("https://mcp.example/mcp", "https://evil.example/mcp", False),
    ],
)
async def test_http_06_the_resource_is_the_server_or_a_path_above_it(
    server_url: str, resource: str, works: bool
) -> None:
    world = World(server_url)
    world.change_resource(resource=resource)
    if works:
        browser = await signed_in(world)
        assert browser.query["resource"] == resource
        assert {form["resource"] for form in world.forms()} == {resource}
    else:
        assert resource in str(await refused(world))
        assert len(world.asked("protected-resource")) == 1


@pytest.mark.case("HTTP-06")
@pytest.mark.parametrize(
    ("announced", "named"),
    [
        ("https://auth.example", "https://auth.example/"),
        ("https://auth.example/", "https://auth.example"),
        ("https://auth.example", "https://AUTH.example"),
        ("https://auth.example", "https://auth.example:443"),
        ("https://auth.example", "https://honest.example"),
        ("https://auth.example", None),
        ("https://auth.example", 7),
    ],
)
async def test_http_06_an_issuer_that_differs_by_anything_is_another(announced: str, named: Any) -> None:
    world = World()
    world.change_resource(authorization_servers=[announced])
    world.change_metadata(issuer=named)
    failed = await refused(world)
    assert "metadata of its authorization server" in failed.step
    assert "issuer" in str(failed)


@pytest.mark.case("HTTP-06")
async def test_http_06_an_issuer_that_ends_in_a_slash_everywhere_is_fine() -> None:
    world = World()
    world.change_resource(authorization_servers=["https://auth.example/"])
    world.change_metadata(issuer="https://auth.example/")
    await signed_in(world)


@pytest.mark.case("HTTP-06")
async def test_http_06_the_users_issuer_must_be_one_that_the_server_names() -> None:
    both = ["https://first.example", "https://auth.example"]
    world = World()
    world.change_resource(authorization_servers=both)
    await signed_in(world, settings={"issuer": "https://auth.example"})
    world = World()
    world.change_resource(authorization_servers=both)
    failed = await refused(world, settings={"issuer": "https://honest.example"})
    assert "the server names https://first.example, https://auth.example" in str(failed)
    assert world.asked("honest.example") == []


@pytest.mark.case("HTTP-06")
async def test_http_06_a_page_in_the_place_of_metadata_is_passed_over_and_named() -> None:
    world = World()
    world.documents[ROOT_FORM] = world.documents[PATH_FORM]
    world.documents[PATH_FORM] = HTML
    await signed_in(world)
    world = World()
    world.documents = {PATH_FORM: HTML, ROOT_FORM: HTML}
    failed = await refused(world)
    assert str(failed).count("an HTML page instead of JSON") == 2
    assert failed.step == "looking for its resource metadata"
    world = World()
    world.documents[ISSUER_FORM] = HTML
    failed = await refused(world)
    assert "an HTML page instead of JSON" in str(failed)
    assert "https://auth.example/.well-known/openid-configuration: " in str(failed)


@pytest.mark.case("HTTP-06")
async def test_http_06_metadata_that_is_advertised_and_missing_is_named() -> None:
    world = World()
    del world.documents[ISSUER_FORM]
    failed = await refused(world)
    assert f"{ISSUER_FORM}: the answer is HTTP status 404" in str(failed)
    world = World()
    world.challenge = 'Bearer resource_metadata="https://mcp.example/gone.json"'
    world.documents = {}
    failed = await refused(world)
    assert "authorization server" in failed.step
    assert world.asked("gone.json")
    assert world.asked("/authorize") == []


@pytest.mark.case("HTTP-06")
async def test_http_06_without_a_registration_endpoint_the_user_is_told_to_register() -> None:
    world = World()
    world.change_metadata(registration_endpoint=None)
    failed = await refused(world)
    assert "clientId" in str(failed)
    browser = await signed_in(world, settings={"client_id": "mine"})
    assert browser.query["client_id"] == "mine"


@pytest.mark.case("HTTP-06")
@pytest.mark.parametrize(
    "endpoint", ["token_endpoint", "authorization_endpoint", "registration_endpoint", "revocation_endpoint"]
)
@pytest.mark.parametrize(
    "address",
    ["http://auth.example/x", "http://127.0.0.1:9/x", "file:///x", "javascript:alert(1)", "/token", 5],
)
async def test_http_06_no_endpoint_is_plaintext_off_loopback(endpoint: str, address: Any) -> None:
    world = World()
    world.change_metadata(**{endpoint: address})
    assert endpoint in str(await refused(world))


@pytest.mark.case("HTTP-06")
@pytest.mark.parametrize("methods", [None, [], ["plain"], "S256", ["s256"]])
async def test_http_06_without_s256_nobody_signs_in(methods: Any) -> None:
    world = World()
    world.change_metadata(code_challenge_methods_supported=methods)
    assert "S256" in str(await refused(world))
    assert world.registrations == {}


async def test_plaintext_issuers_and_advertised_addresses_are_refused() -> None:
    world = World()
    world.change_resource(authorization_servers=["http://auth.example"])
    assert "https" in str(await refused(world))
    world = World()
    world.challenge = 'Bearer resource_metadata="http://127.0.0.1:9/x"'
    await signed_in(world)
    assert world.asked("127.0.0.1") == []


async def test_openid_metadata_serves_where_oauth_metadata_is_missing_or_wrong() -> None:
    issuer = "https://auth.example/tenant"
    world = World(issuer=issuer)
    world.documents = {
        PATH_FORM: world.resource(),
        "https://auth.example/.well-known/oauth-authorization-server/tenant": world.metadata(
            issuer="https://x"
        ),
        f"{issuer}/.well-known/openid-configuration": world.metadata(),
    }
    await signed_in(world)
    assert len(world.asked("auth.example")) > 3


async def test_a_server_older_than_resource_metadata_is_its_own_authorization_server() -> None:
    world = World(issuer="https://mcp.example")
    world.documents = {"https://mcp.example/.well-known/oauth-authorization-server": world.metadata()}
    await signed_in(world)
    world = World(issuer="https://mcp.example")
    world.documents = {}
    browser = await signed_in(world)
    assert browser.opened[0].startswith("https://mcp.example/authorize?")


async def test_default_paths_are_not_tried_where_anything_but_nothing_was_found() -> None:
    world = World(issuer="https://mcp.example")
    world.documents = {"https://mcp.example/.well-known/oauth-authorization-server": httpx.Response(503)}
    assert "503" in str(await refused(world))


async def test_documents_without_end_and_redirects_to_elsewhere_are_refused() -> None:
    world = World()
    world.documents[PATH_FORM] = httpx.Response(302, headers={"location": "https://evil.example/x"})
    world.documents[ROOT_FORM] = httpx.Response(200, content=b"[" * 2_000_000)
    failed = await refused(world)
    assert "another host" in str(failed)
    assert "more than" in str(failed)
    assert world.asked("evil") == []


async def test_a_redirect_within_the_origin_is_followed_and_not_for_ever() -> None:
    world = World()
    world.documents[f"{PATH_FORM}/"] = world.documents[PATH_FORM]
    world.documents[PATH_FORM] = httpx.Response(308, headers={"location": f"{PATH_FORM}/"})
    await signed_in(world)
    world = World()
    world.documents[PATH_FORM] = httpx.Response(308, headers={"location": PATH_FORM})
    world.documents[ROOT_FORM] = NOTHING
    assert "on and on" in str(await refused(world))


@pytest.mark.parametrize(
    "document", [[], "x", 5, None, {}, {"resource": 5}, {"resource": "https://mcp.example/mcp"}]
)
async def test_odd_resource_metadata_is_passed_over(document: Any) -> None:
    world = World()
    world.documents[ROOT_FORM] = world.documents[PATH_FORM]
    world.documents[PATH_FORM] = httpx.Response(200, json=document)
    await signed_in(world)


async def test_a_configured_issuer_must_be_one_that_the_server_names() -> None:
    both = ["https://first.example", "https://auth.example"]
    world = World()
    world.change_resource(authorization_servers=both)
    await signed_in(world, settings={"issuer": "https://auth.example"})
    world = World()
    world.change_resource(authorization_servers=both)
    failed = await refused(World(), settings={"issuer": "https://third.example"})
    assert "https://third.example" in str(failed)


async def test_a_configured_issuer_stands_in_for_missing_resource_metadata() -> None:
    world = World()
    del world.documents[PATH_FORM]
    await signed_in(world, settings={"issuer": "https://auth.example"})

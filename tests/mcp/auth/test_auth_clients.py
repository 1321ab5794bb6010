"""How this client is known to an authorization server, and how it proves to be itself."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.support.oauth import Browser, World

from mcp_lectern.mcp.errors import SignInFailed

pytestmark = pytest.mark.anyio
DOCUMENT = "https://lectern.example/client.json"


def pem(key: Any) -> str:
    return str(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())


async def signed_in(world: World, **settings: Any) -> Browser:
    browser = Browser(world)
    await world.authorization(settings=settings).sign_in(browser)
    return browser


async def test_what_the_user_registered_comes_first() -> None:
    world = World()
    world.change_metadata(client_id_metadata_document_supported=True)
    browser = await signed_in(world, client_id="mine", client_metadata_url=DOCUMENT)
    assert browser.query["client_id"] == "mine"
    assert world.registrations == {}


async def test_a_metadata_document_comes_second_where_the_server_reads_such() -> None:
    world = World()
    world.change_metadata(client_id_metadata_document_supported=True)
    browser = await signed_in(world, client_metadata_url=DOCUMENT)
    assert (browser.query["client_id"], world.registrations) == (DOCUMENT, {})
    world = World()
    browser = await signed_in(world, client_metadata_url=DOCUMENT)
    assert browser.query["client_id"] == "registered-1"


@pytest.mark.parametrize("url", ["http://x.example/c", "https://x.example", "https://x.example/", "nonsense"])
async def test_a_metadata_document_lies_at_an_https_address_with_a_path(url: str) -> None:
    world = World()
    world.change_metadata(client_id_metadata_document_supported=True)
    with pytest.raises(SignInFailed, match="clientMetadataUrl"):
        await signed_in(world, client_metadata_url=url)


async def test_a_registration_is_that_of_a_native_application_that_renews() -> None:
    world = World()
    browser = await signed_in(world)
    (body,) = world.registrations.values()
    assert body["application_type"] == "native"
    assert body["grant_types"] == ["authorization_code", "refresh_token"]
    assert body["redirect_uris"] == [browser.query["redirect_uri"]]


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(400, json={"error": "invalid_redirect_uri"}),
        httpx.Response(403, html="<p>no"),
        httpx.Response(201, json=[]),
        httpx.Response(201, json={"client_secret": "x"}),
        httpx.Response(201, text="thanks"),
    ],
)
async def test_a_failed_registration_names_its_step(answer: httpx.Response) -> None:
    world = World()
    world.documents[f"{world.issuer}/register"] = answer
    with pytest.raises(SignInFailed) as failed:
        await signed_in(world)
    assert failed.value.step.startswith("registering")


@pytest.mark.parametrize(
    ("offered", "place"),
    [
        (["client_secret_basic"], "header"),
        (["client_secret_post"], "form"),
        (["client_secret_post", "client_secret_basic"], "header"),
        (None, "header"),
        (["unheard-of"], "header"),
    ],
)
async def test_a_secret_goes_where_the_server_takes_it(offered: list[str] | None, place: str) -> None:
    world = World()
    world.change_metadata(token_endpoint_auth_methods_supported=offered)
    await signed_in(world, client_id="a:b", client_secret="c d%")
    (form,) = world.forms()
    header = next(request for request in world.requests if request.url.path == "/token").headers
    if place == "header":
        assert base64.b64decode(header["authorization"].removeprefix("Basic ")) == b"a%3Ab:c+d%25"
        assert "client_secret" not in form
    else:
        assert (form["client_id"], form["client_secret"]) == ("a:b", "c d%")
        assert "authorization" not in header


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (ec.generate_private_key(ec.SECP256R1()), "ES256"),
        (ec.generate_private_key(ec.SECP384R1()), "ES384"),
        (rsa.generate_private_key(65537, 2048), "RS256"),
        (ed25519.Ed25519PrivateKey.generate(), "EdDSA"),
    ],
)
async def test_a_key_signs_a_statement_for_this_issuer_alone(key: Any, algorithm: str) -> None:
    world = World()
    world.expires_in = 0
    authorization = world.authorization(
        settings={"client_id": "robot", "private_key": pem(key), "grant": "client_credentials"}
    )
    world.challenge = 'Bearer scope="x y"'
    assert (await world.call(authorization)).status_code == 200
    assert (await world.call(authorization)).status_code == 200
    first, second = world.forms()
    assert (first["grant_type"], first["scope"], first["resource"]) == (
        "client_credentials",
        "x y",
        world.server_url,
    )
    claims = [
        jwt.decode(form["client_assertion"], key.public_key(), [algorithm], audience=world.issuer)
        for form in (first, second)
    ]
    assert {(claim["iss"], claim["sub"]) for claim in claims} == {("robot", "robot")}
    assert claims[0]["jti"] != claims[1]["jti"]
    assert claims[0]["exp"] - claims[0]["iat"] <= 300


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("not a key", "not a private key"),
        (pem(ec.generate_private_key(ec.SECP256K1())), "not a private key"),
        (pem(ec.generate_private_key(ec.SECP256R1())), "ES256"),
    ],
)
async def test_a_key_that_cannot_be_used_is_told_without_repeating_it(key: str, words: str) -> None:
    world = World()
    world.change_metadata(token_endpoint_auth_signing_alg_values_supported=["RS256"])
    settings = {"client_id": "robot", "private_key": key, "grant": "client_credentials"}
    with pytest.raises(SignInFailed) as failed:
        await world.call(world.authorization(settings=settings))
    assert words in str(failed.value)
    assert key not in str(failed.value)


async def test_a_program_without_credentials_is_told_what_to_set() -> None:
    world = World()
    with pytest.raises(SignInFailed, match="clientSecret"):
        await world.call(world.authorization(settings={"grant": "client_credentials"}))


async def test_a_new_authorization_server_never_sees_what_belongs_to_the_old_one() -> None:
    world = World()
    authorization = world.authorization()
    await authorization.sign_in(Browser(world))
    old = {*world.registrations, *world.tokens, *world.refresh_tokens}
    world.issuer = "https://new.example"
    world.publish()
    world.tokens.clear()
    world.refresh_tokens.clear()
    world.registrations = {"taken": {}}
    before = len(world.requests)
    await authorization.sign_in(Browser(world))
    sent = world.requests[before:]
    assert any(request.url.host == "new.example" for request in sent)
    told = [str(request.url) + request.content.decode() + str(request.headers) for request in sent]
    assert [secret for secret in old if any(secret in text for text in told)] == []

"""How this client becomes known to an authorization server (basic/authorization/client-registration).

In the specification's order: what the user registered, a client ID metadata document, dynamic registration.
It must not know what is asked for afterwards.
"""

from __future__ import annotations

from typing import Any

import httpx

from mcp_lectern.mcp.auth.addresses import split
from mcp_lectern.mcp.auth.authentication import choose
from mcp_lectern.mcp.auth.exchange import UnreachableError, post_json
from mcp_lectern.mcp.auth.model import Client, ClientAuthentication, OAuthSettings, ServerMetadata, Step

CLIENT_NAME = "Lectern"
_KNOWN: tuple[ClientAuthentication, ...] = ("none", "client_secret_basic", "client_secret_post")


def preregistered(settings: OAuthSettings, metadata: ServerMetadata) -> Client | None:
    """The client that the user registered, if there is one."""
    if settings.client_id is None:
        return None
    method = choose(metadata, secret=settings.client_secret is not None, key=settings.private_key is not None)
    return Client(settings.client_id, settings.client_secret, settings.private_key, method)


def described(settings: OAuthSettings, metadata: ServerMetadata, step: Step) -> Client | None:
    """The client that a metadata document describes, where the server reads such documents."""
    url = settings.client_metadata_url
    if url is None or not metadata.metadata_documents:
        return None
    parts = split(url)
    if parts is None or parts.scheme != "https" or parts.path in ("", "/") or parts.fragment:
        raise step.failed(f"“clientMetadataUrl” must be an https address with a path, unlike {url}.")
    method = choose(metadata, secret=False, key=settings.private_key is not None)
    return Client(url, None, settings.private_key, method)


async def registered(
    client: httpx.AsyncClient,
    *,
    server: str,
    settings: OAuthSettings,
    metadata: ServerMetadata,
    redirect_uri: str,
    known: Client | None = None,
) -> Client:
    """The client to sign in as. ``known`` is one that was registered dynamically at this issuer before.

    Raises SignInFailed.
    """
    step = Step(server, f"registering with its authorization server {metadata.issuer[:200]}")
    ready = preregistered(settings, metadata) or described(settings, metadata, step)
    if ready is not None:
        return ready
    if known is not None and known.registered and known.redirect_uri == redirect_uri:
        return known
    if metadata.registration_endpoint is None:
        raise step.failed(
            "it registers no clients by itself: register one there, and set “clientId” in “oauth”."
        )
    return await _register(client, step, metadata, metadata.registration_endpoint, redirect_uri)


async def _register(
    client: httpx.AsyncClient, step: Step, metadata: ServerMetadata, endpoint: str, redirect_uri: str
) -> Client:
    """Dynamic registration (RFC 7591), as a native application."""
    offered = metadata.authentication_methods
    wanted = next((method for method in _KNOWN if method in offered), "none")
    body = {
        "client_name": CLIENT_NAME,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted,
        "application_type": "native",
    }
    try:
        reply = await post_json(client, endpoint, body)
    except UnreachableError as error:
        raise step.failed(f"{error}.") from error
    if not reply.ok or not isinstance(reply.body, dict):
        raise step.failed(f"{reply.outcome}.", code=reply.error)
    return _client(reply.body, metadata, step, redirect_uri)


def _client(body: dict[str, Any], metadata: ServerMetadata, step: Step, redirect_uri: str) -> Client:
    identifier, secret = body.get("client_id"), body.get("client_secret")
    if not isinstance(identifier, str) or not identifier:
        raise step.failed("its answer holds no client id.")
    secret = secret if isinstance(secret, str) and secret else None
    named = body.get("token_endpoint_auth_method")
    method = named if named in _KNOWN else choose(metadata, secret=secret is not None, key=False)
    if method != "none" and secret is None:
        method = "none"
    return Client(identifier, secret, None, method, redirect_uri, registered=True)

"""The grants: what is asked of an authorization server, and what its answers mean; must not do I/O.

Authorization code with PKCE (S256, never without), refresh, client credentials; OAuth 2.1, 4.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from mcp_lectern.mcp.auth.challenge import scopes_of, union
from mcp_lectern.mcp.auth.model import Client, Found, ServerMetadata, Step, Tokens

OFFLINE = "offline_access"
_LONGEST_TOKEN = 65_536
_LONGEST_LIFE = 10 * 365 * 86_400
_TOKEN_CHARACTERS = frozenset(map(chr, range(0x21, 0x7F)))


@dataclass(frozen=True, slots=True)
class Request:
    """One authorization request: what is to be remembered of it until its response comes."""

    url: str
    redirect_uri: str
    issuer: str
    names_itself: bool
    state: str = field(repr=False)
    verifier: str = field(repr=False)
    scopes: tuple[str, ...] = ()


def wanted_scopes(
    configured: tuple[str, ...] | None,
    challenged: tuple[str, ...] | None,
    supported: tuple[str, ...] | None,
    before: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """The scopes to ask for (specification 2026-07-28, scope selection and step-up).

    The challenge's, else those that the resource names, else none; the user's own choice stands before both.
    With them what was asked for before, so that no permission gets lost.
    """
    chosen = configured if configured is not None else challenged if challenged is not None else supported
    missing = challenged if configured is not None and before else None
    return union(before, chosen, missing)


def check_challenge_methods(metadata: ServerMetadata, step: Step) -> str:
    """The authorization endpoint of a server that is known to do PKCE with S256. Raises SignInFailed."""
    if metadata.authorization_endpoint is None:
        raise step.failed("it names no authorization endpoint.")
    if "S256" not in metadata.challenge_methods:
        raise step.failed(
            "it does not say that it supports PKCE with S256, without which a code can be stolen."
        )
    return metadata.authorization_endpoint


def authorization_request(
    found: Found, client: Client, redirect_uri: str, scopes: tuple[str, ...], step: Step
) -> Request:
    """A new request, with a state and verifier of its own. Raises SignInFailed."""
    endpoint = check_challenge_methods(found.metadata, step)
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(64)
    if scopes and OFFLINE in found.metadata.scopes:
        scopes = union(scopes, (OFFLINE,))
    query = {
        "response_type": "code",
        "client_id": client.id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": s256(verifier),
        "code_challenge_method": "S256",
        "resource": found.resource,
    }
    if scopes:
        query["scope"] = " ".join(scopes)
    if OFFLINE in scopes:
        # OpenID Connect Core, 11: without consent a server ignores the scope.
        query["prompt"] = "consent"
    metadata = found.metadata
    return Request(
        _with_query(endpoint, query),
        redirect_uri,
        metadata.issuer,
        metadata.names_itself,
        state,
        verifier,
        scopes,
    )


def s256(verifier: str) -> str:
    """The challenge of a verifier (RFC 7636, 4.2)."""
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def _with_query(url: str, query: Mapping[str, str]) -> str:
    """The endpoint's own query stays (RFC 6749, 3.1), except for what is ours to say."""
    parts = urlsplit(url)
    kept = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in query]
    return urlunsplit(parts._replace(query=urlencode([*kept, *query.items()]), fragment=""))


def has_state(request: Request, response: Mapping[str, str]) -> bool:
    """Whether a response belongs to this request; anything else is somebody else's and is discarded."""
    return hmac.compare_digest(response.get("state", "").encode(), request.state.encode())


def code_of(request: Request, response: Mapping[str, str], step: Step) -> str:
    """The code of an authorization response. Raises SignInFailed.

    The issuer is compared first, and as an exact string (RFC 9207, 2.4): of a response that another server
    caused, not even the error is repeated.
    """
    issuer = response.get("iss")
    if issuer is None and request.names_itself:
        raise step.failed("the response does not name its issuer, although the server says that it does.")
    if issuer is not None and issuer != request.issuer:
        raise step.failed(f"the response comes from another issuer than {request.issuer[:200]}.")
    if not has_state(request, response):
        raise step.failed("the response belongs to another request.")
    if "error" in response:
        description = response.get("error_description", "")
        shown = f" ({_printable(description)})" if description else ""
        raise step.failed(f"{_printable(response['error'])}{shown}.", code=response["error"][:100])
    code = response.get("code")
    if not code:
        raise step.failed("the response holds no code.")
    return code


def code_form(request: Request, code: str, resource: str) -> dict[str, str]:
    """The token request for a code."""
    return {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": request.redirect_uri,
        "code_verifier": request.verifier,
        "resource": resource,
    }


def refresh_form(refresh_token: str, resource: str) -> dict[str, str]:
    """The token request that renews; without a scope it keeps what was granted."""
    return {"grant_type": "refresh_token", "refresh_token": refresh_token, "resource": resource}


def credentials_form(resource: str, scopes: tuple[str, ...]) -> dict[str, str]:
    """The token request of a client that acts for itself (extension oauth-client-credentials)."""
    form = {"grant_type": "client_credentials", "resource": resource}
    return {**form, "scope": " ".join(scopes)} if scopes else form


def tokens_of(body: Any, asked: tuple[str, ...], step: Step, *, before: Tokens | None = None) -> Tokens:
    """A token response. ``before`` are the tokens that it renews. Raises SignInFailed."""
    if not isinstance(body, dict):
        raise step.failed("the token endpoint's answer is no JSON object.")
    kind = body.get("token_type")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise step.failed("the server issued a token of a kind that Lectern cannot use.")
    access = body.get("access_token")
    if not isinstance(access, str) or not _is_token(access):
        raise step.failed("the token endpoint's answer holds no usable access token.")
    refresh = body.get("refresh_token")
    if not _is_token(refresh):
        refresh = before.refresh if before else None
    granted = body.get("scope")
    scopes = scopes_of(granted) if isinstance(granted, str) and granted.strip() else asked
    lifetime = _lifetime(body.get("expires_in"))
    expires_at = None if lifetime is None else time.time() + lifetime
    return Tokens(access, refresh, expires_at, lifetime or 0.0, scopes)


def _is_token(value: object) -> bool:
    """Whether it can stand in a header: a token with a line break would be a header of its own."""
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_TOKEN and _TOKEN_CHARACTERS.issuperset(value)


def _lifetime(value: object) -> float | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < _LONGEST_LIFE:
        return None
    return float(value)


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text[:300])

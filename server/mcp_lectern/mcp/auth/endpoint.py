"""Token and revocation requests, from a form to tokens; must not decide when one is due.

Every failure is a SignInFailed that names its step. Of an answer nothing but OAuth's own error is repeated.
"""

from __future__ import annotations

from dataclasses import replace

import httpx

from mcp_lectern.mcp.auth import grant as forms
from mcp_lectern.mcp.auth.authentication import authenticated
from mcp_lectern.mcp.auth.exchange import Reply, UnreachableError, post_form
from mcp_lectern.mcp.auth.model import Client, Found, Grant, Step, Tokens


async def redeem(
    http: httpx.AsyncClient, step: Step, found: Found, client: Client, *, request: forms.Request, code: str
) -> Grant:
    """Tokens for an authorization code."""
    form = forms.code_form(request, code, found.resource)
    reply = await _asked(http, step, Grant(found.resource, found.metadata, client, Tokens("")), form)
    tokens = forms.tokens_of(reply.body, request.scopes, step)
    return Grant(found.resource, found.metadata, client, tokens, request.scopes)


async def renew(http: httpx.AsyncClient, step: Step, grant: Grant, refresh: str) -> Grant:
    """New tokens for a refresh token; the old one counts on where the server sends no other."""
    reply = await _asked(http, step, grant, forms.refresh_form(refresh, grant.resource))
    tokens = forms.tokens_of(reply.body, grant.tokens.scopes, step, before=grant.tokens)
    return replace(grant, tokens=tokens)


async def act_for_itself(
    http: httpx.AsyncClient, step: Step, found: Found, client: Client, scopes: tuple[str, ...]
) -> Grant:
    """Tokens of a client that acts on its own behalf."""
    form = forms.credentials_form(found.resource, scopes)
    reply = await _asked(http, step, Grant(found.resource, found.metadata, client, Tokens("")), form)
    tokens = forms.tokens_of(reply.body, scopes, step)
    return Grant(found.resource, found.metadata, client, tokens, scopes)


async def revoke(http: httpx.AsyncClient, step: Step, grant: Grant) -> None:
    """Revoke a grant, where its server has an endpoint for that (RFC 7009)."""
    endpoint = grant.metadata.revocation_endpoint
    if endpoint is None:
        return
    token, hint = grant.tokens.access, "access_token"
    if grant.tokens.refresh is not None:
        token, hint = grant.tokens.refresh, "refresh_token"
    form = {"token": token, "token_type_hint": hint}
    form, headers = authenticated(form, grant.client, grant.metadata, step)
    try:
        reply = await post_form(http, endpoint, form, headers)
    except UnreachableError as error:
        raise step.failed(f"{error}.") from error
    if not reply.ok:
        raise step.failed(f"{reply.outcome}.", code=reply.error)


async def _asked(http: httpx.AsyncClient, step: Step, grant: Grant, form: dict[str, str]) -> Reply:
    form, headers = authenticated(form, grant.client, grant.metadata, step)
    try:
        reply = await post_form(http, grant.metadata.token_endpoint, form, headers)
    except UnreachableError as error:
        raise step.failed(f"{error}.") from error
    # Some say with status 200 that something is wrong.
    if not reply.ok or reply.error is not None:
        raise step.failed(f"{reply.outcome}.", code=reply.error)
    return reply

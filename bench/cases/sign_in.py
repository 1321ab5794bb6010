"""How either client signs in without a person: whoever opens the page is sent back; knows no servers."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

from mcp_lectern.mcp.auth.authorization import Authorization
from mcp_lectern.mcp.auth.flow import OAuthFlow
from mcp_lectern.mcp.auth.model import OAuthSettings
from mcp_lectern.mcp.auth.tokens import InMemory

REDIRECT = "http://127.0.0.1:9/callback"


class Following:
    """Ours: whoever opens the page is sent back to the address that waits."""

    async def open_browser(self, url: str) -> None:
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.get(url)
            await client.get(answer.headers["location"])

    async def redirect_address(self, local: str) -> str:
        return local


async def our_flow(url: str) -> httpx.Auth:
    """Signed in. Raises SignInFailed."""
    authorization = Authorization(
        url,
        OAuthSettings(),
        server="case",
        storage=InMemory(),
        clients=lambda: httpx.AsyncClient(trust_env=False),
    )
    await authorization.sign_in(Following())
    return OAuthFlow(authorization)


class Kept:
    """Theirs: where tokens and the client are kept."""

    def __init__(self) -> None:
        self._tokens: Any = None
        self._client: Any = None

    async def get_tokens(self) -> Any:
        return self._tokens

    async def set_tokens(self, tokens: Any) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> Any:
        return self._client

    async def set_client_info(self, client_info: Any) -> None:
        self._client = client_info


async def their_flow(url: str) -> httpx2.Auth:
    """Signs in with the first refusal."""
    came: list[str] = []

    async def redirect(address: str) -> None:
        async with httpx.AsyncClient(trust_env=False) as client:
            came.append((await client.get(address)).headers["location"])

    async def callback() -> AuthorizationCodeResult:
        query = {name: values[0] for name, values in parse_qs(urlsplit(came[-1]).query).items()}
        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))

    described = OAuthClientMetadata(client_name="case", redirect_uris=[REDIRECT])
    return OAuthClientProvider(url, described, Kept(), redirect, callback)

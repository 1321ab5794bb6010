"""An authorization server and a protected MCP resource in one process, as hostile or broken as a test wants.

world = World()
async with world.http() as client:
    await client.post(world.server_url, …)

No socket is involved: hosts are names in this file. ``world.serve()`` puts it on a port of 127.0.0.1.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import secrets
import urllib.parse
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx

from mcp_lectern.mcp.auth.authorization import Authorization
from mcp_lectern.mcp.auth.flow import OAuthFlow
from mcp_lectern.mcp.auth.model import OAuthSettings
from mcp_lectern.mcp.auth.tokens import InMemory, TokenStorage

Json = Any
HTML = httpx.Response(200, html="<!doctype html><title>Welcome</title>")
NOTHING = httpx.Response(404, text="nothing here")


class World:
    """``documents`` holds what lies where: JSON, or a whole response; it is there to be changed by tests.

    ``challenge`` None: refusals carry no header. ``scopes`` are what the resource requires, by method,
    and ``open`` are methods for which nobody needs a token.
    """

    def __init__(
        self, server_url: str = "https://mcp.example/mcp", issuer: str = "https://auth.example"
    ) -> None:
        self.server_url = server_url
        self.issuer = issuer
        self.documents: dict[str, Json] = {}
        self.requests: list[httpx.Request] = []
        self.challenge: str | None = "Bearer"
        self.scopes: dict[str, tuple[str, ...]] = {}
        self.accepts = True
        self.open: tuple[str, ...] = ()
        self.tokens: dict[str, tuple[str, ...]] = {}
        self.refresh_tokens: dict[str, tuple[str, ...]] = {}
        self.expires_in: Json = 3600
        self.response: dict[str, str | None] = {}
        self.token_answer: Callable[[dict[str, str]], httpx.Response] | None = None
        self.registrations: dict[str, Json] = {}
        self.revoked: list[str] = []
        self._codes: dict[str, dict[str, str]] = {}
        self.publish()

    def publish(self) -> None:
        """What an orderly server publishes: resource metadata at the path form, RFC 8414 metadata."""
        parts = urllib.parse.urlsplit(self.server_url)
        base = f"{parts.scheme}://{parts.netloc}"
        self.documents = {
            f"{base}/.well-known/oauth-protected-resource{parts.path}": self.resource(),
            f"{self.issuer}/.well-known/oauth-authorization-server": self.metadata(),
        }

    def resource(self, **changes: Json) -> dict[str, Json]:
        document = {"resource": self.server_url, "authorization_servers": [self.issuer], **changes}
        return {name: value for name, value in document.items() if value is not None}

    def metadata(self, **changes: Json) -> dict[str, Json]:
        document = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register",
            "revocation_endpoint": f"{self.issuer}/revoke",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            **changes,
        }
        return {name: value for name, value in document.items() if value is not None}

    def change_metadata(self, **changes: Json) -> None:
        self.documents[f"{self.issuer}/.well-known/oauth-authorization-server"] = self.metadata(**changes)

    def change_resource(self, **changes: Json) -> None:
        url = next(url for url in self.documents if "protected-resource" in url)
        self.documents[url] = self.resource(**changes)

    def asked(self, path: str = "") -> list[str]:
        """The addresses that were requested, those that hold ``path``."""
        urls = [str(request.url.copy_with(query=None)) for request in self.requests]
        return [url for url in urls if path in url]

    def forms(self, path: str = "/token") -> list[dict[str, str]]:
        """The forms that were sent to an endpoint."""
        return [form_of(request) for request in self.requests if request.url.path == path]

    def http(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(self.handle))

    def authorization(self, storage: TokenStorage | None = None, **options: Any) -> Authorization:
        settings = OAuthSettings(**options.pop("settings", {}))
        return Authorization(
            self.server_url,
            settings,
            **{"server": "docs", "storage": storage or InMemory(), "clients": self.http, **options},
        )

    async def call(self, authorization: Authorization, method: str = "resources/list") -> httpx.Response:
        """One MCP request under this authorization."""
        async with self.http() as client:
            body = {"jsonrpc": "2.0", "id": 1, "method": method}
            return await client.post(self.server_url, json=body, auth=OAuthFlow(authorization))

    def calls(self) -> list[str | None]:
        """The Authorization header of each MCP request so far."""
        return [
            request.headers.get("authorization")
            for request in self.requests
            if str(request.url) == self.server_url
        ]

    def handle(self, request: httpx.Request) -> httpx.Response:
        # A copy: what sends a request once more changes it.
        copy = httpx.Request(request.method, request.url, headers=request.headers, content=request.content)
        self.requests.append(copy)
        url = str(request.url.copy_with(query=None)).removesuffix("?")
        if url in self.documents:
            document = self.documents[url]
            return document if isinstance(document, httpx.Response) else httpx.Response(200, json=document)
        if url == self.server_url:
            return self._resource(request)
        endpoints = {
            f"{self.issuer}/authorize": self._authorize,
            f"{self.issuer}/token": self._token,
            f"{self.issuer}/register": self._register,
            f"{self.issuer}/revoke": self._revoke,
        }
        return endpoints.get(url, lambda _request: NOTHING)(request)

    def _resource(self, request: httpx.Request) -> httpx.Response:
        message = json.loads(request.content or b"{}")
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        needless = message.get("method") in self.open
        if not needless and (not self.accepts or token not in self.tokens):
            headers = {"www-authenticate": self.challenge} if self.challenge is not None else {}
            return httpx.Response(401, headers=headers, text="go away")
        needed = self.scopes.get(message.get("method", ""), ())
        if not set(needed) <= set(self.tokens.get(token, ())):
            challenge = f'Bearer error="insufficient_scope", scope="{" ".join(needed)}"'
            return httpx.Response(403, headers={"www-authenticate": challenge})
        if "id" not in message:
            return httpx.Response(202)
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": message["id"], **_answer(message)})

    def _authorize(self, request: httpx.Request) -> httpx.Response:
        query = dict(request.url.params)
        code = secrets.token_urlsafe(8)
        self._codes[code] = query
        answer = {"code": code, "state": query["state"], **self.response}
        back = {name: value for name, value in answer.items() if value is not None}
        return httpx.Response(
            302, headers={"location": f"{query['redirect_uri']}?{urllib.parse.urlencode(back)}"}
        )

    def _token(self, request: httpx.Request) -> httpx.Response:
        form = form_of(request)
        if self.token_answer is not None:
            return self.token_answer(form)
        if form["grant_type"] == "authorization_code":
            asked = self._codes.pop(form["code"])
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == asked["code_challenge"]
            assert (asked["code_challenge_method"], asked["redirect_uri"], asked["resource"]) == (
                "S256",
                form["redirect_uri"],
                form["resource"],
            )
            return self._issued(tuple(asked.get("scope", "").split()))
        if form["grant_type"] == "refresh_token":
            scopes = self.refresh_tokens.pop(form["refresh_token"], None)
            if scopes is None:
                return httpx.Response(400, json={"error": "invalid_grant"})
            return self._issued(scopes)
        return self._issued(tuple(form.get("scope", "").split()), refresh=False)

    def _issued(self, scopes: tuple[str, ...], *, refresh: bool = True) -> httpx.Response:
        number = len(self.tokens) + 1
        access, again = f"access-{number}-{secrets.token_hex(8)}", f"refresh-{number}-{secrets.token_hex(8)}"
        self.tokens[access] = scopes
        answer: dict[str, Json] = {"access_token": access, "token_type": "Bearer"}
        if self.expires_in is not None:
            answer["expires_in"] = self.expires_in
        if refresh:
            self.refresh_tokens[again] = scopes
            answer["refresh_token"] = again
        return httpx.Response(200, json=answer)

    def _register(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        client_id = f"registered-{len(self.registrations) + 1}"
        self.registrations[client_id] = body
        return httpx.Response(201, json={**body, "client_id": client_id})

    def _revoke(self, request: httpx.Request) -> httpx.Response:
        self.revoked.append(form_of(request)["token"])
        return httpx.Response(200)

    @contextlib.asynccontextmanager
    async def serve(self) -> AsyncIterator[None]:
        """The world on a port of its own: server and issuer take its address, and documents are new."""

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                await self._converse(reader, writer, base)
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self.server_url, self.issuer = f"{base}/mcp", base
        self.publish()
        try:
            yield
        finally:
            server.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, base: str) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        method, target, _ = first.split(" ")
        headers = dict(line.split(": ", 1) for line in lines)
        lengths = {name.lower(): value for name, value in headers.items()}
        body = await reader.readexactly(int(lengths.get("content-length", 0)))
        response = self.handle(httpx.Request(method, base + target, headers=headers, content=body))
        sent = {name: value for name, value in response.headers.items() if name != "content-length"}
        sent |= {"content-length": str(len(response.content)), "connection": "close"}
        written = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        writer.write(
            f"HTTP/1.1 {response.status_code} X\r\n{written}\r\n".encode("latin-1") + response.content
        )
        await writer.drain()


def _answer(message: dict[str, Json]) -> dict[str, Json]:
    results: dict[str, Json] = {
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"resources": {}},
            "serverInfo": {"name": "protected", "version": "1"},
        },
        "resources/list": {"resources": [{"uri": "res://secret", "name": "secret"}]},
        "resources/templates/list": {"resourceTemplates": []},
        "resources/read": {"contents": [{"uri": "res://secret", "text": "for the signed-in only"}]},
    }
    result = results.get(message["method"])
    return (
        {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
    )


def form_of(request: httpx.Request) -> dict[str, str]:
    return dict(urllib.parse.parse_qsl(request.content.decode(), keep_blank_values=True))


class Browser:
    """An ``Interaction`` that follows the authorization server's page to the loopback listener and agrees."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.opened: list[str] = []
        self.pages: list[httpx.Response] = []
        self.redirects: list[str] = []

    async def open_browser(self, url: str) -> None:
        self.opened.append(url)
        async with self.world.http() as client:
            answer = await client.get(url)
        await self.follow(answer.headers["location"])

    async def follow(self, address: str) -> None:
        async with httpx.AsyncClient(trust_env=False) as client:
            self.pages.append(await client.get(address))

    async def redirect_address(self, local: str) -> str:
        self.redirects.append(local)
        return local

    @property
    def query(self) -> dict[str, str]:
        """The parameters of the page that was opened last."""
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.opened[-1]).query))

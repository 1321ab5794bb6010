"""Requests to authorization servers: small JSON in and out, bounded; must not know what any of it means.

A client of its own carries them, so that no header that a user configured for a server reaches another.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

import httpx

from mcp_lectern.mcp.auth import addresses

Json = Any
_LARGEST = 1024 * 1024
_REDIRECTS = 3
_MOVED = frozenset({301, 302, 303, 307, 308})
_SECONDS = 30.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class UnreachableError(Exception):
    """No answer came; ``str()`` is the end of a sentence."""


@dataclass(frozen=True, slots=True)
class Reply:
    """``body`` is None where it was not JSON; then ``text`` shows what kind of thing it was instead."""

    status: int
    body: Json = field(repr=False)
    text: str = field(default="", repr=False)

    @property
    def ok(self) -> bool:
        """Whether the status is one of success."""
        return 200 <= self.status < 300

    @property
    def outcome(self) -> str:
        """What came, as the end of a sentence; of the body nothing but an OAuth error (RFC 6749, 5.2)."""
        if isinstance(self.body, dict) and isinstance(self.body.get("error"), str):
            description = self.body.get("error_description")
            more = f" ({_shown(description)})" if isinstance(description, str) and description else ""
            return f"the answer is {_shown(self.body['error'])}{more}, HTTP status {self.status}"
        if self.ok and self.body is None:
            return f"the answer is {self.text or 'not JSON'} instead of JSON"
        return f"the answer is HTTP status {self.status}"

    @property
    def error(self) -> str | None:
        """The OAuth error code, if the answer has one."""
        error = self.body.get("error") if isinstance(self.body, dict) else None
        return error if isinstance(error, str) else None


Clients = Callable[[], httpx.AsyncClient]
"""Makes a client with the network's settings (proxy, certificates) and no credentials."""


class Routed(httpx.AsyncBaseTransport):
    """Reaches each address through the proxy that ``route`` names for it, None for none.

    No proxy is asked for what lies on this machine: to a proxy, that would be itself.
    """

    def __init__(self, route: Callable[[str], str | None], verify: Any) -> None:
        self._route = route
        self._verify = verify
        self._ways: dict[str | None, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One exchange."""
        proxy = None if request.url.host in _LOOPBACK else self._route(str(request.url))
        if proxy not in self._ways:
            self._ways[proxy] = httpx.AsyncHTTPTransport(verify=self._verify, proxy=proxy)
        return await self._ways[proxy].handle_async_request(request)

    async def aclose(self) -> None:
        """Close every connection."""
        for way in self._ways.values():
            await way.aclose()


def plain_clients(verify: Any = True, route: Callable[[str], str | None] = lambda _url: None) -> Clients:
    """Clients for authorization servers; ``verify`` as httpx takes it, ``route`` as ``Routed`` does."""

    def make() -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=Routed(route, verify), timeout=_SECONDS, follow_redirects=False)

    return make


async def get(client: httpx.AsyncClient, url: str) -> Reply:
    """A document. A redirect is followed within its origin only. Raises UnreachableError."""
    for _ in range(_REDIRECTS):
        request = client.build_request("GET", url, headers={"Accept": "application/json"})
        response, reply = await _sent(client, request)
        if response.status_code not in _MOVED:
            return reply
        moved = urljoin(url, response.headers.get("location", ""))
        if not addresses.same_origin(moved, url):
            raise UnreachableError(f"{url} sends us on to another host")
        url = moved
    raise UnreachableError(f"{url} sends us on and on")


async def post_form(
    client: httpx.AsyncClient, url: str, form: Mapping[str, str], headers: Mapping[str, str]
) -> Reply:
    """A form to an endpoint; no redirect is followed, since it holds credentials. Raises UnreachableError."""
    accept = {"Accept": "application/json", **headers}
    return (await _sent(client, client.build_request("POST", url, data=dict(form), headers=accept)))[1]


async def post_json(client: httpx.AsyncClient, url: str, body: Mapping[str, Json]) -> Reply:
    """A JSON object to an endpoint. Raises UnreachableError."""
    headers = {"Accept": "application/json"}
    return (await _sent(client, client.build_request("POST", url, json=body, headers=headers)))[1]


async def _sent(client: httpx.AsyncClient, request: httpx.Request) -> tuple[httpx.Response, Reply]:
    try:
        response = await client.send(request, stream=True)
        try:
            content = await _content(response)
        finally:
            await response.aclose()
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        raise UnreachableError(f"{request.url.host} cannot be reached ({_reason(error)})") from error
    return response, Reply(response.status_code, _json(content), _kind(response, content))


async def _content(response: httpx.Response) -> bytes:
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > _LARGEST:
            raise UnreachableError(f"{response.url.host} answers with more than {_LARGEST} bytes")
    return bytes(content)


def _json(content: bytes) -> Json:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _kind(response: httpx.Response, content: bytes) -> str:
    if not content:
        return "empty"
    media: str = response.headers.get("content-type", "")
    return "an HTML page" if "html" in media.lower() else f"of type {_shown(media)}" if media else ""


def _reason(error: Exception) -> str:
    return _shown(str(error)) or type(error).__name__


def _shown(text: str) -> str:
    """A stranger's words in one short line."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:1000]).split())
    return line if len(line) <= 300 else f"{line[:300]}…"

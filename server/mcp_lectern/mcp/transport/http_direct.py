"""Requests that need no proxy, on connections of our own: the short way; must not know redirects.

httpx says what a request's head is; it is asked once for each kind of request, and what it says is kept.
Where something has to look at requests and answers, as signing in does, httpx sends them, over the same
connections.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from typing import Final

import httpx

from mcp_lectern.mcp.wire.http_request import header_lines, request_line, with_body
from mcp_lectern.mcp.wire.http_response import BadResponseError

from .http_pool import Exchanged, HttpPool, NoConnectionError

MOST_HEADS: Final = 64


class Direct:
    """The short way. ``client`` says what stands in the head of each request."""

    def __init__(self, pool: HttpPool, client: httpx.AsyncClient) -> None:
        self._pool = pool
        self._client = client
        self._heads: dict[tuple[str, ...], bytes] = {}

    async def send(self, verb: str, url: str, headers: Mapping[str, str], content: bytes | None) -> Exchanged:
        """One request. Raises ValueError for one that cannot be sent, else what ``HttpPool`` raises."""
        own = header_lines((name.encode("ascii"), value.encode()) for name, value in headers.items())
        return await self._pool.exchange(with_body(self._head(verb, url, headers) + own, content))

    def _head(self, verb: str, url: str, headers: Mapping[str, str]) -> bytes:
        """The head without the headers that differ from request to request."""
        key = (verb, url, *headers)
        head = self._heads.get(key)
        if head is None:
            if len(self._heads) >= MOST_HEADS:
                self._heads.clear()
            head = self._heads[key] = self._prepared(verb, url, headers)
        return head

    def _prepared(self, verb: str, url: str, headers: Mapping[str, str]) -> bytes:
        request = self._client.build_request(verb, url)
        own = {name.lower().encode("ascii") for name in headers} | {b"content-length"}
        fields = [(name, value) for name, value in request.headers.raw if name.lower() not in own]
        if request.url.username or request.url.password:
            fields = [field for field in fields if field[0].lower() != b"authorization"]
            fields.append((b"Authorization", _basic(request.url)))
        return request_line(verb, request.url.raw_path) + header_lines(fields)


class DirectTransport(httpx.AsyncBaseTransport):
    """The same connections, for httpx."""

    def __init__(self, pool: HttpPool) -> None:
        self._pool = pool

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One request. Raises httpx's errors."""
        content = await request.aread()
        counted = "content-length" in request.headers
        fields = [field for field in request.headers.raw if field[0].lower() != b"content-length"]
        try:
            head = request_line(request.method, request.url.raw_path) + header_lines(fields)
            exchanged = await self._pool.exchange(with_body(head, content if counted else None))
        except ValueError as error:
            raise httpx.LocalProtocolError(str(error)) from error
        except NoConnectionError as error:
            kind = httpx.ConnectTimeout if error.timed_out else httpx.ConnectError
            raise kind(str(error)) from error
        except (BadResponseError, OSError) as error:
            raise httpx.RemoteProtocolError(str(error)) from error
        fields = [(name.encode(), value.encode()) for name, value in exchanged.head.fields]
        stream = _Stream(exchanged)
        extensions = {"network_stream": stream}
        return httpx.Response(exchanged.head.status, headers=fields, stream=stream, extensions=extensions)

    async def aclose(self) -> None:
        """Close the connections."""
        self._pool.close()


class _Stream(httpx.AsyncByteStream):
    """The body of a response, as httpx wants it."""

    def __init__(self, exchanged: Exchanged) -> None:
        self._exchanged = exchanged

    def get_extra_info(self, info: str) -> object:
        """What a stream of httpx's own says of its connection."""
        return self._exchanged.connection.socket if info == "socket" else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._exchanged.pieces():
                yield piece
        except (BadResponseError, OSError) as error:
            raise httpx.RemoteProtocolError(str(error)) from error

    async def aclose(self) -> None:
        self._exchanged.close()


def _basic(url: httpx.URL) -> bytes:
    """Name and password of an address (RFC 7617)."""
    return b"Basic " + base64.b64encode(f"{url.username}:{url.password}".encode())

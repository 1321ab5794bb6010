"""One remote server's HTTP: redirects, cookies, failures in words; must not know what is in a body.

With ``http_direct``, ``http_library`` and ``auth`` the only modules that know httpx: its exceptions become
this package's own here. HTTP/1.1 alone: over HTTP/2 httpx 0.28 does not reset a stream that is closed early,
so that a request that is given up would not be cancelled, and what its server still sends would use up the
window of all others.
"""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Final, Protocol

import anyio
import anyio.to_thread
import httpx

from mcp_lectern.mcp.errors import HttpFailure, Unreachable
from mcp_lectern.mcp.wire.failures import Asked
from mcp_lectern.mcp.wire.http_response import BadResponseError

from .body import BadEncodingError, UnknownEncodingError, decoder
from .certificates import CertificateFileError, certificate_trouble
from .http_direct import Direct
from .http_library import LibraryResponse, make_client
from .http_pool import Exchanged, NoConnectionError, Patience
from .remote import HttpParameters, beside, shown

MOST_REDIRECTS: Final = 5
CONNECT_SECONDS: Final = 15.0
WRITE_SECONDS: Final = 30.0
IDLE_SECONDS: Final = 15.0
BEGINNING_SECONDS: Final = 3.0
IDLE_CONNECTIONS: Final = 16
_KEEP_ALIVE: Final = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))


class CutShortError(Exception):
    """The exchange broke off: before the status, or in the middle of the body."""


class UnreadableBodyError(CutShortError):
    """The body came, and is encoded in a way that cannot be read; ``str()`` is a phrase for what it is."""


class Response(Protocol):
    """What carries one answer, whichever way it came."""

    @property
    def status(self) -> int:
        """The status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """By lower-case name; repeated ones are joined by commas."""

    @property
    def socket(self) -> socket.socket | None:
        """The connection's, where there is one that can be told anything."""

    def pieces(self) -> AsyncGenerator[bytes]:
        """The body as it arrives. Raises BadResponseError or OSError."""

    async def close(self) -> None:
        """Nothing more is wanted of it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response whose body has not been read yet. ``headers`` has lower-case names alone."""

    status: int
    headers: Mapping[str, str]
    _response: Response

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The body, decompressed, in pieces. Raises CutShortError, also as UnreadableBodyError."""
        try:
            decode = decoder(self.headers.get("content-encoding"))
            async with aclosing(self._response.pieces()) as chunks:
                async for chunk in chunks:
                    for piece in decode.feed(chunk):
                        yield piece
        except (BadResponseError, OSError) as error:
            raise CutShortError(str(error) or type(error).__name__) from error
        except BadEncodingError as error:
            raise UnreadableBodyError(f"a body that is not encoded as it says ({error})") from error
        except UnknownEncodingError as error:
            raise UnreadableBodyError(f'a body encoded as "{error}", which was not asked for') from error

    async def beginning(self, most: int) -> bytes:
        """The first bytes of the body, as far as they come soon: what the status says is told anyway."""
        start = b""
        try:
            with anyio.move_on_after(BEGINNING_SECONDS):
                async with aclosing(self.chunks()) as chunks:
                    async for chunk in chunks:
                        start += chunk
                        if len(start) >= most:
                            break
        except CutShortError:
            pass
        return start[:most]

    def keep_alive(self) -> None:
        """Let the system notice a peer that vanished while nothing was to be said."""
        connected = self._response.socket
        if connected is None:
            return
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEP_ALIVE:
            if option := getattr(socket, name, None):
                connected.setsockopt(socket.IPPROTO_TCP, option, value)


class DirectResponse:
    """A response on a connection of our own."""

    def __init__(self, exchanged: Exchanged) -> None:
        self.status = exchanged.head.status
        self.headers = exchanged.head.headers
        self.pieces = exchanged.pieces
        self._exchanged = exchanged

    @property
    def socket(self) -> socket.socket | None:
        """Its connection's."""
        return self._exchanged.connection.socket

    async def close(self) -> None:
        """Nothing more is wanted of it."""
        self._exchanged.close()


class HttpClient:
    """Requests to one address and what it redirects to within its origin. ``direct``: the short way."""

    def __init__(
        self, parameters: HttpParameters, client: httpx.AsyncClient, direct: Direct | None, server: str
    ) -> None:
        self.server = server
        self.own_credentials = parameters.own_credentials
        self.url = parameters.url
        self._client = client
        self._direct = direct

    @asynccontextmanager
    async def send(
        self,
        asked: Asked,
        verb: str,
        headers: Mapping[str, str],
        content: bytes | None = None,
        *,
        url: str | None = None,
    ) -> AsyncIterator[Reply]:
        """One exchange. Raises Unreachable, HttpFailure (a redirect not followed) or CutShortError."""
        target = url or self.url
        moved = False
        for _ in range(MOST_REDIRECTS):
            response = await self._sent(verb, target, headers, content)
            try:
                following = self._redirected(asked, verb, target, response)
                if following is None:
                    if moved and 200 <= response.status < 300:
                        self.url = target
                    yield Reply(response.status, response.headers, response)
                    return
                moved = response.status == 308 and (moved or target == self.url)
                target = following
            finally:
                await response.close()
        raise self._not_followed(asked, 308, "redirects in a circle", "check its address")

    async def _sent(self, verb: str, url: str, headers: Mapping[str, str], content: bytes | None) -> Response:
        try:
            if self._direct is not None and not self._client.cookies:
                return await self._directly(self._direct, verb, url, headers, content)
            return await self._by_library(verb, url, headers, content)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError, NoConnectionError) as error:
            raise unreachable(self.server, url, error) from error
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL, ValueError) as error:
            raise unreachable(self.server, url, error) from error
        except (httpx.HTTPError, BadResponseError, OSError) as error:
            raise CutShortError(str(error) or type(error).__name__) from error

    async def _directly(
        self, direct: Direct, verb: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> DirectResponse:
        exchanged = await direct.send(verb, url, headers, content)
        head = exchanged.head
        if "set-cookie" in head.headers:
            fields = [(name.encode(), value.encode()) for name, value in head.fields]
            request = httpx.Request(verb, url)
            self._client.cookies.extract_cookies(httpx.Response(head.status, headers=fields, request=request))
        return DirectResponse(exchanged)

    async def _by_library(
        self, verb: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> LibraryResponse:
        encoded = {name.encode("ascii"): value.encode("utf-8") for name, value in headers.items()}

        async def sent() -> httpx.Response:
            request = self._client.build_request(verb, url, headers=encoded, content=content)
            return await self._client.send(request, stream=True)

        try:
            return LibraryResponse(await sent())
        except (httpx.LocalProtocolError, UnicodeError):
            # A cookie of the server's may be nothing that can be sent back.
            self._client.cookies.clear()
            return LibraryResponse(await sent())

    def _redirected(self, asked: Asked, verb: str, url: str, response: Response) -> str | None:
        """Where to ask next, or None for a response that is the answer. Raises HttpFailure."""
        location = response.headers.get("location")
        status = response.status
        if status not in (301, 302, 303, 307, 308) or location is None:
            return None
        target, same = beside(url, location)
        if not same:
            raise self._not_followed(
                asked,
                status,
                f"redirects to {shown(target)}, which is another origin, and nothing was sent there",
                'if that is its address now, write it as "url"',
            )
        if not _can_be_asked(target):
            raise self._not_followed(
                asked, status, f"redirects to {shown(target)}, which is no address", "its author should know"
            )
        if verb != "GET" and status not in (307, 308):
            raise self._not_followed(
                asked,
                status,
                f"redirects to {shown(target)} in a way that loses what was asked (HTTP {status})",
                'write that address as "url"',
            )
        return target

    def _not_followed(self, asked: Asked, status: int, what: str, advice: str) -> HttpFailure:
        message = f'Server "{self.server}" {what}; {advice}.'
        return HttpFailure(message, server=self.server, method=asked.method, status=status)


@asynccontextmanager
async def open_client(parameters: HttpParameters, *, server: str, agent: str) -> AsyncIterator[HttpClient]:
    """A client for one server; connections are made when they are needed. Raises Unreachable."""
    patience = Patience(CONNECT_SECONDS, WRITE_SECONDS, IDLE_SECONDS)
    try:
        client, pool = await anyio.to_thread.run_sync(
            make_client, parameters, agent, patience, IDLE_CONNECTIONS
        )
    except (CertificateFileError, ImportError, ValueError, httpx.InvalidURL) as error:
        raise Unreachable(f'Server "{server}" cannot be reached: {error}.', server=server) from error
    # Where somebody signs requests, httpx has to see them and their answers.
    direct = Direct(pool, client) if pool is not None and parameters.auth is None else None
    async with client:
        yield HttpClient(parameters, client, direct, server)


def _can_be_asked(url: str) -> bool:
    try:
        httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        return False
    return True


def unreachable(server: str, url: str, error: Exception) -> Unreachable:
    """The error for a connection that did not come about, with its cause in words."""
    trouble = certificate_trouble(error)
    timed_out = isinstance(error, NoConnectionError) and error.timed_out
    if trouble is None and (timed_out or isinstance(error, httpx.ConnectTimeout)):
        trouble = f"no connection within {CONNECT_SECONDS:g} s; check its address and the network"
    if trouble is None and isinstance(error, httpx.ProxyError):
        trouble = f"the proxy refused ({error}); check network.proxy or the environment's proxy"
    if trouble is None:
        trouble = f"{_reason(error)}; check its address, and whether it is running"
    return Unreachable(f'Server "{server}" cannot be reached at {shown(url)}: {trouble}.', server=server)


def _reason(error: BaseException) -> str:
    """The innermost words: those of the system, where it was asked at all."""
    found: BaseException | None = error
    words = str(error.__cause__ if isinstance(error, NoConnectionError) else error)
    while found is not None:
        if isinstance(found, OSError) and found.strerror:
            named = isinstance(found, socket.gaierror) or found.errno is None
            return found.strerror if named else os.strerror(found.errno or 0)
        found = found.__cause__ or found.__context__
    return (words or type(error).__name__).rstrip(".")

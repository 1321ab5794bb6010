"""One remote server's HTTP: connections, certificates, proxies, redirects; must not know what is in a body.

The only module, with those of ``auth``, that knows httpx: its exceptions become this package's own here.
HTTP/1.1 alone: over HTTP/2 httpx 0.28 does not reset a stream that is closed early, so that a request that is
given up would not be cancelled, and what its server still sends would use up the window of all others.
"""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Final
from urllib.request import getproxies, proxy_bypass

import anyio
import anyio.to_thread
import httpx

from mcp_lectern.mcp.errors import HttpFailure, Unreachable
from mcp_lectern.mcp.wire.failures import Asked

from .body import ACCEPTED, BadEncodingError, UnknownEncodingError, decoder
from .certificates import CertificateFileError, certificate_trouble, tls_context
from .remote import HttpParameters, beside, is_loopback, origin, shown

MOST_REDIRECTS: Final = 5
CONNECT_SECONDS: Final = 15.0
WRITE_SECONDS: Final = 30.0
IDLE_SECONDS: Final = 15.0
IDLE_CONNECTIONS: Final = 16
_KEEP_ALIVE: Final = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))


class CutShortError(Exception):
    """The exchange broke off: before the status, or in the middle of the body."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response whose body has not been read yet."""

    status: int
    headers: Mapping[str, str]
    _response: httpx.Response

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The body, decompressed, in pieces. Raises CutShortError."""
        try:
            decode = decoder(self.headers.get("content-encoding"))
            async for chunk in self._response.aiter_raw():
                for piece in decode.feed(chunk):
                    yield piece
        except (httpx.HTTPError, httpx.StreamError, BadEncodingError, UnknownEncodingError) as error:
            raise CutShortError(str(error) or type(error).__name__) from error

    async def body(self, limit: int) -> bytes | None:
        """The whole body; None where it has more than ``limit`` bytes. Raises CutShortError."""
        parts, length = [], 0
        async with aclosing(self.chunks()) as chunks:
            async for chunk in chunks:
                parts.append(chunk)
                length += len(chunk)
                if length > limit:
                    return None
        return b"".join(parts)

    async def beginning(self, most: int) -> bytes:
        """The first bytes of the body, as far as they come."""
        start = b""
        try:
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
        stream = self._response.extensions.get("network_stream")
        connected = stream.get_extra_info("socket") if stream else None
        if connected is None:
            return
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEP_ALIVE:
            if option := getattr(socket, name, None):
                connected.setsockopt(socket.IPPROTO_TCP, option, value)


class HttpClient:
    """Requests to one address and what it redirects to within its origin."""

    def __init__(self, parameters: HttpParameters, client: httpx.AsyncClient, server: str) -> None:
        self.server = server
        self.own_credentials = parameters.own_credentials
        self.url = parameters.url
        self._client = client

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
        encoded = {name.encode("ascii"): value.encode("utf-8") for name, value in headers.items()}
        moved = False
        for _ in range(MOST_REDIRECTS):
            response = await self._sent(verb, target, encoded, content)
            try:
                following = self._redirected(asked, verb, target, response)
                if following is None:
                    if moved and response.is_success:
                        self.url = target
                    yield Reply(response.status_code, response.headers, response)
                    return
                moved = response.status_code == 308 and (moved or target == self.url)
                target = following
            finally:
                with anyio.CancelScope(shield=True):
                    await response.aclose()
        raise self._not_followed(asked, 308, "redirects in a circle", "check its address")

    async def _sent(
        self, verb: str, url: str, headers: Mapping[bytes, bytes], content: bytes | None
    ) -> httpx.Response:
        try:
            try:
                return await self._client.send(self._request(verb, url, headers, content), stream=True)
            except (httpx.LocalProtocolError, UnicodeError):
                # A cookie of the server's may be nothing that can be sent back.
                self._client.cookies.clear()
                return await self._client.send(self._request(verb, url, headers, content), stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            raise unreachable(self.server, url, error) from error
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL, ValueError) as error:
            raise unreachable(self.server, url, error) from error
        except httpx.HTTPError as error:
            raise CutShortError(str(error) or type(error).__name__) from error

    def _request(
        self, verb: str, url: str, headers: Mapping[bytes, bytes], content: bytes | None
    ) -> httpx.Request:
        return self._client.build_request(verb, url, headers=headers, content=content)

    def _redirected(self, asked: Asked, verb: str, url: str, response: httpx.Response) -> str | None:
        """Where to ask next, or None for a response that is the answer. Raises HttpFailure."""
        location = response.headers.get("location")
        status = response.status_code
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
    try:
        client = await anyio.to_thread.run_sync(_client, parameters, agent)
    except (CertificateFileError, ImportError, ValueError, httpx.InvalidURL) as error:
        raise Unreachable(f'Server "{server}" cannot be reached: {error}.', server=server) from error
    async with client:
        yield HttpClient(parameters, client, server)


def _client(parameters: HttpParameters, agent: str) -> httpx.AsyncClient:
    scheme, host, _ = origin(parameters.url)
    if scheme not in ("http", "https") or not host:
        raise ValueError(f"{shown(parameters.url)} is no http or https address")
    proxy = None if _is_direct(parameters.url) else parameters.proxy
    proxies = [proxy or "", *getproxies().values()]
    secure = scheme == "https" or any(address.startswith("https:") for address in proxies)
    return httpx.AsyncClient(
        headers={"User-Agent": agent, "Accept-Encoding": ACCEPTED, **parameters.headers},
        auth=parameters.auth,
        verify=tls_context(parameters.ca_file, trusting=secure),
        proxy=proxy,
        trust_env=not (parameters.proxy and proxy is None),
        follow_redirects=False,
        timeout=httpx.Timeout(None, connect=CONNECT_SECONDS, write=WRITE_SECONDS),
        limits=httpx.Limits(
            max_connections=None, max_keepalive_connections=IDLE_CONNECTIONS, keepalive_expiry=IDLE_SECONDS
        ),
    )


def _is_direct(url: str) -> bool:
    """Whether a configured proxy is passed by: for this machine, and for what NO_PROXY names."""
    _, host, port = origin(url)
    return is_loopback(url) or bool(proxy_bypass(f"{host}:{port}"))


def unreachable(server: str, url: str, error: Exception) -> Unreachable:
    """The error for a connection that did not come about, with its cause in words."""
    trouble = certificate_trouble(error)
    if trouble is None and isinstance(error, httpx.ConnectTimeout):
        trouble = f"no connection within {CONNECT_SECONDS:g} s; check its address and the network"
    if trouble is None and isinstance(error, httpx.ProxyError):
        trouble = f"the proxy refused ({error}); check network.proxy or the environment's proxy"
    if trouble is None:
        trouble = f"{_reason(error)}; check its address, and whether it is running"
    return Unreachable(f'Server "{server}" cannot be reached at {shown(url)}: {trouble}.', server=server)


def _reason(error: BaseException) -> str:
    """The innermost words: those of the system, where it was asked at all."""
    found: BaseException | None = error
    words = str(error)
    while found is not None:
        if isinstance(found, OSError) and found.strerror:
            named = isinstance(found, socket.gaierror) or found.errno is None
            return found.strerror if named else os.strerror(found.errno or 0)
        found = found.__cause__ or found.__context__
    return (words or type(error).__name__).rstrip(".")

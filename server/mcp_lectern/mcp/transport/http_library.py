"""httpx for one server: what it needs to be told, and its responses; must not know redirects."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Mapping
from typing import Final
from urllib.request import getproxies, proxy_bypass

import anyio
import httpx

from mcp_lectern.mcp.wire.http_response import BadResponseError

from .body import ACCEPTED
from .certificates import tls_context
from .http_direct import DirectTransport
from .http_pool import HttpPool, Patience, Place
from .remote import DEFAULT_PORTS, HttpParameters, is_loopback, origin, shown

_FRAMING: Final = frozenset({"connection", "content-length", "expect", "te", "transfer-encoding", "upgrade"})
"""Headers that say how a request is sent: whoever configures one gets what httpx makes of it."""


class LibraryResponse:
    """A response of httpx, whose body has not been taken yet."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers: Mapping[str, str] = dict(response.headers.items())

    @property
    def socket(self) -> socket.socket | None:
        """Its connection's."""
        stream = self._response.extensions.get("network_stream")
        return stream.get_extra_info("socket") if stream else None

    async def pieces(self) -> AsyncGenerator[bytes]:
        """The body as it arrives. Raises BadResponseError."""
        try:
            async for piece in self._response.aiter_raw():
                yield piece
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise BadResponseError(str(error) or type(error).__name__) from error

    async def close(self) -> None:
        """Nothing more is wanted of it."""
        with anyio.CancelScope(shield=True):
            await self._response.aclose()


def make_client(
    parameters: HttpParameters, agent: str, patience: Patience, most_idle: int
) -> tuple[httpx.AsyncClient, HttpPool | None]:
    """A client, and the connections that it uses where they are ours. Reads files.

    Raises CertificateFileError, ImportError, ValueError or httpx.InvalidURL.
    """
    scheme, host, _ = origin(parameters.url)
    if scheme not in ("http", "https") or not host:
        raise ValueError(f"{shown(parameters.url)} is no http or https address")
    proxy = None if _is_direct(parameters.url) else parameters.proxy
    pool = None
    if not proxy and (parameters.proxy or not _has_proxy(scheme, host)) and _is_plain(parameters):
        pool = HttpPool(_place(parameters), patience, most_idle)
    headers = {"User-Agent": agent, "Accept-Encoding": ACCEPTED, **parameters.headers}
    if pool is not None:
        transport = DirectTransport(pool)
        return httpx.AsyncClient(headers=headers, auth=parameters.auth, transport=transport), pool
    proxies = [proxy or "", *getproxies().values()]
    secure = scheme == "https" or any(address.startswith("https:") for address in proxies)
    client = httpx.AsyncClient(
        headers=headers,
        auth=parameters.auth,
        verify=tls_context(parameters.ca_file, trusting=secure),
        proxy=proxy,
        trust_env=not (parameters.proxy and proxy is None),
        timeout=httpx.Timeout(None, connect=patience.connect, write=patience.write),
        limits=httpx.Limits(
            max_connections=None, max_keepalive_connections=most_idle, keepalive_expiry=patience.idle
        ),
    )
    return client, None


def _place(parameters: HttpParameters) -> Place:
    url = httpx.URL(parameters.url)
    tls = None
    if url.scheme == "https":
        tls = tls_context(parameters.ca_file, trusting=True)
        tls.set_alpn_protocols(["http/1.1"])
    return Place(url.raw_host.decode("ascii"), url.port or DEFAULT_PORTS[url.scheme], tls)


def _is_plain(parameters: HttpParameters) -> bool:
    """Whether nothing of the configuration changes how requests are sent."""
    return not any(name.lower() in _FRAMING for name in parameters.headers)


def _is_direct(url: str) -> bool:
    """Whether a configured proxy is passed by: for this machine, and for what NO_PROXY names."""
    _, host, port = origin(url)
    return is_loopback(url) or bool(proxy_bypass(f"{host}:{port}"))


def _has_proxy(scheme: str, host: str) -> bool:
    """Whether the environment may name a proxy; where NO_PROXY is not plain, httpx judges by itself."""
    proxies = getproxies()
    passed_by = {name.strip().lower() for name in proxies.get("no", "").split(",")}
    if not any(proxies.get(kind) for kind in (scheme, "all")):
        return False
    return not ({host, "*"} & passed_by)

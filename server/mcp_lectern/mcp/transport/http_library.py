"""httpx for one server: what it needs to be told, and its responses; must not know redirects."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Final

import anyio
import httpx

from mcp_lectern.mcp.wire.http_response import BadResponseError

from .body import ACCEPTED
from .certificates import tls_context
from .http_direct import DirectTransport
from .http_pool import HttpPool, Patience, Place
from .proxies import proxy_for
from .remote import DEFAULT_PORTS, HttpParameters, origin, shown

_FRAMING: Final = frozenset({"connection", "content-length", "expect", "te", "transfer-encoding", "upgrade"})
"""Headers that say how a request is sent: whoever configures one gets what httpx makes of it."""


REFUSAL_BYTES: Final = 16 * 1024
"""Of the body of a refusal, as it was sent, where somebody may sign the request once more."""
REFUSAL_SECONDS: Final = 3.0


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
    proxy = proxy_for(parameters.url, parameters.proxy)
    pool = None
    if proxy is None and _is_plain(parameters):
        pool = HttpPool(_place(parameters), patience, most_idle)
    headers = {"User-Agent": agent, "Accept-Encoding": ACCEPTED, **parameters.headers}
    hooks = {"response": [_bound_refusal]}
    if pool is not None:
        transport = DirectTransport(pool)
        client = httpx.AsyncClient(
            headers=headers, auth=parameters.auth, transport=transport, event_hooks=hooks
        )
        return client, pool
    secure = scheme == "https" or (proxy or "").startswith("https:")
    client = httpx.AsyncClient(
        headers=headers,
        auth=parameters.auth,
        verify=tls_context(parameters.ca_file, trusting=secure),
        proxy=proxy,
        trust_env=False,
        event_hooks=hooks,
        timeout=httpx.Timeout(None, connect=patience.connect, write=patience.write),
        limits=httpx.Limits(
            max_connections=None, max_keepalive_connections=most_idle, keepalive_expiry=patience.idle
        ),
    )
    return client, None


class _Bounded(httpx.AsyncByteStream):
    """The beginning of a body, as far as it comes soon."""

    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces, left = aiter(self._stream), REFUSAL_BYTES
        until = anyio.current_time() + REFUSAL_SECONDS
        while left > 0:
            piece = b""
            with anyio.move_on_after(until - anyio.current_time()):
                piece = await anext(pieces, b"")
            if not piece:
                return
            yield piece[:left]
            left -= len(piece)

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound_refusal(response: httpx.Response) -> None:
    """Before it asks once more, httpx reads and decompresses what refused it, to its end if there is one."""
    if response.status_code in (401, 403) and isinstance(response.stream, httpx.AsyncByteStream):
        response.stream = _Bounded(response.stream)


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

"""The address on this machine to which the user's browser brings the authorization response; single use.

A listener on 127.0.0.1 alone, open while one sign-in lasts (RFC 8252, 7.3). Of what arrives only a response
with the right state counts; it must not know what the response means, and answers with fixed pages only.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import cast
from urllib.parse import parse_qsl, urlsplit

import anyio
from anyio.abc import SocketAttribute, SocketListener, SocketStream

PATH = "/callback"
_HOST = "127.0.0.1"
_LONGEST = 32_768
"""Bytes of a request's head."""
_PATIENCE = 30.0
"""Seconds for one request to arrive: browsers open connections in advance and leave them silent."""
_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Lectern</title>'
    "<p>{}</p><p>You can close this page and go back to your editor.</p></html>"
)
_SEEN = "Lectern has received the answer."
_UNKNOWN = "This is not an answer that Lectern waits for."

Response = Mapping[str, str]


def _port(listener: SocketListener) -> int:
    port: int = listener.extra_attributes[SocketAttribute.local_port]()
    return port


class Redirect:
    """An open listener. ``uri`` is its address."""

    def __init__(self, listener: SocketListener) -> None:
        self.uri = f"http://{_HOST}:{_port(listener)}{PATH}"
        self._listener = listener
        self._arrived = anyio.Event()
        self._response: Response | None = None
        self._expected: Callable[[Response], bool] = lambda _response: False

    def expect(self, expected: Callable[[Response], bool]) -> None:
        """From now on, the first response of which this is true counts; before, none does."""
        self._expected = expected

    async def response(self) -> Response:
        """Wait for the response that counts, for as long as it takes."""
        await self._arrived.wait()
        return self._response or {}

    async def serve(self) -> None:
        """Answer whoever connects, until cancelled."""
        await self._listener.serve(self._answer)

    async def _answer(self, stream: SocketStream) -> None:
        async with stream:
            try:
                with anyio.move_on_after(_PATIENCE):
                    await self._converse(stream)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, OSError):
                return

    async def _converse(self, stream: SocketStream) -> None:
        response = _query(await _head(stream))
        if response is None:
            await stream.send(_written(HTTPStatus.NOT_FOUND, _UNKNOWN))
        elif self._response is not None or not self._expected(response):
            await stream.send(_written(HTTPStatus.BAD_REQUEST, _UNKNOWN))
        else:
            self._response = response
            try:
                await stream.send(_written(HTTPStatus.OK, _SEEN))
            finally:
                # Only now may the listener close, or the person would see a broken page.
                self._arrived.set()


async def listen(port: int | None = None) -> SocketListener:
    """A listener on this port, or on one that the system chooses. Raises OSError where the port is taken."""
    (listener,) = (await anyio.create_tcp_listener(local_host=_HOST, local_port=port or 0)).listeners
    return cast("SocketListener", listener)


@asynccontextmanager
async def serving(listener: SocketListener) -> AsyncIterator[Redirect]:
    """Answer on this listener; it closes in the end. What the block raises comes out as it is."""
    try:
        async with listener, anyio.create_task_group() as tasks:
            redirect = Redirect(listener)
            tasks.start_soon(redirect.serve)
            yield redirect
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        if len(group.exceptions) > 1:
            raise
        raise group.exceptions[0] from group.exceptions[0].__cause__


async def _head(stream: SocketStream) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _LONGEST:
        head += await stream.receive()
    return head


def _query(head: bytes) -> Response | None:
    """The parameters of a GET of our path; None for any other request. A repeated one makes it unusable."""
    words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    if len(words) != 3 or words[0] != "GET" or not words[1].startswith("/"):
        return None
    path, _, query = words[1].partition("?")
    if path != PATH:
        return None
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=50)
    except ValueError:
        return None
    return dict(pairs) if len(dict(pairs)) == len(pairs) else None


def _written(status: HTTPStatus, sentence: str) -> bytes:
    body = _PAGE.format(sentence).encode()
    headers = (
        f"HTTP/1.1 {status.value} {status.phrase}",
        "Content-Type: text/html; charset=utf-8",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "Content-Security-Policy: default-src 'none'",
        "Referrer-Policy: no-referrer",
        "X-Content-Type-Options: nosniff",
        "Connection: close",
    )
    return "\r\n".join(headers).encode() + b"\r\n\r\n" + body


def port_of(uri: str) -> int | None:
    """The port of a redirect address of ours."""
    parts = urlsplit(uri)
    return parts.port if parts.hostname == _HOST and parts.path == PATH else None

"""As much of HTTP/1.1 as the sample server needs, over streams; must not know MCP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LARGEST_HEAD = 32 * 1024
LARGEST_BODY = 1024 * 1024
PHRASES = {
    200: "OK",
    202: "Accepted",
    204: "No Content",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    409: "Conflict",
    411: "Length Required",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    431: "Request Header Fields Too Large",
}


class RefusedError(Exception):
    """The request is answered with this status, and the connection ends."""

    def __init__(self, status: int) -> None:
        super().__init__(PHRASES[status])
        self.status = status


@dataclass(frozen=True, slots=True)
class Request:
    """``headers`` by lower-case name."""

    verb: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Response:
    """``body`` is JSON, or nothing."""

    status: int
    body: Any = None
    headers: Mapping[str, str] | None = None


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request; None at the end of the connection. Raises RefusedError."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as error:
        raise RefusedError(431) from error
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    words = first.split(" ")
    headers = dict(_field(line) for line in lines)
    if len(words) != 3 or "host" not in headers:
        raise RefusedError(400)
    return Request(words[0], words[1].partition("?")[0], headers, await _body(reader, headers))


async def respond(writer: asyncio.StreamWriter, response: Response) -> None:
    """Write a whole response."""
    body = b"" if response.body is None else json.dumps(response.body, separators=(",", ":")).encode()
    headers = dict(response.headers or {})
    if body:
        headers["Content-Type"] = "application/json"
    if response.status != 204:
        headers["Content-Length"] = str(len(body))
    writer.write(_head(response.status, headers) + body)
    await writer.drain()


def begin_events(writer: asyncio.StreamWriter) -> None:
    """Begin an event stream that ends with the connection."""
    headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    writer.write(_head(200, {**headers, "Connection": "close"}))


async def send_event(writer: asyncio.StreamWriter, message: Any) -> None:
    """One message as an event; None is a comment that keeps the connection alive."""
    text = ":" if message is None else f"data: {json.dumps(message, separators=(',', ':'))}"
    writer.write(f"{text}\n\n".encode())
    await writer.drain()


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {PHRASES[status]}", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.lower(), value.strip(" \t")


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if "transfer-encoding" in headers:
        raise RefusedError(411)
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit():
        raise RefusedError(400)
    if len(length) > 9 or int(length) > LARGEST_BODY:
        raise RefusedError(413)
    try:
        return await reader.readexactly(int(length))
    except asyncio.IncompleteReadError as error:
        raise RefusedError(400) from error

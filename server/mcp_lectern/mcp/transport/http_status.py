"""What an HTTP status means for a request, as an error with a sentence for people; must not do I/O.

Specification 2026-07-28, basic/transports/streamable-http and basic/authorization.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final

from mcp_lectern.mcp.errors import Forbidden, HttpFailure, NotUnderstood, Unauthorized
from mcp_lectern.mcp.wire import jsonrpc
from mcp_lectern.mcp.wire.failures import Asked
from mcp_lectern.mcp.wire.http_headers import media_type
from mcp_lectern.mcp.wire.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, Refusal

SHOWN: Final = 200
SMALL: Final = 16 * 1024
"""Bytes of a body that is looked into for an error."""
OF_THE_REQUEST: Final = (METHOD_NOT_FOUND, INVALID_PARAMS, -32002)
"""Codes of errors that lie in what was asked, and not in how its server is."""
_GONE: Final = "not found|not initialized|expired|invalid|unknown|terminated|closed|does not exist"
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
_SESSION_LOST: Final = re.compile(
    rf"\b((no such|no valid|no active|invalid|unknown|expired) session|session\b.{{0,80}}?\b({_GONE}))",
    re.IGNORECASE | re.DOTALL,
)
_UNSEEN: Final = re.compile(r"(?is)<(script|style)\b.*?</\1\s*>|<[^>]*>")
_TITLE: Final = re.compile(r"(?is)<title[^>]*>(.*?)</title>")
_SCOPE: Final = re.compile(r'\bscope\s*=\s*(?:"([^"\\]*)"|([^\s,"]+))', re.IGNORECASE)
_ERROR: Final = re.compile(r'\berror\s*=\s*"?insufficient_scope\b', re.IGNORECASE)

Json = Any


def failure(
    asked: Asked, status: int, headers: Mapping[str, str], body: bytes, *, own_credentials: bool
) -> HttpFailure:
    """The error for a status that is no success, or for a success that is no message.

    ``own_credentials``: the configuration sets an Authorization header, so that signing in cannot help.
    """
    if status == 401:
        return _unauthorized(asked, headers.get("www-authenticate"), own_credentials=own_credentials)
    said = _said(headers, body)
    if status == 403:
        return _forbidden(asked, headers.get("www-authenticate"), said)
    refusal = error_of(body, 0)
    facts: dict[str, Any] = {
        "server": asked.server,
        "status": status,
        "method": asked.method,
        "code": refusal.code if refusal else None,
    }
    opening = f'Server "{asked.server}" answered {asked.what} with HTTP {_named(status)}{said}'
    if status == 429 or status >= 500:
        wait = retry_after(headers.get("retry-after"))
        when = f"try again in {wait:.0f} s" if wait else "try again later"
        return HttpFailure(f"{opening}; {when}.", retry_after=wait, **facts)
    return NotUnderstood(f"{opening} instead of an MCP message; check its address.", **facts)


def error_of(body: bytes, identity: int) -> Refusal | None:
    """The JSON-RPC error that a body is, taken for the answer to this request, whatever id it bears."""
    value = _object(body)
    if "error" not in value or "method" in value or not value["error"]:
        return None
    message = jsonrpc.classify({**value, "id": identity})
    return message if isinstance(message, Refusal) else None


def unaddressed_error(body: bytes, identity: int) -> Refusal | None:
    """The same, only where it bears no id at all: its stream says which request it answers."""
    return error_of(body, identity) if _object(body).get("id") is None else None


def session_lost(status: int, body: bytes, identity: int) -> bool:
    """Whether an answer to a request that named a session says that there is none any more (HTTP-01).

    2025-11-25 names the 404 alone; the 400 and the 200 with an error count where their text says so.
    """
    if status not in (200, 400, 404):
        return False
    refusal = error_of(body, identity)
    addressed = refusal is not None and _object(body).get("id") == identity
    if refusal and addressed and refusal.code in OF_THE_REQUEST:
        # Words about a session are about what was asked for: there are resources that are sessions.
        return False
    text = refusal.message if refusal else body[:SMALL].decode("utf-8", "replace")
    if (status != 404 or refusal) and _SESSION_LOST.search(text):
        return status != 200 or refusal is not None
    if status != 404 or (refusal and refusal.code == METHOD_NOT_FOUND):
        return False
    return not addressed


def retry_after(header: str | None) -> float | None:
    """Seconds to wait, from a number or a date; None where there is nothing to be read."""
    text = (header or "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _unauthorized(asked: Asked, challenge: str | None, *, own_credentials: bool) -> Unauthorized:
    if own_credentials:
        message = (
            f'Server "{asked.server}" refused the credentials of its entry (401); '
            "replace them there, in the Authorization header or the address."
        )
    else:
        message = f'Server "{asked.server}" wants to know who asks (401); sign in to it.'
    return Unauthorized(
        message, server=asked.server, method=asked.method, challenge=challenge, sign_in=not own_credentials
    )


def _forbidden(asked: Asked, challenge: str | None, said: str) -> Forbidden:
    scope = None
    if challenge and _ERROR.search(challenge):
        found = _SCOPE.search(challenge)
        scope = (found.group(1) or found.group(2) or "").strip() or None if found else None
    if scope:
        message = (
            f'Server "{asked.server}" does not allow {asked.what} without the scope "{_line(scope)}" (403); '
            "sign in again and grant it."
        )
    else:
        message = f'Server "{asked.server}" does not allow {asked.what} (403){said}; ask who runs it.'
    return Forbidden(message, server=asked.server, method=asked.method, challenge=challenge, scope=scope)


def _said(headers: Mapping[str, str], body: bytes) -> str:
    """The body in a few words, after a colon: its error message, its text, or a page's title."""
    refusal = error_of(body, 0)
    if refusal:
        return f": {_line(refusal.message)}"
    text = body[:SMALL].decode("utf-8", "replace")
    kind = media_type(headers.get("content-type"))
    if kind == "text/html" or text.lstrip()[:1] == "<":
        title = _TITLE.search(text)
        text = html.unescape(title.group(1) if title else _UNSEEN.sub(" ", text))
    line = _line(text)
    return f": {line}" if line and not line.startswith(("{", "[")) else ""


def _line(text: str) -> str:
    """One line of printable text, cut to what a sentence can carry."""
    words = " ".join("".join(char if char.isprintable() else " " for char in text[:SMALL]).split())
    return words if len(words) <= SHOWN else words[:SHOWN] + "…"


def _named(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _object(body: bytes) -> dict[str, Json]:
    if len(body) > SMALL or b'"error"' not in body:
        return {}
    try:
        value = json.loads(body.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}

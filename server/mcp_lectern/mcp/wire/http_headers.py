"""What an HTTP request says in its headers about the message in its body; must not do I/O or know httpx.

Specification 2026-07-28, basic/transports/streamable-http, request metadata and value encoding.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from .lifecycle import META

VERSION_HEADER: Final = "MCP-Protocol-Version"
SESSION_HEADER: Final = "Mcp-Session-Id"
NAMED: Final = {"resources/read": "uri", "tools/call": "name", "prompts/get": "name"}
_PLAIN: Final = re.compile(r"[\x20-\x7e\t]*")
_SENTINEL: Final = re.compile(r"=\?base64\?.*\?=")
_VISIBLE: Final = re.compile(r"[\x21-\x7e]{1,1024}")

Json = Any
Outgoing = Mapping[str, Json] | Sequence[Mapping[str, Json]]


def stateless_headers(message: Outgoing) -> dict[str, str] | None:
    """The metadata of a message of the stateless era; None for one of the handshake era."""
    version = _stated_version(message)
    if version is None or not isinstance(message, Mapping):
        return None
    method = str(message["method"])
    headers = {VERSION_HEADER: version, "Mcp-Method": method}
    name = message["params"].get(NAMED.get(method))
    return {**headers, "Mcp-Name": encoded(name)} if isinstance(name, str) else headers


def handshake_headers(version: str | None, session: str | None) -> dict[str, str]:
    """The metadata of a message of the handshake era, as far as they are agreed on yet."""
    headers = {VERSION_HEADER: version, SESSION_HEADER: session}
    return {name: value for name, value in headers.items() if value is not None}


def encoded(value: str) -> str:
    """The value itself where a header can hold it, else between the Base64 sentinels."""
    if _PLAIN.fullmatch(value) and value == value.strip(" \t") and not _SENTINEL.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'surrogatepass')).decode('ascii')}?="


def session_of(header: str | None) -> str | None:
    """The session that a server opens; None where there is none that could be sent back."""
    return header if header is not None and _VISIBLE.fullmatch(header) else None


def media_type(header: str | None) -> str:
    """The type of a body without its parameters, in lower case; empty where there is none.

    The first of several: some who stand between repeat the header.
    """
    return (header or "").partition(";")[0].partition(",")[0].strip().lower()


def _stated_version(message: Outgoing) -> str | None:
    params = message.get("params") if isinstance(message, Mapping) else None
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    version = meta.get(META + "protocolVersion") if isinstance(meta, Mapping) else None
    return version if isinstance(version, str) else None

"""Addresses of authorization: which may be used, where documents lie, what names a resource; does no I/O.

Nothing here is normalised before it is compared as an identifier: issuers are exact strings (RFC 8414, 3.3).
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

RESOURCE_DOCUMENT = "/.well-known/oauth-protected-resource"
OAUTH_DOCUMENT = "/.well-known/oauth-authorization-server"
OPENID_DOCUMENT = "/.well-known/openid-configuration"
_PORTS = {"http": 80, "https": 443}
_LONGEST = 8192
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]")


def split(url: str) -> SplitResult | None:
    """The parts of an absolute http or https address that can be requested; None for anything else."""
    if len(url) > _LONGEST or _FORBIDDEN.search(url):
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in _PORTS and bool(parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        return None
    return parts if usable and not parts.username and not parts.password else None


def origin(parts: SplitResult) -> tuple[str, str, int]:
    """Scheme, host and port."""
    return parts.scheme, parts.hostname or "", parts.port or _PORTS[parts.scheme]


def same_origin(one: str, other: str) -> bool:
    """Whether both are addresses of one origin."""
    first, second = split(one), split(other)
    return first is not None and second is not None and origin(first) == origin(second)


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own."""
    parts = split(url)
    host = (parts.hostname or "") if parts else ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def objection(url: str, *, server_url: str) -> str | None:
    """Why an address that a server named may not be used, as the end of a sentence; None if it may.

    Plain http is for loopback alone, and only a server on loopback may name an address there: no remote
    server sends us, or the user's browser, to a program on this machine.
    """
    parts = split(url)
    if parts is None:
        return "it is not an absolute https address"
    if is_loopback(url):
        return None if is_loopback(server_url) else "it lies on this machine, but the server does not"
    return None if parts.scheme == "https" else "it is not encrypted (https is required)"


def base(parts: SplitResult) -> str:
    """Scheme and authority, as written."""
    return f"{parts.scheme}://{parts.netloc}"


def resource_documents(server_url: str, advertised: str | None) -> list[str]:
    """Where protected resource metadata may lie, in order: as advertised, by path, at the root."""
    found = [advertised] if advertised else []
    parts = split(server_url)
    if parts is not None:
        query = f"?{parts.query}" if parts.query else ""
        if parts.path not in ("", "/") or query:
            path = "" if parts.path == "/" else parts.path
            found.append(f"{base(parts)}{RESOURCE_DOCUMENT}{path}{query}")
        found.append(f"{base(parts)}{RESOURCE_DOCUMENT}")
    return list(dict.fromkeys(found))


def server_documents(issuer: str) -> list[str]:
    """Where an authorization server's metadata may lie, in the order of the specification."""
    parts = split(issuer)
    if parts is None:
        return []
    path = parts.path.rstrip("/")
    inserted = [f"{base(parts)}{OAUTH_DOCUMENT}{path}", f"{base(parts)}{OPENID_DOCUMENT}{path}"]
    return [*inserted, f"{base(parts)}{path}{OPENID_DOCUMENT}"] if path else inserted


def legacy_issuer(server_url: str) -> str | None:
    """The authorization base URL of revision 2025-03-26: the server's address without its path."""
    parts = split(server_url)
    return base(parts) if parts else None


def canonical(server_url: str) -> str:
    """The identifier of a server that publishes none: its address, without a bare host's slash."""
    parts = split(server_url)
    if parts is None:
        return server_url
    query = f"?{parts.query}" if parts.query else ""
    return f"{base(parts)}{parts.path if parts.path != '/' or query else ''}{query}"


def covers(resource: str, server_url: str) -> bool:
    """Whether a token for ``resource`` is one for this server: it is the server, or a path above it.

    Whole segments count, so that ``/mcp`` does not cover ``/mcp-of-others``. A bare host with or without its
    slash is the same; no other slash is.
    """
    theirs, ours = split(resource), split(server_url)
    if theirs is None or ours is None or theirs.fragment or origin(theirs) != origin(ours):
        return False
    if theirs.query:
        return theirs.query == ours.query and theirs.path == ours.path
    above = theirs.path.rstrip("/") if theirs.path == "/" else theirs.path
    if ours.path == above or not above:
        return True
    return ours.path.startswith(above if above.endswith("/") else f"{above}/")

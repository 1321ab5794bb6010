"""How a remote server is reached, as plain data, and how its address is shown; must not know httpx."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urljoin, urlsplit

if TYPE_CHECKING:
    import httpx

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class HttpParameters:
    """``kind``: Streamable HTTP with a fall back to the older transport, or that one (``sse``) alone.

    ``ca_file`` is trusted besides the machine's authorities; ``proxy`` replaces the environment's. ``auth``
    signs requests; where it is given, a 401 is its business first. ``extensions`` are those that the
    client declares.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    kind: Literal["http", "sse"] = "http"
    ca_file: Path | None = None
    proxy: str | None = field(default=None, repr=False)
    auth: httpx.Auth | None = field(default=None, repr=False)
    extensions: tuple[str, ...] = ()

    @property
    def own_credentials(self) -> bool:
        """Whether the configuration itself says who is asking."""
        named = any(name.lower() == "authorization" for name in self.headers)
        return named or "@" in self.url.partition("://")[2].partition("/")[0]


def shown(url: str) -> str:
    """An address for people: without what could be a secret in it (user, password, query, fragment)."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that is none"
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"[:300]


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port (RFC 6454). Raises ValueError for what is no address."""
    parts = urlsplit(url)
    port = parts.port if parts.port is not None else DEFAULT_PORTS.get(parts.scheme.lower())
    return parts.scheme.lower(), (parts.hostname or "").lower(), port


def beside(url: str, reference: str) -> tuple[str, bool]:
    """The address that ``reference`` means at ``url``, and whether it is of the same origin.

    Who asks is never for the other side to say: user and password stay those of ``url``.
    """
    try:
        target = urljoin(url, reference)
        if origin(target) != origin(url) or not target.isprintable():
            return target, False
        return urlsplit(target)._replace(netloc=urlsplit(url).netloc).geturl(), True
    except ValueError:
        return reference, False


def is_loopback(url: str) -> bool:
    """Whether the address never leaves this machine."""
    return (urlsplit(url).hostname or "").lower() in LOOPBACK

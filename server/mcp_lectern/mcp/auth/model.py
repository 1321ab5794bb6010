"""What authorization deals in, as plain data: settings, metadata, clients, grants; must not do I/O."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from mcp_lectern.mcp.errors import SignInFailed

GrantType = Literal["authorization_code", "client_credentials"]
ClientAuthentication = Literal["none", "client_secret_basic", "client_secret_post", "private_key_jwt"]


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    """What a user wrote for a server, variables expanded. ``private_key`` is PEM.

    ``scopes`` None means: whatever the server asks for. ``redirect_port`` None: one that the system chooses.
    ``client_metadata_url`` is an address where a client ID metadata document of this client lies.
    """

    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    private_key: str | None = field(default=None, repr=False)
    issuer: str | None = None
    scopes: tuple[str, ...] | None = None
    redirect_port: int | None = None
    client_metadata_url: str | None = None
    grant: GrantType = "authorization_code"


@dataclass(frozen=True, slots=True)
class ResourceMetadata:
    """A protected resource metadata document (RFC 9728), checked against the server's address."""

    resource: str
    authorization_servers: tuple[str, ...]
    scopes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ServerMetadata:
    """An authorization server's metadata (RFC 8414), its endpoints checked.

    ``assumed`` where there was no document and the paths are those of revision 2025-03-26.
    """

    issuer: str
    token_endpoint: str
    authorization_endpoint: str | None = None
    registration_endpoint: str | None = None
    revocation_endpoint: str | None = None
    challenge_methods: tuple[str, ...] = ()
    authentication_methods: tuple[str, ...] = ("client_secret_basic",)
    signing_algorithms: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    names_itself: bool = False
    metadata_documents: bool = False
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Where to sign in for a server: its resource identifier, its scopes, its authorization server."""

    resource: str
    metadata: ServerMetadata
    scopes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Client:
    """Lectern as one authorization server knows it; never of use with another.

    ``redirect_uri`` is the one that was registered, None where any will do. ``key`` is a PEM private key.
    """

    id: str
    secret: str | None = field(default=None, repr=False)
    key: str | None = field(default=None, repr=False)
    authentication: ClientAuthentication = "none"
    redirect_uri: str | None = None
    registered: bool = False


@dataclass(frozen=True, slots=True)
class Tokens:
    """A token response. ``expires_at`` is in seconds since the epoch, None where the server did not say.

    ``lifetime`` is in seconds, from the answer to that end.
    """

    access: str = field(repr=False)
    refresh: str | None = field(default=None, repr=False)
    expires_at: float | None = None
    lifetime: float = 0.0
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grant:
    """What is kept of a sign-in: tokens, and all that is needed to renew or revoke them without discovery.

    ``asked`` are the scopes that were asked for, ``tokens.scopes`` those granted. ``identity`` stays
    while tokens are renewed, and differs after every sign-in: whoever it was then may be another now.
    """

    resource: str
    metadata: ServerMetadata
    client: Client
    tokens: Tokens
    asked: tuple[str, ...] = ()
    identity: str = field(default_factory=lambda: secrets.token_hex(8))


class Interaction(Protocol):
    """The person at the browser, as the layer above reaches them."""

    async def open_browser(self, url: str) -> None:
        """Show the authorization server's page. ``url`` is an absolute https or loopback address."""

    async def redirect_address(self, local: str) -> str:
        """The address under which the user's browser reaches ``local``: mostly the same."""


@dataclass(frozen=True, slots=True)
class Step:
    """Makes failures that name the step of a sign-in at which it ended."""

    server: str
    name: str
    retryable: bool = False

    def failed(self, reason: str, *, code: str | None = None) -> SignInFailed:
        """``reason`` continues the sentence "Cannot sign in to …, while <step>: "."""
        message = f'Cannot sign in to server "{self.server}" while {self.name}: {reason}'
        return SignInFailed(message, server=self.server, step=self.name, code=code, retryable=self.retryable)


Log = Callable[[str], None]

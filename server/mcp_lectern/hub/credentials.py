"""How one remote server is signed in to, and what is kept of that; must not know connections or editors.

What it needs to speak to authorization servers is loaded when the first remote server is wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import anyio.to_thread

from mcp_lectern.config.model import OAuthEntry, Remote
from mcp_lectern.mcp.errors import SignInFailed, Unreachable

if TYPE_CHECKING:
    from mcp_lectern.mcp.auth.authorization import Authorization
    from mcp_lectern.mcp.auth.flow import OAuthFlow
    from mcp_lectern.mcp.auth.model import OAuthSettings
    from mcp_lectern.mcp.auth.renewal import Turns
    from mcp_lectern.mcp.auth.tokens import TokenStorage


BY_ITSELF = "io.modelcontextprotocol/oauth-client-credentials"
"""The extension of a client that signs in on its own behalf."""


class Interaction(Protocol):
    """The person at the browser, as an editor or a terminal reaches them."""

    async def open_browser(self, url: str) -> None:
        """Show this page of an authorization server: an https or loopback address."""

    async def redirect_address(self, local: str) -> str:
        """The address under which the user's browser reaches ``local``: mostly the same."""


class Credentials:
    """``storage`` is asked for when it is needed. ``log`` takes lines without any token in them."""

    def __init__(self, server: str, storage: Callable[[], TokenStorage], log: Callable[[str], None]) -> None:
        self._server = server
        self._storage = storage
        self._log = log
        self._remote: Remote | None = None
        self._authorization: Authorization | None = None

    @property
    def identity(self) -> str:
        """Names the sign-in under which the server is spoken to; empty where there is none."""
        return self._authorization.identity if self._authorization else ""

    @property
    def challenged(self) -> bool:
        """Whether the server has asked for credentials in this session."""
        return self._authorization is not None and self._authorization.challenge is not None

    @property
    def signed_in(self) -> bool:
        """Whether there are tokens."""
        return self._authorization is not None and self._authorization.signed_in

    def hide(self, text: str) -> str:
        """The text without any token."""
        return self._authorization.hide(text) if self._authorization else text

    async def signer(self, remote: Remote) -> OAuthFlow | None:
        """What signs the requests to this server; None where its entry says itself who is asking."""
        if has_own(remote):
            return None
        from mcp_lectern.mcp.auth.flow import OAuthFlow

        authorization = await self._of(remote)
        await authorization.recall()
        return OAuthFlow(authorization)

    async def sign_in(self, remote: Remote, interaction: Interaction) -> None:
        """Sign in anew. Raises SignInFailed or Unreachable."""
        await (await self._of(remote)).sign_in(interaction)

    async def sign_out(self, remote: Remote) -> None:
        """Revoke and forget."""
        try:
            await (await self._of(remote)).sign_out()
        except SignInFailed as error:
            self._log(error.message)

    async def _of(self, remote: Remote) -> Authorization:
        if self._authorization is None or self._remote != remote:
            self._remote = remote
            self._authorization = await anyio.to_thread.run_sync(self._make, remote)
        return self._authorization

    def _make(self, remote: Remote) -> Authorization:
        from mcp_lectern.mcp.auth.authorization import Authorization
        from mcp_lectern.mcp.auth.exchange import plain_clients
        from mcp_lectern.mcp.transport.certificates import CertificateFileError, tls_context
        from mcp_lectern.mcp.transport.proxies import proxy_for

        try:
            context = tls_context(remote.ca_file, trusting=True)
        except CertificateFileError as error:
            message = f'Server "{self._server}" cannot be reached: {error}.'
            raise Unreachable(message, server=self._server) from error
        return Authorization(
            remote.url,
            _settings(remote.oauth),
            server=self._server,
            storage=self._storage(),
            clients=plain_clients(context, partial(proxy_for, configured=remote.proxy)),
            log=self._log,
            turns=_turns(),
        )


def has_own(remote: Remote) -> bool:
    """Whether the entry itself says who is asking: nobody signs in then."""
    return any(name.lower() == "authorization" for name in remote.headers)


def extensions(remote: Remote) -> tuple[str, ...]:
    """The extensions of the protocol that this entry makes use of."""
    return (BY_ITSELF,) if remote.oauth.grant == "client_credentials" else ()


@cache
def default_storage() -> TokenStorage:
    """The system's key store where there is one, else private files in this user's data folder."""
    from platformdirs import user_data_path

    from mcp_lectern.mcp.auth.tokens import FirstThatCan, Keyring, PrivateFolder

    folder: Path = user_data_path("mcp-lectern", appauthor=False) / "tokens"
    return FirstThatCan(Keyring(), PrivateFolder(folder))


def _turns() -> Turns:
    """Among all processes of this user, wherever sign-ins are kept: editors share theirs, too."""
    from platformdirs import user_state_path

    from mcp_lectern.mcp.auth.renewal import AmongProcesses

    return AmongProcesses(user_state_path("mcp-lectern", appauthor=False) / "renewals")


def _settings(entry: OAuthEntry) -> OAuthSettings:
    from mcp_lectern.mcp.auth.model import OAuthSettings

    return OAuthSettings(
        client_id=entry.client_id,
        client_secret=entry.client_secret,
        private_key=entry.private_key,
        issuer=entry.issuer,
        scopes=entry.scopes,
        redirect_port=entry.redirect_port,
        client_metadata_url=entry.client_metadata_url,
        grant="client_credentials" if entry.grant == "client_credentials" else "authorization_code",
    )

"""One sign-in of a person, from the open listener to the tokens; must not know when one is due.

Specification 2026-07-28, basic/authorization, authorization flow steps.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import anyio
import httpx
from anyio.abc import SocketListener

from mcp_lectern.mcp.auth import endpoint
from mcp_lectern.mcp.auth import grant as forms
from mcp_lectern.mcp.auth.addresses import split
from mcp_lectern.mcp.auth.loopback import Redirect, listen, port_of, serving
from mcp_lectern.mcp.auth.model import Client, Found, Grant, Interaction, OAuthSettings, Step
from mcp_lectern.mcp.auth.registration import registered


@dataclass(frozen=True, slots=True)
class PersonSignIn:
    """``known`` is what this issuer registered us as before; ``seconds`` is how long a person may take."""

    server: str
    settings: OAuthSettings
    found: Found
    scopes: tuple[str, ...]
    known: Client | None
    seconds: float

    async def run(self, http: httpx.AsyncClient, interaction: Interaction) -> Grant:
        """Ask the person, and redeem what they bring back. Raises SignInFailed."""
        metadata = self.found.metadata
        forms.check_challenge_methods(metadata, self._step(f"preparing a sign-in at {metadata.issuer[:200]}"))
        async with serving(await self._listener()) as redirect:
            address = await self._address(redirect, interaction)
            client = await registered(
                http,
                server=self.server,
                settings=self.settings,
                metadata=metadata,
                redirect_uri=address,
                known=self.known,
            )
            request, code = await self._asked(redirect, address, client, interaction)
        step = self._step(f"redeeming the code at {metadata.issuer[:200]}")
        return await endpoint.redeem(http, step, self.found, client, request=request, code=code)

    async def _asked(
        self, redirect: Redirect, address: str, client: Client, interaction: Interaction
    ) -> tuple[forms.Request, str]:
        step = self._step("waiting for the browser")
        request = forms.authorization_request(self.found, client, address, self.scopes, step)
        # Before the page is shown: a browser may be quicker than we are.
        redirect.expect(lambda response: forms.has_state(request, response))
        with anyio.move_on_after(self.seconds):
            await interaction.open_browser(request.url)
            return request, forms.code_of(request, await redirect.response(), step)
        raise step.failed(f"no answer came within {self.seconds:g} s.")

    async def _listener(self) -> SocketListener:
        """On the configured port, else where this issuer expects us from an earlier time, else anywhere."""
        configured = self.settings.redirect_port
        before = port_of(self.known.redirect_uri) if self.known and self.known.redirect_uri else None
        if before is not None and configured is None:
            with suppress(OSError):
                return await listen(before)
        try:
            return await listen(configured)
        except OSError as error:
            step = self._step("opening a port for the browser's answer")
            where = f"127.0.0.1:{configured}" if configured else "127.0.0.1"
            raise step.failed(
                f"{where} cannot be listened on ({error.strerror or 'it is taken'})."
            ) from error

    async def _address(self, redirect: Redirect, interaction: Interaction) -> str:
        address = await interaction.redirect_address(redirect.uri)
        if split(address) is None:
            raise self._step("asking the editor for an address").failed("it is not an http or https address.")
        return address

    def _step(self, name: str) -> Step:
        return Step(self.server, name)

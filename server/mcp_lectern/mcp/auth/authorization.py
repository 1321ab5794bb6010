"""One server's authorization over its whole life: which token counts, when it is renewed, who is asked.

Renewals and sign-ins that nobody asked for run one at a time. It must not know what a request is.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace

import anyio
import anyio.to_thread

from mcp_lectern.mcp.auth import endpoint
from mcp_lectern.mcp.auth.browser import PersonSignIn
from mcp_lectern.mcp.auth.challenge import Challenge, union
from mcp_lectern.mcp.auth.discovery import discover
from mcp_lectern.mcp.auth.exchange import Clients
from mcp_lectern.mcp.auth.grant import wanted_scopes
from mcp_lectern.mcp.auth.model import Found, Grant, Interaction, Log, OAuthSettings, Step
from mcp_lectern.mcp.auth.registration import described, preregistered
from mcp_lectern.mcp.auth.renewal import InProcess, Turns
from mcp_lectern.mcp.auth.tokens import TokenStorage, decode, encode, key_of
from mcp_lectern.mcp.errors import SignInFailed

HIDDEN = "•••"
_EARLY = 60.0
_EARLY_SHARE = 0.2
"""A token is renewed that many seconds before its end, or in that last share of a short life."""
_MOST_SEEN = 20
_LONGEST_RENEWAL = 60.0
_LONGEST_REVOCATION = 10.0
_REFUSED = frozenset({"invalid_grant", "invalid_client", "unauthorized_client"})
"""Answers after which a refresh token is worth nothing any more."""
_IN_PROCESS = InProcess()


class Authorization:
    """``interaction`` reaches a person for sign-ins that a request brings about; None: nobody is asked.

    ``turns`` keeps those who share what ``storage`` holds from renewing the same token twice.
    ``sign_in_seconds`` is how long a person may take. ``challenge`` is what the server last asked for.
    """

    def __init__(
        self,
        server_url: str,
        settings: OAuthSettings,
        *,
        server: str,
        storage: TokenStorage,
        clients: Clients,
        log: Log = lambda _line: None,
        interaction: Interaction | None = None,
        sign_in_seconds: float = 300.0,
        turns: Turns | None = None,
    ) -> None:
        self.server_url = server_url
        self.settings = settings
        self.challenge: Challenge | None = None
        self._server = server
        self._storage = storage
        self._clients = clients
        self._log = log
        self._interaction = interaction
        self._sign_in_seconds = sign_in_seconds
        self._key = key_of(server_url, settings)
        self._turns = turns or _IN_PROCESS
        self._grant: Grant | None = None
        self._lock = anyio.Lock()
        self._signing_in: anyio.CancelScope | None = None
        self._seen: deque[str] = deque(maxlen=_MOST_SEEN)
        self._looked = False

    @property
    def signed_in(self) -> bool:
        """Whether there is a grant, however old."""
        return self._grant is not None

    @property
    def identity(self) -> str:
        """Names the sign-in under which the server is spoken to; empty where there is none."""
        return self._grant.identity if self._grant else ""

    async def recall(self) -> None:
        """Look for an earlier sign-in where it was kept."""
        async with self._lock:
            if not self._looked:
                await self._load()

    def hide(self, text: str) -> str:
        """The text without the latest tokens, should a server have repeated one."""
        for token in self._seen:
            text = text.replace(token, HIDDEN)
        return text

    async def bearer(self) -> str | None:
        """The access token for a request, renewed where it is about to end; None where nobody is signed in.

        Raises SignInFailed where it has ended and the authorization server cannot be asked.
        """
        if self._looked and (self._grant is None or not _ends_soon(self._grant)):
            return self._grant.tokens.access if self._grant else None
        async with self._lock:
            if not self._looked or (self._grant is not None and _ends_soon(self._grant)):
                await self._load()
            grant = self._grant
            if grant is None or not _ends_soon(grant):
                return grant.tokens.access if grant else None
            return await self._in_time(grant)

    async def _in_time(self, grant: Grant) -> str | None:
        """A renewal that may still fail, if the token is good for another moment."""
        try:
            renewed = await self._renewed(grant)
        except SignInFailed:
            if _has_ended(grant):
                raise
            return grant.tokens.access
        # What cannot be renewed is sent to its end and beyond: the server knows best when that is.
        return grant.tokens.access if renewed is None and self._grant is not None else renewed

    async def after_unauthorized(self, used: str | None, challenge: Challenge) -> str | None:
        """The token to try once more with after a 401 on ``used``, or None. Raises SignInFailed."""
        self.challenge = challenge
        async with self._lock:
            if self._grant is None or self._grant.tokens.access == used:
                await self._load()
            grant = self._grant
            if grant is not None and grant.tokens.access != used:
                return grant.tokens.access
            renewed = await self._renewed(grant) if grant is not None else None
            if renewed is not None and renewed != used:
                return renewed
            return await self._anew(challenge)

    async def after_forbidden(self, used: str | None, challenge: Challenge) -> str | None:
        """The token to try once more with where ``used`` allowed too little, or None. Raises SignInFailed.

        Scopes that were asked for already are not asked for again: the answer would be the same.
        """
        if not challenge.insufficient_scope or not challenge.scopes:
            return None
        self.challenge = challenge
        async with self._lock:
            grant = self._grant
            if grant is not None and grant.tokens.access != used:
                return grant.tokens.access
            if grant is not None and set(challenge.scopes) <= set(union(grant.asked, grant.tokens.scopes)):
                return None
            return await self._anew(challenge)

    async def sign_in(self, interaction: Interaction) -> None:
        """Sign in since a person asks for it; an earlier one that still waits ends. Raises SignInFailed."""
        if self._signing_in is not None:
            self._signing_in.cancel()
        with anyio.CancelScope() as scope:
            self._signing_in = scope
            try:
                await self._load()
                await self._obtain(self.challenge or Challenge(), interaction)
                return
            finally:
                if self._signing_in is scope:
                    self._signing_in = None
        raise Step(self._server, "waiting for the browser").failed("another sign-in has begun.")

    async def sign_out(self) -> None:
        """Revoke the grant where its server lets us, and forget it in any case."""
        if self._signing_in is not None:
            self._signing_in.cancel()
        async with self._lock:
            await self._load()
            grant = self._grant
            await self._forget()
        if grant is not None:
            await self._revoke(grant)

    async def _revoke(self, grant: Grant) -> None:
        step = Step(self._server, "revoking its token")
        try:
            with anyio.move_on_after(_LONGEST_REVOCATION):
                async with self._clients() as http:
                    await endpoint.revoke(http, step, grant)
        except SignInFailed as error:
            self._log(error.message)

    async def _anew(self, challenge: Challenge) -> str | None:
        if self.settings.grant == "authorization_code" and self._interaction is None:
            return None
        return (await self._obtain(challenge, self._interaction)).tokens.access

    async def _obtain(self, challenge: Challenge, interaction: Interaction | None) -> Grant:
        """A whole new grant, from discovery on."""
        settings, before = self.settings, self._grant
        async with self._clients() as http:
            found = await discover(
                http,
                server=self._server,
                server_url=self.server_url,
                challenge=challenge,
                issuer=settings.issuer,
            )
            known = before if before is not None and before.metadata.issuer == found.metadata.issuer else None
            asked = known.asked if known else ()
            scopes = wanted_scopes(settings.scopes, challenge.scopes, found.scopes, asked)
            if interaction is None or settings.grant == "client_credentials":
                grant = await self._for_itself(found, scopes)
            else:
                client = known.client if known else None
                person = PersonSignIn(self._server, settings, found, scopes, client, self._sign_in_seconds)
                grant = await person.run(http, interaction)
        await self._keep(grant)
        self._log(f"signed in at {grant.metadata.issuer}")
        return grant

    async def _for_itself(self, found: Found, scopes: tuple[str, ...]) -> Grant:
        step = Step(self._server, f"asking {found.metadata.issuer[:200]} for a token of its own")
        client = preregistered(self.settings, found.metadata) or described(
            self.settings, found.metadata, step
        )
        if client is None or client.authentication == "none":
            raise step.failed("set “clientId” and “clientSecret” or “privateKey” in “oauth”.")
        async with self._clients() as http:
            return await endpoint.act_for_itself(http, step, found, client, scopes)

    async def _renewed(self, grant: Grant) -> str | None:
        """A new access token without asking anybody, or None. Raises SignInFailed where that may work later.

        Not to be cancelled halfway: the answer may hold the only refresh token that still counts.
        """
        with anyio.CancelScope(shield=True, deadline=anyio.current_time() + _LONGEST_RENEWAL):
            async with self._turns.of(self._key):
                return await self._renewed_already(grant) or await self._renew(grant)
        raise Step(self._server, "renewing its token", retryable=True).failed("no answer came in time.")

    async def _renewed_already(self, grant: Grant) -> str | None:
        """The access token of a grant that somebody else has renewed since this one was looked at."""
        await self._load()
        now = self._grant
        return now.tokens.access if now is not None and now.tokens != grant.tokens else None

    async def _renew(self, grant: Grant) -> str | None:
        step = Step(self._server, f"renewing its token at {grant.metadata.issuer[:200]}", retryable=True)
        if self.settings.grant == "client_credentials":
            found = Found(grant.resource, grant.metadata)
            renewed = replace(await self._for_itself(found, grant.asked), identity=grant.identity)
        elif grant.tokens.refresh is None:
            return None
        else:
            try:
                async with self._clients() as http:
                    renewed = await endpoint.renew(http, step, grant, grant.tokens.refresh)
            except SignInFailed as error:
                if error.code not in _REFUSED:
                    raise
                return await self._refused(grant, error)
        await self._keep(renewed)
        return renewed.tokens.access

    async def _refused(self, grant: Grant, error: SignInFailed) -> str | None:
        """The refresh token is used up: by another process that has a newer one, or for good."""
        renewed = await self._renewed_already(grant)
        if renewed is not None:
            return renewed
        self._log(error.message)
        await self._forget()
        return None

    async def _load(self) -> None:
        load = self._storage.load
        text = await anyio.to_thread.run_sync(load, self._key, abandon_on_cancel=True)
        self._looked = True
        found = decode(text, self.settings) if text is not None else None
        if found is not None:
            self._adopt(found)

    async def _keep(self, grant: Grant) -> None:
        self._adopt(grant)
        if not await anyio.to_thread.run_sync(self._storage.save, self._key, encode(grant)):
            self._log("the sign-in cannot be kept, and ends with this session")

    async def _forget(self) -> None:
        self._grant = None
        await anyio.to_thread.run_sync(self._storage.delete, self._key)

    def _adopt(self, grant: Grant) -> None:
        self._grant = grant
        tokens = (grant.tokens.access, grant.tokens.refresh)
        self._seen.extend(token for token in tokens if token and token not in self._seen)


def _ends_soon(grant: Grant) -> bool:
    tokens = grant.tokens
    early = min(_EARLY, tokens.lifetime * _EARLY_SHARE)
    return tokens.expires_at is not None and tokens.expires_at - time.time() <= early


def _has_ended(grant: Grant) -> bool:
    return grant.tokens.expires_at is not None and grant.tokens.expires_at <= time.time()

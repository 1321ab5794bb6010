"""Opens a session: finds out which era the server speaks, and agrees on a version; must not know transports.

The verdicts are ``eras.probe``'s; here they are only carried out. Specification 2026-07-28, basic/versioning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import anyio

from mcp_lectern.mcp.eras.era import Era, Roots
from mcp_lectern.mcp.eras.handshake import Handshake
from mcp_lectern.mcp.eras.probe import (
    Agreed,
    HandshakeRefused,
    NoCommonVersion,
    ShakeHands,
    SpeakStateless,
    judge_handshake,
    judge_probe,
)
from mcp_lectern.mcp.eras.stateless import Stateless
from mcp_lectern.mcp.eras.versions import HANDSHAKE_VERSIONS, SPOKEN_VERSIONS, STATELESS_VERSIONS
from mcp_lectern.mcp.errors import McpError, NotUnderstood, ServerError, VersionMismatch
from mcp_lectern.mcp.session import Outcome, Pending, Session
from mcp_lectern.mcp.wire.jsonrpc import Answer, Refusal
from mcp_lectern.mcp.wire.lifecycle import Capabilities, ServerInfo, initialize_params

Preference = Literal["auto", "legacy", "modern", "remembered"]
"""``remembered``: the handshake was right when this server was last spoken to; it is asked again if not."""

HANDSHAKE_ATTEMPTS: Final = 2
ASSUMED: Final = Capabilities(resources=True)


@dataclass(frozen=True, slots=True)
class Opened:
    """What was agreed on."""

    era: Era
    server_info: ServerInfo | None
    capabilities: Capabilities


@dataclass(slots=True)
class Opening:
    """``probe`` is in seconds: how long the server may be silent before ``initialize`` follows the probe.

    ``offers`` are the client capabilities that both eras have.
    """

    session: Session
    client_version: str
    roots: Roots | None
    probe: float
    log: Callable[[str], None]
    offers: Mapping[str, Any] = field(default_factory=dict)

    async def open(self, preference: Preference) -> Opened:
        """Agree with the server. Waits as long as it must; raises McpError."""
        if preference == "legacy":
            return await self._shake_hands(HANDSHAKE_VERSIONS[0], None)
        if preference == "remembered":
            return await self._as_before()
        probe = self._send_probe(STATELESS_VERSIONS[0])
        outcome = await self.session.peek(probe, self.probe if preference == "auto" else float("inf"))
        verdict = judge_probe(_probed(outcome))
        if isinstance(verdict, SpeakStateless):
            return await self._speak_stateless(verdict)
        if isinstance(verdict, NoCommonVersion):
            raise self._mismatch(verdict.theirs)
        if preference == "modern":
            raise outcome if isinstance(outcome, NotUnderstood) else self._mismatch(HANDSHAKE_VERSIONS)
        if outcome is None:
            self.log(f"no answer to server/discover within {self.probe:g} s; trying initialize")
        return await self._shake_hands(verdict.version, probe if outcome is None else None)

    async def _as_before(self) -> Opened:
        """``initialize`` without a probe, unless that is refused: the server may have been replaced."""
        try:
            return await self._shake_hands(HANDSHAKE_VERSIONS[0], None)
        except (ServerError, NotUnderstood, VersionMismatch):
            modern = await self._last_chance(self._send_probe(STATELESS_VERSIONS[0]))
            if modern is None:
                raise
            self.log("the server takes no initialize any more; it speaks the stateless era")
        return await self._speak_stateless(modern)

    def _send_probe(self, version: str) -> Pending:
        era = Stateless(version, self.client_version, self.offers)
        return self.session.begin(self.session.asked("server/discover"), {}, era=era, progress=False)

    async def _speak_stateless(self, verdict: SpeakStateless) -> Opened:
        found = verdict.discovered
        if found is None:
            again = self._send_probe(verdict.version)
            second = judge_probe(_probed(await self.session.peek(again, self.probe)))
            self.session.forget(again)
            found = second.discovered if isinstance(second, SpeakStateless) else None
        era = Stateless(verdict.version, self.client_version, self.offers)
        if found is None:
            self.log("the server tells no capabilities; resources are assumed")
            return Opened(era, None, ASSUMED)
        return Opened(era, found.server_info, found.capabilities)

    async def _shake_hands(self, version: str, late_probe: Pending | None) -> Opened:
        """``initialize``, and again at another version if the server asks for it; a late probe is heard."""
        for _ in range(HANDSHAKE_ATTEMPTS):
            params = initialize_params(
                version, self.client_version, roots=self.roots is not None, offers=self.offers
            )
            asked = self.session.asked("initialize")
            call = self.session.begin(asked, params, era=Handshake(version), progress=False)
            modern = await self._heard_late(late_probe, call)
            if modern:
                self.session.forget(call)
                return await self._speak_stateless(modern)
            reply = _reply(call.outcome)
            assert reply is not None
            verdict = judge_handshake(reply, version)
            if not isinstance(verdict, ShakeHands):
                return await self._carry_out(verdict, late_probe)
            version = verdict.version
        raise self._mismatch((version,))

    async def _carry_out(
        self,
        verdict: Agreed | SpeakStateless | NoCommonVersion | HandshakeRefused,
        late_probe: Pending | None,
    ) -> Opened:
        if isinstance(verdict, Agreed):
            return self._agreed(verdict, late_probe)
        modern = await self._last_chance(late_probe)
        if modern:
            return await self._speak_stateless(modern)
        if isinstance(verdict, SpeakStateless):
            return await self._speak_stateless(verdict)
        if isinstance(verdict, NoCommonVersion):
            raise self._mismatch(verdict.theirs)
        refusal = Refusal(0, verdict.code, verdict.message)
        raise self.session.asked("initialize").refused(refusal)

    def _agreed(self, verdict: Agreed, late_probe: Pending | None) -> Opened:
        if late_probe:
            self.session.forget(late_probe)
        if verdict.assumed:
            self.log(f"the server names no protocol version; {verdict.version} is assumed")
        return Opened(Handshake(verdict.version, self.roots), verdict.server_info, verdict.capabilities)

    async def _heard_late(self, probe: Pending | None, call: Pending) -> SpeakStateless | None:
        """Wait for the answer to ``initialize``; a late answer to the probe may come first and decide."""
        while True:
            waiting = [pending for pending in (probe, call) if pending is not None]
            first = await _first_of(waiting)
            if first is call:
                return None
            verdict = judge_probe(_probed(first.outcome))
            if isinstance(verdict, SpeakStateless):
                return verdict
            probe = None

    async def _last_chance(self, probe: Pending | None) -> SpeakStateless | None:
        if probe is None:
            return None
        verdict = judge_probe(_probed(await self.session.peek(probe, self.probe)))
        self.session.forget(probe)
        return verdict if isinstance(verdict, SpeakStateless) else None

    def _mismatch(self, theirs: tuple[str, ...]) -> VersionMismatch:
        return VersionMismatch(
            f'Server "{self.session.server}" speaks protocol version {", ".join(theirs)[:300]}, '
            f"and this client {', '.join(SPOKEN_VERSIONS)}; update the one that is older.",
            server=self.session.server,
        )


def _reply(outcome: Outcome | None) -> Answer | Refusal | None:
    """The reply to a request. Raises what left it without one."""
    if isinstance(outcome, McpError):
        raise outcome
    return outcome


def _probed(outcome: Outcome | None) -> Answer | Refusal | NotUnderstood | None:
    """The reply to the probe. Raises an outage, which is no verdict."""
    return outcome if isinstance(outcome, NotUnderstood) else _reply(outcome)


async def _first_of(waiting: list[Pending]) -> Pending:
    """The first in the list that has an outcome, once any has."""
    async with anyio.create_task_group() as tasks:

        async def watch(pending: Pending) -> None:
            await pending.done.wait()
            tasks.cancel_scope.cancel()

        for pending in waiting:
            tasks.start_soon(watch, pending)
    return next(pending for pending in waiting if pending.outcome is not None)

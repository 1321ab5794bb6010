"""A session that notices when its server begins to speak the other era; must not know transports.

It ends then, so that whoever opened it opens another: nothing that was agreed on holds any more.
"""

from __future__ import annotations

from typing import Any, Final

import anyio

from mcp_lectern.mcp.eras.change import is_other, is_suspicious
from mcp_lectern.mcp.eras.era import Era
from mcp_lectern.mcp.errors import ConnectionLost
from mcp_lectern.mcp.session import Outcome, Patience, Pending, Session
from mcp_lectern.mcp.wire.failures import era_changed

UNSUSPECTED: Final = 10.0
"""Seconds for which a suspicion that was wrong raises no other one."""


class WatchedSession(Session):
    """``watch`` is to be called when the era is agreed on."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._stateless: Era | None = None
        self._seconds = 0.0
        self._changed = False
        self._unsuspected_until = float("-inf")
        self._asking = anyio.Lock()

    def watch(self, stateless: Era, seconds: float) -> None:
        """Be suspicious from now on. ``stateless``: how to ask, ``seconds``: how long an answer may take."""
        self._stateless, self._seconds = stateless, seconds

    async def outcome(self, pending: Pending, patience: Patience, left: float | None = None) -> Outcome:
        """As ever; a refusal that means another era is the end of this connection."""
        outcome = await super().outcome(pending, patience, left)
        return self.lost(pending.method) if await self.in_doubt(pending) else outcome

    async def in_doubt(self, pending: Pending) -> bool:
        """Whether what became of this request shows that the server speaks the other era: all ends then."""
        if self._stateless is None or not is_suspicious(self.era.name, pending.method, pending.outcome):
            return False
        async with self._asking:
            if not self._changed and anyio.current_time() > self._unsuspected_until:
                await self._ask(self._stateless)
        return self._changed

    def lost(self, method: str | None = None) -> ConnectionLost:
        """As ever; where the server is there and speaks otherwise, EraChanged."""
        return era_changed(self.server, method) if self._changed else super().lost(method)

    async def _ask(self, stateless: Era) -> None:
        probe = self.begin(self.asked("server/discover"), {}, era=stateless, progress=False, again=False)
        try:
            outcome = await self.peek(probe, self._seconds)
        finally:
            self.abandon(probe, "no longer wanted")
        if self.ended:
            return
        if is_other(self.era.name, outcome):
            self._changed = True
            self.close()
        elif outcome is not None:
            self._unsuspected_until = anyio.current_time() + UNSUSPECTED

"""Approving and revoking server entries for an editor, and saying once that one waits; starts nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from mcp_lectern.hub.entry import Entry
    from mcp_lectern.lsp.server import Lectern


_APPROVE = "Approve"
_QUESTION_LIMIT = 1500
"""Characters: what does not fit into a question is not approved by one."""


class Approval:
    """``told`` holds the fingerprints that this session's user has been told about."""

    def __init__(self, lectern: Lectern) -> None:
        self._lectern = lectern
        self._told: set[str] = set()

    async def approve(self, server: str, fingerprint: str) -> None:
        """Approve the entry as it is on disk now. Raises Refused where that is not what was looked at."""
        from mcp_lectern.hub import prepare
        from mcp_lectern.hub.failure import refused
        from mcp_lectern.trust.approvals import ApprovalsError

        hub = await self._lectern.hub()
        hub.link(server)
        await self._lectern.engine.configure_now()
        entry = hub.link(server).entry
        if entry.fingerprint != fingerprint:
            raise refused(
                "invalidArgument",
                f"The server “{server}” is no longer what was looked at: look at it again, then approve it.",
                server=server,
            )
        try:
            await asyncio.to_thread(prepare.approve, entry)
        except ApprovalsError as error:
            raise refused("serverFailed", str(error), server=server) from error
        await self._lectern.engine.configure_now()

    async def ask(self, server: str) -> None:
        """Show the user all that an approval covers, and approve that if they say so. Raises Refused."""
        from mcp_lectern.hub.failure import refused

        hub = await self._lectern.hub()
        await self._lectern.engine.configure_now()
        entry = hub.link(server).entry
        if entry.approved:
            return
        if not await self._consents(entry):
            raise refused("notTrusted", f"The server “{server}” was not approved.", server=server)
        await self.approve(server, entry.fingerprint)

    async def _consents(self, entry: Entry) -> bool:
        """What the person says. Raises Refused where the editor asks nobody."""
        from mcp_lectern.hub.failure import refused

        ask, name = self._lectern.protocol.ask, entry.spec.name
        try:
            if self._lectern.session.client.trust_prompt:
                params = {
                    "server": name,
                    "fingerprint": entry.fingerprint,
                    "shows": dict(entry.shows),
                    "changed": list(entry.changed),
                }
                answer = await ask("lectern/approve", params)
                return isinstance(answer, Mapping) and answer.get("approved") is True
            choice = await ask(types.WINDOW_SHOW_MESSAGE_REQUEST, _question(entry))
            return isinstance(choice, Mapping) and choice.get("title") == _APPROVE
        except JsonRpcException as error:
            message = f"This editor asked nobody whether “{name}” may start: run `mcp-lectern approve` on it."
            raise refused("notTrusted", message, server=name) from error

    async def revoke(self, server: str) -> None:
        """Take the approval back; the server ends. Raises Refused for an entry that needs no approval."""
        from mcp_lectern.config.model import Level
        from mcp_lectern.hub import prepare
        from mcp_lectern.hub.failure import refused
        from mcp_lectern.trust.approvals import ApprovalsError

        hub = await self._lectern.hub()
        entry = hub.link(server).entry
        if entry.spec.origin.level is Level.USER:
            raise refused(
                "invalidArgument",
                f"“{server}” is your own: it needs no approval. It stands in {entry.spec.origin.label}.",
                server=server,
            )
        if self._lectern.session.opened is not None:
            self._lectern.session.opened.forget(server)
        try:
            await asyncio.to_thread(prepare.revoke, entry)
        except ApprovalsError as error:
            raise refused("serverFailed", str(error), server=server) from error
        await self._lectern.engine.configure_now()

    def mention_unapproved(self, server: str | None = None) -> None:
        """The user looks for resources: say once which servers wait for an approval, and what to do.

        ``server``: this one alone, because it was about to start when it turned out to have changed.
        """
        from mcp_lectern.hub.status import State
        from mcp_lectern.text.untrusted import single_line

        hub = self._lectern.session.hub
        if hub is None:
            return
        for status in hub.status(None if server is None else (server,)):
            if status.state is not State.NOT_TRUSTED or status.fingerprint in self._told:
                continue
            self._told.add(status.fingerprint)
            message = single_line(status.last_error or "", 400)
            self._lectern.show(types.MessageType.Info, message)


def _question(entry: Entry) -> dict[str, Any]:
    """Everything that an approval covers, in one message. Raises Refused where it does not fit."""
    from mcp_lectern.hub.failure import refused
    from mcp_lectern.text.untrusted import single_line

    name = entry.spec.name
    covered = single_line(json.dumps(dict(entry.shows), ensure_ascii=False), _QUESTION_LIMIT + 1)
    if len(covered) > _QUESTION_LIMIT:
        raise refused(
            "notTrusted",
            f"What “{name}” would start is too long for a question: run `mcp-lectern approve` on it.",
            server=name,
        )
    where = single_line(entry.spec.origin.label, 200)
    message = f"Approve the server “{single_line(name, 100)}” of {where}? It is: {covered}"
    actions = [{"title": _APPROVE}, {"title": "Not now"}]
    return {"type": int(types.MessageType.Warning), "message": message, "actions": actions}

"""Signing in to a server and out of it, because a person said so; must not know how they are reached.

What an entry asks a person for (``${input:id}``) is given and forgotten in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lectern.config.model import Remote
from mcp_lectern.hub import failure
from mcp_lectern.hub.credentials import Interaction, has_own
from mcp_lectern.hub.status import State
from mcp_lectern.mcp.errors import McpError

if TYPE_CHECKING:
    from mcp_lectern.hub.hub import Hub
    from mcp_lectern.hub.link import Link


async def sign_in(hub: Hub, server: str, interaction: Interaction) -> None:
    """Sign in, and start the server under the new sign-in. Raises Refused.

    A server that asks for no sign-in is merely started. One whose entry asks for inputs, and for no other
    sign-in, is started with what is given anew.
    """
    link = hub.link(server)
    await link.decided()
    if link.entry.spec.inputs:
        other = _signs_in(link) and (link.credentials.challenged or link.credentials.signed_in)
        await hub.inputs.give(server, anew=not (link.entry.missing or other))
        link = hub.link(server)
        if link.entry.can_start and not _signs_in(link):
            link.want(explicit=True)
            return
    remote = _remote(link)
    try:
        if not await _asks(link):
            return
        await link.credentials.sign_in(remote, interaction)
    except McpError as error:
        link.log.write(error.message)
        raise failure.Refused(failure.of_error(error)) from error
    await link.stop(State.IDLE)
    hub.forget(server)
    await hub.remembered.purge(server)
    link.want(explicit=True)


async def sign_out(hub: Hub, server: str) -> None:
    """Revoke and forget the sign-in and all that was read under it. Starts nothing. Raises Refused.

    Other entries of the same address share it, and are signed out as well.
    """
    await hub.link(server).decided()
    if hub.link(server).entry.spec.inputs:
        signs_in = _signs_in(hub.link(server))
        if signs_in:
            await _sign_out(hub, server)
        await hub.inputs.forget(server)
        return
    await _sign_out(hub, server)


async def _sign_out(hub: Hub, server: str) -> None:
    link = hub.link(server)
    remote = _remote(link)
    others = [hub.link(name) for name in hub.states() if name != server]
    for each in (link, *(other for other in others if _shares(other, remote))):
        await each.stop(State.NEEDS_SIGN_IN)
        try:
            await each.credentials.sign_out(remote)
        except McpError as error:
            raise failure.Refused(failure.of_error(error)) from error
        finally:
            hub.forget(each.name)
            await hub.remembered.purge(each.name)


def _signs_in(link: Link) -> bool:
    """Whether one signs in to the server itself, beside what its entry asks for."""
    ready = link.entry.launched
    return isinstance(ready, Remote) and not has_own(ready)


def _shares(link: Link, remote: Remote) -> bool:
    """Whether a link is signed in by the same sign-in: that of an address and what its entry says of it."""
    ready = link.entry.launched
    if not isinstance(ready, Remote) or has_own(ready):
        return False
    return (ready.url, ready.oauth) == (remote.url, remote.oauth) and link.credentials.signed_in


async def _asks(link: Link) -> bool:
    """Whether the server wants to know who is asking: found out by starting it, where that is not known yet.

    Raises McpError where it can say nothing at all.
    """
    if link.credentials.challenged or link.credentials.signed_in:
        return True
    try:
        await link.listed()
    except McpError as error:
        if not failure.needs_sign_in(error):
            raise
    return link.credentials.challenged or link.credentials.signed_in


def _remote(link: Link) -> Remote:
    """The remote server of a link, if one can sign in to it. Raises Refused."""
    ready = link.entry.launch()
    if not isinstance(ready, Remote):
        raise failure.refused(
            "invalidArgument",
            f"The server “{link.name}” is a program: one does not sign in to it.",
            server=link.name,
        )
    if has_own(ready):
        raise failure.refused(
            "invalidArgument",
            f"The entry of “{link.name}” sets an Authorization header: remove it there to sign in instead.",
            server=link.name,
        )
    return ready

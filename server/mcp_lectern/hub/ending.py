"""Why a session with a server is over; must not know what becomes of its link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from mcp_lectern.hub.refresh import Refresh
from mcp_lectern.mcp.errors import McpError

if TYPE_CHECKING:
    from mcp_lectern.mcp.connect import Connection


async def end_of(connection: Connection, refresh: Refresh) -> McpError:
    """Why a session is over: the server is gone, or shows nothing before somebody has signed in."""
    ends: list[McpError] = []
    async with anyio.create_task_group() as group:

        async def lost() -> None:
            ends.append(await connection.wait_closed())
            group.cancel_scope.cancel()

        async def locked() -> None:
            await refresh.locked.wait()
            ends.extend([refresh.error] if refresh.error else [])
            group.cancel_scope.cancel()

        group.start_soon(lost)
        group.start_soon(locked)
    await refresh.ended_with(ends[0])
    return ends[0]

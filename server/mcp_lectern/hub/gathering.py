"""Many reads for one answer, some at a time; must not know what the answer is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import anyio

from mcp_lectern.hub.failure import Failure, Refused
from mcp_lectern.mcp.wire.resources import ReadResult

if TYPE_CHECKING:
    from mcp_lectern.hub.hub import Hub

AT_ONCE = 4
"""A server may be slow, and an answer may need hundreds of reads."""

Key = tuple[str, str]
"""A server's name and a URI, byte for byte."""


async def read_each(hub: Hub, keys: Iterable[Key]) -> dict[Key, ReadResult | Failure]:
    """What each read returned, or how it failed; given up by its caller, it gives up what is under way."""
    found: dict[Key, ReadResult | Failure] = {}
    places = anyio.Semaphore(AT_ONCE)

    async def read(key: Key) -> None:
        async with places:
            try:
                found[key] = await hub.read(*key, asked=True)
            except Refused as refused:
                found[key] = refused.failure

    async with anyio.create_task_group() as group:
        for key in dict.fromkeys(keys):
            group.start_soon(read, key)
    return found

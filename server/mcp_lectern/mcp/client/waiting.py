"""Waiting for whichever of several events comes first; must not know what they mean."""

from __future__ import annotations

import anyio


async def first_of(*events: anyio.Event) -> None:
    """Returns as soon as one of them is set."""
    if any(event.is_set() for event in events):
        return
    async with anyio.create_task_group() as tasks:

        async def watch(event: anyio.Event) -> None:
            await event.wait()
            tasks.cancel_scope.cancel()

        for event in events:
            tasks.start_soon(watch, event)

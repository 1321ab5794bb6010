"""How long an event loop is held at a time; must not know by what."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import perf_counter

TICK = 0.002


@dataclass(slots=True)
class Held:
    """``longest`` is in seconds."""

    longest: float = 0.0


@asynccontextmanager
async def watched() -> AsyncIterator[Held]:
    """Watch the loop that this runs on."""
    held = Held()

    async def watch() -> None:
        last = perf_counter()
        while True:
            await asyncio.sleep(TICK)
            now = perf_counter()
            held.longest, last = max(held.longest, now - last - TICK), now

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0)
    try:
        yield held
        await asyncio.sleep(2 * TICK)
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching

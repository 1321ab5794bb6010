"""A body in parts that are soon handled, with turns for others between them; must not know what it means."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from time import perf_counter
from typing import Final

PART: Final = 16 * 1024
"""Bytes: the shortest lines that can be in so much are handled in a few milliseconds."""
STRETCH: Final = 0.005
"""Seconds after which others have their turn."""


async def in_parts(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """The same bytes, in order."""
    async for piece in pieces:
        began = perf_counter()
        for start in range(0, len(piece), PART):
            yield piece[start : start + PART]
            if perf_counter() - began > STRETCH:
                await asyncio.sleep(0)
                began = perf_counter()

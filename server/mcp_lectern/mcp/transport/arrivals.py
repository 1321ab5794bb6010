"""What arrives on many streams, handed to one session in order; must not know what carries it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from typing import Final

from .duplex import Arrival

SMALL: Final = 16 * 1024
"""Bytes of a message that costs next to nothing; after others, whoever else waits comes first."""


class Arrivals:
    """A meeting place without a buffer: who brings something waits until the session has handled it.

    So a fast server is slowed down instead of filling memory, and after ``bring`` returns it is known whether
    a message answered what it came for. What is brought by somebody who is cancelled meanwhile is not taken.
    """

    def __init__(self) -> None:
        self._brought: deque[tuple[Arrival | None, asyncio.Future[None] | None]] = deque()
        self._wanted: asyncio.Future[None] | None = None

    async def bring(self, arrival: Arrival) -> None:
        """Hand over, and wait until it has been handled."""
        handled = asyncio.get_running_loop().create_future()
        self._put(arrival, handled)
        await handled

    def tell(self, arrival: Arrival) -> None:
        """Hand over something small of which there cannot be many, and do not wait."""
        self._put(arrival, None)

    async def end(self) -> None:
        """Say that the peer is gone; nothing that is brought afterwards is taken."""
        self._put(None, None)

    async def take(self) -> AsyncGenerator[Arrival]:
        """All of it, until the peer is gone."""
        loop = asyncio.get_running_loop()
        while True:
            while not self._brought:
                self._wanted = loop.create_future()
                await self._wanted
            arrival, handled = self._brought.popleft()
            if handled is not None and handled.cancelled():
                continue
            if arrival is None:
                return
            costly = not isinstance(arrival, bytes) or len(arrival) > SMALL
            yield arrival
            # Something large is not kept until the next thing comes.
            del arrival
            if handled is not None and not handled.done():
                handled.set_result(None)
            if costly:
                await asyncio.sleep(0)

    def close(self) -> None:
        """Nothing more is taken."""
        self._brought.clear()

    def _put(self, arrival: Arrival | None, handled: asyncio.Future[None] | None) -> None:
        self._brought.append((arrival, handled))
        if self._wanted is not None and not self._wanted.done():
            self._wanted.set_result(None)

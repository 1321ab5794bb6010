"""What arrives on many streams, handed to one session in order; must not know what carries it."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import anyio

from .duplex import Arrival


class Arrivals:
    """A meeting place without a buffer: who brings something waits until the session has handled it.

    So a fast server is slowed down instead of filling memory, and after ``bring`` returns it is known whether
    a message answered what it came for.
    """

    def __init__(self) -> None:
        self._into, self._out = anyio.create_memory_object_stream[tuple[Arrival | None, anyio.Event]](0)

    async def bring(self, arrival: Arrival) -> None:
        """Hand over, and wait until it has been handled."""
        handled = anyio.Event()
        await self._into.send((arrival, handled))
        await handled.wait()

    async def end(self) -> None:
        """Say that the peer is gone; nothing that is brought afterwards is taken."""
        await self._into.send((None, anyio.Event()))

    async def take(self) -> AsyncGenerator[Arrival]:
        """All of it, until the peer is gone."""
        async for arrival, handled in self._out:
            if arrival is None:
                return
            yield arrival
            handled.set()

    def close(self) -> None:
        """Give the two ends up."""
        self._into.close()
        self._out.close()

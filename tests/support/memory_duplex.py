"""A transport without a process: the test is the other side."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio

from mcp_lectern.mcp.transport.duplex import Arrival, Ending, Outgoing


class MemoryDuplex:
    """``arrive`` and ``end`` are what the peer does, ``posted`` is what it was sent."""

    pid: int | None = None

    def __init__(self, ending: Ending | None = None) -> None:
        self.posted: list[Outgoing] = []
        self.released: list[int] = []
        self._ending = ending or Ending()
        self._in, self._out = anyio.create_memory_object_stream[Arrival](1000)

    def arrive(self, *messages: Arrival) -> None:
        for message in messages:
            self._in.send_nowait(message)

    def end(self) -> None:
        self._in.close()

    def post(self, message: Outgoing) -> None:
        self.posted.append(message)

    def release(self, identity: int, notice: Outgoing | None = None) -> None:
        self.released.append(identity)
        if notice is not None:
            self.post(notice)

    def agreed(self, version: str) -> None:
        pass

    async def receive(self) -> AsyncIterator[Arrival]:
        async with self._out:
            async for message in self._out:
                yield message

    async def ended(self) -> Ending:
        return self._ending

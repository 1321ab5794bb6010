"""How much is under way at the same time, first come, first served; must not know what it is."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

AT_ONCE: Final = 16
"""Requests to one remote server that are under way at the same time; a stream of notices is not one of them.

More of them gain nothing with a server near by, and fifty busy servers would need more descriptors than the
1,024 that a process may have by default.
"""
TURN_SECONDS: Final = 2.0


class Turns:
    """At most ``most`` at once. ``waiting`` is called with the number of whoever waits or has waited.

    It is called every ``seconds`` of waiting, and at its end: one timer for all.
    """

    def __init__(self, most: int, seconds: float, waiting: Callable[[int], None]) -> None:
        self._free = most
        self._seconds = seconds
        self._waiting = waiting
        self._queue: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    async def take(self, identity: int) -> None:
        """Wait for a turn; ``give`` it back."""
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._queue.append((identity, turn))
        if self._timer is None:
            self._start()
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self.give()
            raise
        self._waiting(identity)

    def give(self) -> None:
        """Whoever has waited longest is next."""
        while self._queue:
            _, turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def close(self) -> None:
        """Nobody will be reminded of waiting any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _start(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._remind)

    def _remind(self) -> None:
        self._timer = None
        for identity, turn in self._queue:
            if not turn.done():
                self._waiting(identity)
        if self._queue:
            self._start()

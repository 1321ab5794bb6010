"""What is posted and wants no answer, a few at a time and for so long; must not know what carries it.

A server may ask more than it listens to: its requests are answered by posts of our own, and each of them
could be left without a status.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from mcp_lectern.mcp.errors import McpError

from .http_client import CutShortError
from .throttle import Throttle

AT_ONCE: Final = 4
MOST: Final = 1000
"""Under way or waiting; what a server asks beyond that gets no answer."""
SECONDS: Final = 30.0
"""For one of them to be taken."""


class Posts:
    """``take`` before ``deliver``, which ``log`` hears of where it fails."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = Throttle(log)
        self._turns = anyio.CapacityLimiter(AT_ONCE)
        self._count = 0

    def take(self, what: str) -> bool:
        """Whether there is room for another one."""
        if self._count >= MOST:
            self._log(f"{what} was not delivered: {MOST} others wait for the server to take them")
            return False
        self._count += 1
        return True

    async def deliver(self, what: str, post: Callable[[], Awaitable[None]]) -> None:
        """Call ``post``, and once more where its connection broke off: to say it twice does no harm."""
        try:
            async with self._turns:
                with anyio.move_on_after(SECONDS) as scope:
                    if await self._is_cut_short(post):
                        await post()
            if scope.cancelled_caught:
                self._log(f"{what} was not delivered: the server did not take it within {SECONDS:g} s")
        except (McpError, CutShortError) as error:
            self._log(f"{what} was not delivered: {error}")
        finally:
            self._count -= 1

    async def _is_cut_short(self, post: Callable[[], Awaitable[None]]) -> bool:
        try:
            await post()
        except CutShortError:
            return True
        return False

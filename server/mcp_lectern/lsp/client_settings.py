"""Asks the client for its settings, and keeps what it told last; must not know what they mean.

A client may be busy, fail, or answer in a shape of its own: that is no reason to forget what it said before.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pygls.exceptions import JsonRpcException

logger = logging.getLogger(__name__)

PATIENCE = 3.0
"""Seconds that the rest of the configuration waits for the client; a later answer is taken when it comes."""

Section = Mapping[str, object]


class ClientSettings:
    """``ask`` asks once; ``changed`` is told when an answer comes late and says something else."""

    def __init__(self, ask: Callable[[], Awaitable[Any]], changed: Callable[[], object]) -> None:
        self._ask = ask
        self._changed = changed
        self._told: Section | None = None
        self._asking: asyncio.Task[None] | None = None

    async def pull(self) -> Section | None:
        """The section as the client tells it now, else as it told it last; None where it has none."""
        asking = self._asking = asyncio.create_task(self._listen(), name="lectern-settings")
        await asyncio.wait({asking}, timeout=PATIENCE)
        if not asking.done():
            logger.warning("the client has not told its settings yet")
            asking.add_done_callback(self._came_late(self._told))
        return self._told

    async def _listen(self) -> None:
        asking = asyncio.current_task()
        try:
            answer = await self._ask()
        except JsonRpcException as error:
            logger.warning("the client did not tell its settings: %r", error)
            return
        # Of several answers the one to the last question counts.
        if asking is self._asking:
            self._told = _section(answer, self._told)

    def _came_late(self, before: Section | None) -> Callable[[asyncio.Task[None]], None]:
        def came(asking: asyncio.Task[None]) -> None:
            if asking is self._asking and not asking.cancelled() and self._told != before:
                self._changed()

        return came


def _section(answer: Any, before: Section | None) -> Section | None:
    """The only section of an answer; what was told before where it is none."""
    if answer is None or answer == []:
        return None
    first: object = answer[0] if isinstance(answer, list) else answer
    if first is None or isinstance(first, Mapping):
        return first
    logger.warning("the client told its settings in a form that is none: %.100r", answer)
    return before

"""Long work in short steps on the event loop, so that nobody who types waits for it; must not know what work.

A thread would not do: it would hold the interpreter just as well, and see documents change under its hands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")

SLICE = 0.004
"""Seconds of work before others have their turn; a single step may take some milliseconds on top."""


async def collected(steps: Iterable[T | None], still: Callable[[], bool]) -> list[T] | None:
    """What the steps yield apart from None, in order; None once ``still`` says that nobody wants it any more.

    A None that a step yields is a place to pause at. ``still`` is asked after each pause.
    """
    found: list[T] = []
    until = perf_counter() + SLICE
    for step in steps:
        if step is not None:
            found.append(step)
        if perf_counter() >= until:
            await asyncio.sleep(0)
            if not still():
                return None
            until = perf_counter() + SLICE
    return found

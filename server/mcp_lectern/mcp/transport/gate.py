"""Lets what was posted after a message wait until that was taken, or long enough; must not know messages."""

from __future__ import annotations

from typing import Final

import anyio

GATE_SECONDS: Final = 3.0
"""A server that never says whether it took a message is spoken to all the same."""


async def passed(gate: anyio.Event) -> None:
    """Wait until it is open; after a while it is opened for all who wait."""
    with anyio.move_on_after(GATE_SECONDS):
        await gate.wait()
    gate.set()

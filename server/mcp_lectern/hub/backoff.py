"""How long to wait before a server is started again by itself; pure, the clock is the caller's."""

from __future__ import annotations

FIRST_DELAY = 1.0
LONGEST_DELAY = 300.0
STEADY = 60.0
"""Seconds of uptime after which earlier deaths no longer count."""


class Backoff:
    """Growing delays without a last one: 1, 2, 4 … 300 seconds.

    A handshake that succeeded proves nothing (a server may die after each): only uptime resets.
    """

    def __init__(self) -> None:
        self.failures = 0

    def delay(self, uptime: float) -> float:
        """Seconds to wait after an end that followed ``uptime`` seconds of service; counts the failure."""
        if uptime >= STEADY:
            self.failures = 0
        self.failures += 1
        return float(min(FIRST_DELAY * 2 ** min(self.failures - 1, 16), LONGEST_DELAY))

    def stretch(self, seconds: float, most: float) -> float:
        """A start time limit that doubles with each failure, so that a slow download converges (IO-09)."""
        return float(max(seconds, min(seconds * 2 ** min(self.failures, 16), most)))

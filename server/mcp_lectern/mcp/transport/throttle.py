"""Keeps a noisy peer from flooding a log; must not know what is logged."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final

BURST: Final = 20
WINDOW: Final = 10.0


class Throttle:
    """Passes at most ``BURST`` lines in ``WINDOW`` seconds, and says how many it kept back."""

    def __init__(self, log: Callable[[str], None], clock: Callable[[], float] = monotonic) -> None:
        self._log = log
        self._clock = clock
        self._began = clock()
        self._count = 0

    def __call__(self, line: str) -> None:
        """Log one line, or count it."""
        now = self._clock()
        if now - self._began > WINDOW:
            if self._count > BURST:
                self._log(f"… and {self._count - BURST} more such lines")
            self._began, self._count = now, 0
        self._count += 1
        if self._count <= BURST:
            self._log(line)

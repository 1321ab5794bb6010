"""How long to wait before something is tried again; the caller waits, and nothing here knows what for."""

from __future__ import annotations

from random import SystemRandom
from typing import Final

FIRST: Final = 0.5
LONGEST: Final = 60.0
JITTER: Final = 0.2
_RANDOM: Final = SystemRandom()


def growing(failures: int) -> float:
    """Seconds after so many failures in a row: doubling, bounded, and scattered by a fifth either way.

    Scattered, since all clients of a server that was restarted would otherwise come back in the same moment.
    """
    delay = min(FIRST * 2.0 ** min(failures, 16), LONGEST)
    return delay * _RANDOM.uniform(1 - JITTER, 1 + JITTER)


def asked_for(failures: int, milliseconds: int | None) -> float:
    """Seconds before a stream is opened again: as long as its server asks for, and never at once.

    ``retry: 0`` would otherwise be a request for as many requests as there is time for.
    """
    return max(growing(failures), (milliseconds or 0) / 1000)

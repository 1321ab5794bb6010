"""How long a connection may take, and how much; must not know what for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds: to be ready, without progress, in all, and until the probe is followed by ``initialize``."""

    start: float = 60
    request: float = 30
    total: float = 300
    probe: float = 3


@dataclass(frozen=True, slots=True)
class Limits:
    """``read_bytes``: one message; ``pages``, ``entries`` and ``walk`` (seconds): one listing."""

    read_bytes: int = 64 * 1024 * 1024
    pages: int = 10_000
    entries: int = 500_000
    walk: float = 120

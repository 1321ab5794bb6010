"""How the sample server's time passes: a clock and a journal; must not know clients."""

from __future__ import annotations

import time
from dataclasses import replace

from mcp_lectern.cli.demo_server import tour


class Moments:
    """``journal_s``: seconds between two entries of the journal, 0 = never."""

    def __init__(self, journal_s: float) -> None:
        self._journal_s = journal_s
        self._next_entry = time.monotonic() + journal_s
        self._moment = tour.Moment("")

    def now(self) -> tour.Moment:
        """The state of the moving resources."""
        return replace(self._moment, now=time.strftime("%H:%M:%S UTC", time.gmtime()))

    def tick(self) -> bool:
        """The clock moves on; whether the journal has a new entry."""
        self._moment = replace(self._moment, ticks=self._moment.ticks + 1)
        if not self._journal_s or time.monotonic() < self._next_entry:
            return False
        self._next_entry += self._journal_s
        self._moment = replace(self._moment, journal_entries=self._moment.journal_entries + 1)
        return True

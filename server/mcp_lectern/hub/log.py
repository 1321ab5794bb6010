"""One server's log: a bounded tail of its stderr and of protocol events, secrets masked on the way in."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime

_LINES = 2000
_LINE_LENGTH = 2000
"""Characters; a longer line is cut, so that the tail stays bounded in bytes too."""


class ServerLog:
    """``mask`` removes secrets from a line; ``sink`` gets every line as well (the language server's log)."""

    def __init__(self, mask: Callable[[str], str], sink: Callable[[str], None]) -> None:
        self._lines: deque[str] = deque(maxlen=_LINES)
        self.mask = mask
        self._sink = sink

    def write(self, line: str) -> None:
        """Keep one line, with the time."""
        masked = self.mask(line[:_LINE_LENGTH])
        stamp = datetime.now(UTC).strftime("%H:%M:%S.%f")[:-3]
        self._lines.append(f"{stamp} {masked}")
        self._sink(masked)

    def tail(self) -> str:
        """All lines kept, oldest first."""
        return "\n".join(self._lines)

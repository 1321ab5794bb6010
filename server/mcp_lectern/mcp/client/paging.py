"""Walks a paginated list to its end, whatever the server does; must not know how a page is fetched.

Cursors are opaque and go back as they came, an empty one too. Specification 2026-07-28,
server/utilities/pagination.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, Generic

from mcp_lectern.mcp.wire.packed import Packer
from mcp_lectern.mcp.wire.pages import Entry, Page
from mcp_lectern.mcp.wire.resources import Listing

Json = Any

AT_ONCE: Final = 1000
"""Entries, which take a millisecond or two."""


@dataclass(frozen=True, slots=True)
class WalkLimits:
    """Where a walk is cut short; all are checked between pages."""

    pages: int
    entries: int
    seconds: float
    bytes: int = 1 << 30


@dataclass(slots=True)
class Walk(Generic[Entry]):
    """The pages of one list so far. Of two entries with one address the first stays."""

    limits: WalkLimits
    entries: Packer[Entry]
    pages: int = 0
    partial: str | None = None
    _cursors: set[bytes] = field(default_factory=set)
    _repeated: bool = False
    _new: bool = False
    _left_out: int = 0
    _doubled: int = 0
    _ttl_ms: int | None = None
    _notes: list[str] = field(default_factory=list)

    def take(self, page: Page[Entry]) -> Iterator[None]:
        """Take the entries of a page, some at a time: a page may be the whole of a very long list."""
        before, entries = len(self.entries), self.entries
        for start in range(0, len(page.entries), AT_ONCE):
            entries.extend(page.entries[start : start + AT_ONCE])
            yield
        self._new = len(entries) > before
        self._doubled += before + len(page.entries) - len(entries)
        self._left_out += page.left_out
        self._ttl_ms = page.ttl_ms if self._ttl_ms is None else min(self._ttl_ms, page.ttl_ms)

    def next_cursor(self, page: Page[Entry], elapsed: float) -> str | None:
        """Once a page is taken: the cursor to go on with; None at the end, or where it is cut short."""
        self.pages += 1
        cursor = page.cursor
        if cursor is None:
            return None
        if not isinstance(cursor, str):
            self.partial = "The server sent a cursor that is no string."
            return None
        if self._repeated and not self._new:
            self._notes.append(
                "The server repeats a cursor without end; the walk stopped when nothing new came."
            )
            return None
        # A server may make them as long as it likes.
        digest = blake2b(cursor.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        self._repeated = digest in self._cursors
        self._cursors.add(digest)
        self.partial = self._limit_reached(elapsed)
        return None if self.partial else cursor

    def listing(self) -> Listing[Entry]:
        """What was walked."""
        notes = list(self._notes)
        if self._left_out:
            notes.append(f"Left out, since they have no usable address: {self._left_out}.")
        if self._doubled:
            notes.append(f"Left out, since their address was listed before: {self._doubled}.")
        return Listing(self.entries.packed(), self.partial, tuple(notes), self._ttl_ms or 0)

    def _limit_reached(self, elapsed: float) -> str | None:
        if self.pages >= self.limits.pages:
            return f"The list goes on after {self.limits.pages} pages."
        if len(self.entries) >= self.limits.entries:
            return f"The list goes on after {self.limits.entries} entries."
        if self.entries.size >= self.limits.bytes:
            return f"The list goes on after {self.limits.bytes:,} bytes."
        if elapsed >= self.limits.seconds:
            return f"The list goes on after {self.limits.seconds:g} s."
        return None

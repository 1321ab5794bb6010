"""What a server's answers may be used for again, and how long; must not fetch anything, nor run any timer.

A key is everything that an answer depends on. What was asked of a person on the way is no part of a key, so
such an answer is never fresh. Specification 2026-07-28, server/utilities/caching.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

Value = TypeVar("Value")

PUBLIC: Final = None


@dataclass(frozen=True, slots=True)
class CacheKey:
    """``parameters``: those that the answer depends on; ``context``: under whose authorization it came.

    A context of ``PUBLIC`` is everybody's; any other is shared with nobody.
    """

    server: str
    method: str
    parameters: str
    context: str | None


@dataclass(slots=True)
class _Kept(Generic[Value]):
    value: Value
    came: float
    fresh_until: float
    size: int


class Cache(Generic[Value]):
    """At most ``limit`` bytes (as ``size_of`` counts them), the least recently used going first.

    ``held`` says which keys somebody looks at: those stay. ``clock`` gives seconds.
    """

    def __init__(
        self,
        limit: int,
        size_of: Callable[[Value], int],
        held: Callable[[CacheKey], bool] = lambda _key: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = limit
        self._size_of = size_of
        self._held = held
        self._clock = clock
        self._kept: OrderedDict[CacheKey, _Kept[Value]] = OrderedDict()

    def keep(self, key: CacheKey, value: Value, *, ttl_ms: int, public: bool) -> None:
        """Remember an answer that came just now; 0 ms: it is at hand, and never fresh."""
        now = self._clock()
        self._kept.pop(key, None)
        self._kept.pop(replace(key, context=PUBLIC), None)
        stored = replace(key, context=PUBLIC) if public else key
        self._kept[stored] = _Kept(value, now, now + ttl_ms / 1000, self._size_of(value))
        self._make_room(stored)

    def at_hand(self, key: CacheKey) -> Value | None:
        """The last answer, however old: for what shows it already, and for when there is no other."""
        kept = self._find(key)
        return kept.value if kept else None

    def fresh(self, key: CacheKey) -> Value | None:
        """The last answer, while it may be served in place of a new one."""
        kept = self._find(key)
        return kept.value if kept and self._clock() < kept.fresh_until else None

    def recent(self, key: CacheKey, seconds: float) -> Value | None:
        """The last answer, if it came within these seconds: for the second half of one and the same wish."""
        kept = self._find(key)
        return kept.value if kept and self._clock() < kept.came + seconds else None

    def expire(self, concerned: Callable[[CacheKey], bool]) -> None:
        """A notice says that these have changed: at hand, but not fresh, whatever time was left."""
        for key, kept in self._kept.items():
            if concerned(key):
                kept.fresh_until = float("-inf")

    def drop(self, concerned: Callable[[CacheKey], bool]) -> None:
        """Forget these."""
        for key in [key for key in self._kept if concerned(key)]:
            del self._kept[key]

    def _find(self, key: CacheKey) -> _Kept[Value] | None:
        for each in (key, replace(key, context=PUBLIC)):
            if each in self._kept:
                self._kept.move_to_end(each)
                return self._kept[each]
        return None

    def _make_room(self, newest: CacheKey) -> None:
        total = sum(kept.size for kept in self._kept.values())
        for key in list(self._kept):
            if total <= self._limit:
                break
            if key != newest and not self._held(key):
                total -= self._kept.pop(key).size

"""One ``subscribe`` for both eras: what is wanted, counted; must not know how a server is told.

The two ways of telling it are ``subscribing`` and ``listening``. Nobody waits for either: what is wanted is
noted at once, and the server is brought to agree with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable

import anyio

from mcp_lectern.mcp.session import Patience
from mcp_lectern.mcp.wire.jsonrpc import Notification
from mcp_lectern.mcp.wire.lifecycle import Capabilities

from .era_watch import WatchedSession
from .observer import Observer


class Subscriptions(ABC):
    """Each ``subscribe`` needs its ``unsubscribe``; the server hears of the first and of the last alone.

    A refusal is quiet, and stands until nobody wants that URI any more: the resource is then read on demand.
    ``trouble`` is a sentence that says why no changes are heard at all, where the server had promised them.
    """

    trouble: str | None = None

    def __init__(
        self,
        session: WatchedSession,
        capabilities: Capabilities,
        patience: Patience,
        observer: Observer,
        log: Callable[[str], None],
    ) -> None:
        self._session = session
        self._offered = capabilities.subscribe
        self._list_changes = capabilities.list_changed
        self._patience = patience
        self._observer = observer
        self._log = log
        self._counts: Counter[str] = Counter()
        self._refused: set[str] = set()
        self._behind: set[str] = set()
        self._stirred = anyio.Event()

    def subscribe(self, uri: str, *, missed: bool = False) -> None:
        """Somebody wants to be told of changes to this resource; ``missed``: of earlier ones, too."""
        self._counts[uri] += 1
        if missed:
            self._behind.add(uri)
        if self._counts[uri] == 1:
            self._stirred.set()

    def unsubscribe(self, uri: str) -> None:
        """They want it no more. Without an earlier ``subscribe`` nothing happens."""
        if uri not in self._counts:
            return
        self._counts[uri] -= 1
        if not self._counts[uri]:
            del self._counts[uri]
            self._refused.discard(uri)
            self._behind.discard(uri)
            self._stirred.set()

    @property
    def _wanted(self) -> frozenset[str]:
        """What the server is to be asked for."""
        return frozenset(self._counts.keys() - self._refused) if self._offered else frozenset()

    @property
    def handlers(self) -> dict[str, Callable[[Notification], None]]:
        """What is to be heard, by method; the notices of changes themselves are not among it."""
        return {}

    @property
    @abstractmethod
    def granted(self) -> frozenset[str]:
        """The URIs that the server says it watches."""

    @abstractmethod
    def start(self) -> None:
        """To be called before anything is listed, so that no change falls between."""

    @abstractmethod
    def renew(self) -> None:
        """The server has forgotten everything (a new session): ask again, and count on changes missed."""

    @abstractmethod
    async def run(self) -> None:
        """Keep the server in agreement with what is wanted, until cancelled or the session ends."""

    def _tell_missed(self, granted: Iterable[str]) -> None:
        """What changed while nobody listened cannot be known: each of these may have."""
        for uri in sorted(self._behind.intersection(granted)):
            self._behind.discard(uri)
            self._observer.resource_updated(uri)

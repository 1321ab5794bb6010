"""One renewal at a time of what several sessions share; must not know what is renewed.

A refresh token often counts once only: of two sessions that send the same one, the second is refused, and
some authorization servers take that for a theft and end both (OAuth 2.1, 4.3.1).
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from filelock import BaseFileLock

PATIENCE = 20.0
"""Seconds to wait for another's turn to end; after that one goes on without."""

PACE = 0.05
"""Seconds between two looks at a lock that another process holds."""


class Turns(Protocol):
    """Who may renew, one after the other for each key."""

    def of(self, key: str) -> AbstractAsyncContextManager[None]:
        """A turn; never raises, and is had after a while in any case."""


class InProcess:
    """Turns among the sessions of this process that share this object."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, key: str) -> AsyncIterator[None]:
        """A turn."""
        lock = self._locks.get(key) or anyio.Lock()
        self._locks[key] = lock
        async with lock:
            yield


class AmongProcesses:
    """Turns among all processes of a user, by locks on files of a private folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @asynccontextmanager
    async def of(self, key: str) -> AsyncIterator[None]:
        """A turn; without one where the folder cannot be written."""
        from filelock import FileLock

        name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        # Another thread may end the turn than began it.
        lock = FileLock(self._folder / f"{name}.lock", blocking=False, mode=0o600, thread_local=False)
        try:
            with anyio.move_on_after(PATIENCE):
                # No system tells when a lock is given back.
                while not await anyio.to_thread.run_sync(self._is_decided, lock):  # noqa: ASYNC110
                    await anyio.sleep(PACE)
            yield
        finally:
            lock.release(force=True)

    def _is_decided(self, lock: BaseFileLock) -> bool:
        """Whether the lock is had, or cannot be had whatever others do."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock.acquire()
        except TimeoutError:
            return False
        except OSError:
            return True
        return True

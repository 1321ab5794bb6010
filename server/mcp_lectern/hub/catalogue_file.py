"""The file that remembers catalogues, and the key beside it; must not know what is in them, nor any server.

SQLite in a private folder of this user's cache. Every function blocks on the disk: call it in a thread. Each
opens the file for one short transaction, so that several editors share it; a file that is broken, or that
another version wrote, is made anew. They raise OSError or sqlite3.Error where the disk does not let them.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import stat
import time
import zlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TypeVar

from mcp_lectern.documents.files import private_folder

DAYS = 30
"""So long is a catalogue kept that no walk has confirmed."""
_DAY = 86_400.0
_SECONDS = DAYS * _DAY
_PATIENCE = 5.0
"""Seconds that a write waits for another process."""
_IMPATIENCE = 0.05
"""Seconds that anything else does: somebody may wait for what is read."""
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_BROKEN = frozenset(
    {
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_SCHEMA,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_FORMAT,
        sqlite3.SQLITE_NOTADB,
    }
)
"""What nothing of ours comes to in a file of ours; a full disk, a lock, a missing right are none of it."""
_KEY_BYTES = 32
_PAGE_BYTES = 1 << 16
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_LISTING = "key BLOB PRIMARY KEY, entry BLOB NOT NULL, server BLOB NOT NULL, saved REAL NOT NULL"
_PART = (
    "key BLOB NOT NULL, number INTEGER NOT NULL, checksum INTEGER NOT NULL, data BLOB NOT NULL, "
    "PRIMARY KEY (key, number)"
)
_USED = (
    "workspace BLOB NOT NULL, entry BLOB NOT NULL, server BLOB NOT NULL, seen REAL NOT NULL, "
    "PRIMARY KEY (workspace, entry)"
)
_STATEMENTS = (
    f"CREATE TABLE listing ({_LISTING})",
    f"CREATE TABLE part ({_PART})",
    f"CREATE TABLE used ({_USED})",
    "CREATE TRIGGER gone AFTER DELETE ON listing BEGIN DELETE FROM part WHERE key = old.key; END",
)
"""As SQLite keeps them, so that they can be compared."""

Parts = tuple[bytes, ...]
T = TypeVar("T")


class CatalogueFile:
    """``layout`` says what the parts are: those of any other layout are forgotten."""

    def __init__(self, folder: Path, layout: str) -> None:
        self.folder = folder
        self.path = folder / "catalogue.sqlite3"
        self.key_path = folder / "key"
        self._layout = zlib.crc32(layout.encode()) >> 1 or 1

    def key(self) -> bytes:
        """The secret of this installation, made when it is first needed."""
        private_folder(self.folder)
        for _ in range(2):
            with contextlib.suppress(FileNotFoundError):
                key = self.key_path.read_bytes()
                if len(key) == _KEY_BYTES:
                    return key
                self.key_path.unlink()
            self._make_key()
        return self.key_path.read_bytes()

    def keys(self, entry: bytes) -> list[bytes]:
        """What is remembered of an entry: one key for each authorization."""

        def work(file: sqlite3.Connection) -> list[bytes]:
            found = file.execute("SELECT key FROM listing WHERE entry = ? AND saved > ?", (entry, _limit()))
            return [key for (key,) in found]

        return self._done(work)

    def load(self, key: bytes) -> Parts | None:
        """The parts as they were stored; None where there are none, or where they are damaged."""

        def work(file: sqlite3.Connection) -> list[tuple[int, bytes]] | None:
            known = file.execute("SELECT 1 FROM listing WHERE key = ? AND saved > ?", (key, _limit()))
            if known.fetchone() is None:
                return None
            return file.execute(
                "SELECT checksum, data FROM part WHERE key = ? ORDER BY number", (key,)
            ).fetchall()

        parts = self._done(work)
        if parts is None:
            return None
        if all(isinstance(data, bytes) and zlib.crc32(data) == checksum for checksum, data in parts):
            return tuple(data for _, data in parts)
        self._discard()
        return None

    def store(self, key: bytes, entry: bytes, server: str, parts: Parts) -> None:
        """Remember these parts in place of earlier ones."""

        def work(file: sqlite3.Connection) -> None:
            file.execute("DELETE FROM listing WHERE key = ? OR saved <= ?", (key, _limit()))
            row = (key, entry, _bytes(server), time.time())
            file.execute("INSERT INTO listing VALUES (?, ?, ?, ?)", row)
            rows = [(key, number, zlib.crc32(data), data) for number, data in enumerate(parts)]
            file.executemany("INSERT INTO part VALUES (?, ?, ?, ?)", rows)

        self._done(work, write=True)

    def forget(self, *, server: str | None = None, entry: bytes | None = None) -> None:
        """Forget all that is remembered of servers of this name, or of this entry; and what is too old."""
        if not self.path.exists():
            return
        gone = (None if server is None else _bytes(server), entry, _limit())

        def work(file: sqlite3.Connection) -> None:
            file.execute("DELETE FROM listing WHERE server = ? OR entry = ? OR saved <= ?", gone)

        self._done(work, write=True)

    def settle(self, workspace: bytes, used: Mapping[bytes, str], unknown: Collection[str]) -> list[str]:
        """Note which entries a workspace uses, and forget what none does any more, and what is too old.

        ``unknown`` are servers of which it cannot be told. Returns the servers that no workspace uses under
        the entry that this one had.
        """

        def work(file: sqlite3.Connection) -> list[str]:
            file.execute("DELETE FROM listing WHERE saved <= ? OR saved > ?", (_limit(), time.time() + _DAY))
            file.execute("DELETE FROM used WHERE seen <= ?", (_limit(),))
            before = file.execute("SELECT entry, server FROM used WHERE workspace = ?", (workspace,))
            kept = {_bytes(server) for server in unknown}
            gone = [row for row in before.fetchall() if row[0] not in used and row[1] not in kept]
            for entry, _ in gone:
                file.execute("DELETE FROM used WHERE workspace = ? AND entry = ?", (workspace, entry))
                file.execute(
                    "DELETE FROM listing WHERE entry = ? AND entry NOT IN (SELECT entry FROM used)", (entry,)
                )
            rows = [(workspace, entry, _bytes(server), time.time()) for entry, server in used.items()]
            file.executemany("INSERT OR REPLACE INTO used VALUES (?, ?, ?, ?)", rows)
            others = {
                server
                for (server,) in file.execute("SELECT server FROM used WHERE workspace <> ?", (workspace,))
            }
            return [_name(server) for _, server in gone if server not in others]

        return self._done(work, write=True, patience=_IMPATIENCE) if self.path.exists() or used else []

    def remove(self) -> None:
        """Forget everything, the key too."""
        self._discard()
        self.key_path.unlink(missing_ok=True)

    def _discard(self) -> None:
        for path in (self.path, self.path.with_name(f"{self.path.name}-journal")):
            path.unlink(missing_ok=True)

    def _make_key(self) -> None:
        fresh = self.folder / secrets.token_hex(8)
        descriptor = os.open(fresh, _FLAGS, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
            # Another process may make one at the same time: the first one stays.
            with contextlib.suppress(FileExistsError):
                os.link(fresh, self.key_path)
        finally:
            fresh.unlink()

    def _done(
        self, work: Callable[[sqlite3.Connection], T], *, write: bool = False, patience: float | None = None
    ) -> T:
        """Do this in a transaction on a file of ours, which is made anew where this one is none."""
        seconds = patience if patience is not None else _PATIENCE if write else _IMPATIENCE
        try:
            return self._tried(work, write=write, patience=seconds)
        except sqlite3.Error as error:
            if _code(error) not in _BROKEN:
                raise
            self._discard()
        return self._tried(work, write=write, patience=seconds)

    def _tried(self, work: Callable[[sqlite3.Connection], T], *, write: bool, patience: float) -> T:
        private_folder(self.folder)
        _private_file(self.path)
        connection = sqlite3.connect(self.path, timeout=patience, isolation_level=None)
        with contextlib.closing(connection):
            # Of a new file only: the parts are long, and come faster in few pages.
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            # What is forgotten is overwritten, not only unlinked.
            connection.execute("PRAGMA secure_delete = ON")
            if not self._is_ours(connection):
                self._make_anew(connection)
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            done = work(connection)
            # Closing without it rolls back.
            connection.execute("COMMIT")
            return done

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """Whether the file has this layout, and nobody has changed its tables or its trigger."""
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        known = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        return version == self._layout and {sql for (sql,) in known} == set(_STATEMENTS)

    def _make_anew(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        if not self._is_ours(connection):
            known = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (name,) in known:
                quoted = str(name).replace('"', '""')
                connection.execute(f'DROP TABLE "{quoted}"')
            for statement in _STATEMENTS:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {self._layout:d}")
        connection.execute("COMMIT")


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process uses the file just now."""
    return _code(error) in _BUSY


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; -1 where the error is none of SQLite's."""
    code = getattr(error, "sqlite_errorcode", None)
    return -1 if code is None else int(code) & 0xFF


def _limit() -> float:
    return time.time() - _SECONDS


def _bytes(server: str) -> bytes:
    return server.encode("utf-8", "surrogatepass")


def _name(server: bytes) -> str:
    return server.decode("utf-8", "surrogatepass")


def _private_file(path: Path) -> None:
    """A file for its owner alone, before anything is in it; a link in its place is removed."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, _FLAGS, 0o600))
        return
    if not stat.S_ISREG(status.st_mode):
        path.unlink()
        os.close(os.open(path, _FLAGS, 0o600))
    elif os.name == "posix" and stat.S_IMODE(status.st_mode) != 0o600:
        path.chmod(0o600)

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
from collections.abc import Iterator
from pathlib import Path

DAYS = 30
"""So long is a catalogue kept that no walk has confirmed."""
_SECONDS = DAYS * 86_400.0
_PATIENCE = 5.0
"""Seconds to wait for another process."""
_KEY_BYTES = 32
_PAGE_BYTES = 1 << 16
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_SCHEMA = """
CREATE TABLE listing (key BLOB PRIMARY KEY, entry BLOB NOT NULL, server BLOB NOT NULL, saved REAL NOT NULL);
CREATE TABLE part (key BLOB NOT NULL, number INTEGER NOT NULL, checksum INTEGER NOT NULL, data BLOB NOT NULL,
                   PRIMARY KEY (key, number));
CREATE TRIGGER gone AFTER DELETE ON listing BEGIN DELETE FROM part WHERE key = old.key; END;
"""

Parts = tuple[bytes, ...]


class CatalogueFile:
    """``layout`` says what the parts are: those of any other layout are forgotten."""

    def __init__(self, folder: Path, layout: str) -> None:
        self.folder = folder
        self.path = folder / "catalogue.sqlite3"
        self.key_path = folder / "key"
        self._layout = zlib.crc32(layout.encode()) >> 1 or 1

    def key(self) -> bytes:
        """The secret of this installation, made when it is first needed."""
        _private_folder(self.folder)
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
        with self._opened() as file:
            found = file.execute("SELECT key FROM listing WHERE entry = ? AND saved > ?", (entry, _limit()))
            return [key for (key,) in found]

    def load(self, key: bytes) -> Parts | None:
        """The parts as they were stored; None where there are none, or where they are damaged."""
        with self._opened() as file:
            known = file.execute("SELECT 1 FROM listing WHERE key = ? AND saved > ?", (key, _limit()))
            if known.fetchone() is None:
                return None
            rows = file.execute("SELECT checksum, data FROM part WHERE key = ? ORDER BY number", (key,))
            parts = [(checksum, data) for checksum, data in rows]
        if all(isinstance(data, bytes) and zlib.crc32(data) == checksum for checksum, data in parts):
            return tuple(data for _, data in parts)
        self._discard()
        return None

    def store(self, key: bytes, entry: bytes, server: str, parts: Parts) -> None:
        """Remember these parts in place of earlier ones."""
        with self._opened(write=True) as file:
            file.execute("DELETE FROM listing WHERE key = ? OR saved <= ?", (key, _limit()))
            row = (key, entry, _bytes(server), time.time())
            file.execute("INSERT INTO listing VALUES (?, ?, ?, ?)", row)
            rows = [(key, number, zlib.crc32(data), data) for number, data in enumerate(parts)]
            file.executemany("INSERT INTO part VALUES (?, ?, ?, ?)", rows)

    def forget(self, *, server: str | None = None, entry: bytes | None = None) -> None:
        """Forget all that is remembered of servers of this name, or of this entry; and what is too old."""
        if not self.path.exists():
            return
        name = None if server is None else _bytes(server)
        with self._opened(write=True) as file:
            file.execute(
                "DELETE FROM listing WHERE server = ? OR entry = ? OR saved <= ?", (name, entry, _limit())
            )

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

    @contextlib.contextmanager
    def _opened(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction on a file of ours, which is made anew where this one is none."""
        try:
            connection = self._connection()
        except sqlite3.DatabaseError as error:
            if not _is_broken(error):
                raise
            self._discard()
            connection = self._connection()
        try:
            with contextlib.closing(connection):
                connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                yield connection
                # Closing without it rolls back.
                connection.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            if _is_broken(error):
                self._discard()
            raise

    def _connection(self) -> sqlite3.Connection:
        _private_folder(self.folder)
        _private_file(self.path)
        connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        try:
            # Of a new file only: the parts are long, and come faster in few pages.
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            # What is forgotten is overwritten, not only unlinked.
            connection.execute("PRAGMA secure_delete = ON")
            if self._version(connection) != self._layout:
                self._make_anew(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _version(self, connection: sqlite3.Connection) -> int:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        return int(version)

    def _make_anew(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        if self._version(connection) != self._layout:
            known = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (name,) in known:
                quoted = str(name).replace('"', '""')
                connection.execute(f'DROP TABLE "{quoted}"')
            for statement in _SCHEMA.strip().split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {self._layout:d}")
        connection.execute("COMMIT")


def _is_broken(error: sqlite3.DatabaseError) -> bool:
    """Whether the file is no good; one that is merely locked, or a full disk, is an OperationalError."""
    return not isinstance(error, sqlite3.OperationalError)


def _limit() -> float:
    return time.time() - _SECONDS


def _bytes(server: str) -> bytes:
    return server.encode("utf-8", "surrogatepass")


def _private_folder(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{path} is no folder: remove it, then try again")
    if os.name == "posix" and stat.S_IMODE(status.st_mode) != 0o700:
        path.chmod(0o700)


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

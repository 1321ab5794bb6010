"""Binary content as private read-only files in a folder of ours; must not know servers beyond their names.

Every function blocks on the disk: call it in a thread. The folder is given (a part of the platform's cache
folder); inside it lie ``<digest of the server>/<digest of resource and content>/<name>``, so equal content is
one file and different content never overwrites it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from mcp_lectern.documents.address import Key, file_name
from mcp_lectern.documents.media import Kind, file_extension

_DIGEST = re.compile(r"[0-9a-f]{32}")
_FLAGS = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_DAY = 86_400.0


def materialize(folder: Path, key: Key, data: bytes, mime_type: str | None, kind: Kind = "binary") -> Path:
    """A 0400 file with exactly ``data``; its time is renewed where it is there already.

    Raises OSError where it cannot be written, and where a link stands in the place of one of our folders.
    """
    place = folder / _server_digest(key.server) / _digest(key, data)
    for each in (folder, place.parent, place):
        private_folder(each)
    target = place / file_name(key.uri, key.item, file_extension(mime_type, kind))
    if _holds(target, data):
        os.utime(target, follow_symlinks=os.utime not in os.supports_follow_symlinks)
    else:
        _write(target, data)
    return target


def evict(
    folder: Path, *, max_bytes: int, max_days: float, now: float | None = None, keep: Path | None = None
) -> None:
    """Remove what is older than ``max_days``, then the oldest until at most ``max_bytes`` are left.

    ``now`` is in seconds since the epoch; ``keep`` is a file that is in use and stays.
    """
    moment = time.time() if now is None else now
    files = sorted(_files(folder), key=lambda found: found[1].st_mtime)
    total = sum(status.st_size for _, status in files)
    for path, status in files:
        too_old = moment - status.st_mtime > max_days * _DAY
        if path != keep and (too_old or total > max_bytes):
            _remove(path)
            total -= status.st_size


def purge(folder: Path, server: str | None = None) -> None:
    """Remove the files of one server, or all."""
    only = None if server is None else _server_digest(server)
    for path, _ in list(_files(folder)):
        if only is None or path.parent.parent.name == only:
            _remove(path)


def _digest(key: Key, data: bytes) -> str:
    head = repr((key.server, key.uri, key.item)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(hashlib.sha256(head).digest() + hashlib.sha256(data).digest()).hexdigest()[:32]


def _server_digest(server: str) -> str:
    return hashlib.sha256(server.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def private_folder(path: Path) -> None:
    """A folder for its owner alone, made where there is none. Raises OSError, also where a link is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{path} is no folder: remove it, then try again")
    if os.name == "posix" and stat.S_IMODE(status.st_mode) != 0o700:
        path.chmod(0o700)


def _holds(path: Path, data: bytes) -> bool:
    """Whether the file is ours, untouched and private."""
    try:
        status = path.lstat()
        return (
            stat.S_ISREG(status.st_mode)
            and status.st_nlink == 1
            and status.st_size == len(data)
            and (os.name != "posix" or stat.S_IMODE(status.st_mode) == 0o400)
            and path.read_bytes() == data
        )
    except OSError:
        return False


def _write(target: Path, data: bytes) -> None:
    """Write a new file beside ``target`` and move it there: nobody sees half of it, no link is followed."""
    fresh = target.with_name(f"{secrets.token_hex(8)}.part")
    descriptor = os.open(fresh, _FLAGS, 0o400)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        if os.name != "posix" and target.exists():
            target.chmod(stat.S_IWRITE)  # Windows replaces no read-only file
        fresh.replace(target)
    except BaseException:
        _unlink(fresh)
        raise


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Our files below ``folder``, found without following a link."""
    for server in _folders(folder):
        for place in _folders(server):
            for entry in _entries(place):
                if not entry.is_dir(follow_symlinks=False):
                    with contextlib.suppress(OSError):
                        yield Path(entry.path), entry.stat(follow_symlinks=False)


def _folders(folder: Path) -> Iterator[Path]:
    for entry in _entries(folder):
        if _DIGEST.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
            yield Path(entry.path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _remove(path: Path) -> None:
    """Remove a file and the folders that it leaves empty."""
    _unlink(path)
    for folder in (path.parent, path.parent.parent):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _unlink(path: Path) -> None:
    with contextlib.suppress(OSError):
        if os.name != "posix":
            path.chmod(stat.S_IWRITE)
        path.unlink()

"""Reading small files that somebody else may have laid; must not know what they hold."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

LARGEST = 1024 * 1024
"""Bytes of a configuration or environment file; the longest seen has a hundredth of that."""


class UnreadableFileError(Exception):
    """``str()`` continues a sentence about the file, as in "is a folder, not a file"."""


class MissingFileError(UnreadableFileError):
    """Nothing is there."""


def is_file(path: Path) -> bool:
    """Whether a regular file is there, False for what no file system takes as a path."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether a folder is there, False for what no file system takes as a path."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def read_file(path: Path, largest: int = LARGEST) -> bytes:
    """The bytes of a regular file. Raises `UnreadableFileError`, `MissingFileError`.

    Opened without blocking and looked at before it is read: a pipe or a device laid in place of a
    file must neither hang the caller nor flood it.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError("does not exist") from None
    except (OSError, ValueError) as error:
        if is_folder(path):
            raise UnreadableFileError("is a folder, not a file") from None
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableFileError(f"cannot be opened ({reason})") from None
    try:
        return _read_regular(descriptor, largest)
    finally:
        os.close(descriptor)


def read_typed(path: Path) -> bytes:
    """The bytes of a file that a person named on the command line, maybe a pipe. Raises as `read_file`.

    A shell's ``<(…)`` can be read only once, so what it held is kept for as long as the process lives.
    Whoever names a pipe into which nobody writes waits, as for any other program. No other file may be one.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):
        return read_file(path)
    if not stat.S_ISFIFO(status.st_mode):
        return read_file(path)
    pipe = (status.st_dev, status.st_ino)
    with _READING_PIPES:
        held = _PIPES[pipe] if pipe in _PIPES else _PIPES.setdefault(pipe, _read_pipe(path))
    if isinstance(held, UnreadableFileError):
        raise held
    return held


_PIPES: dict[tuple[int, int], bytes | UnreadableFileError] = {}
_READING_PIPES = threading.Lock()


def _read_pipe(path: Path) -> bytes | UnreadableFileError:
    try:
        with path.open("rb", buffering=0) as file:
            return _read_all(file.fileno(), LARGEST)
    except UnreadableFileError as error:
        return error
    except OSError as error:
        return UnreadableFileError(f"cannot be opened ({error.strerror})")


def _read_regular(descriptor: int, largest: int) -> bytes:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise UnreadableFileError("is a folder, not a file")
    if not stat.S_ISREG(mode):
        raise UnreadableFileError("is not a regular file")
    return _read_all(descriptor, largest)


def _read_all(descriptor: int, largest: int) -> bytes:
    chunks: list[bytes] = []
    length = 0
    try:
        while chunk := os.read(descriptor, min(largest + 1 - length, 1 << 18)):
            chunks.append(chunk)
            length += len(chunk)
            if length > largest:
                raise UnreadableFileError(f"is larger than {largest} bytes")
    except OSError as error:
        raise UnreadableFileError(f"cannot be read ({error.strerror})") from None
    return b"".join(chunks)


def inside(path: Path, folder: Path) -> bool:
    """Whether a file lies in a folder, by the names written or where they really lead."""
    if path.is_relative_to(folder):
        return True
    try:
        real, real_folder = path.resolve(), folder.resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    return real.is_relative_to(real_folder) or any(_same(parent, real_folder) for parent in real.parents)


def leads_out(path: Path, folder: Path) -> bool:
    """Whether a path that is written inside a folder really ends somewhere else."""
    try:
        return not path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        return True


def _same(one: Path, other: Path) -> bool:
    """File systems that ignore case give one folder many names; its identity stays."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False

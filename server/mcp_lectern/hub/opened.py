"""Which resources a person opened in a workspace, kept across restarts; must not know what is in them.

A tab that an editor restores may be read again without asking: somebody opened it here by a command. The file
holds names and URIs only, for its owner alone, and only so many of the latest.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

_MOST = 500
_LARGEST = 4 * 1024 * 1024
"""Bytes; a larger file is not ours."""

Key = tuple[str, str]
"""A server's name and a URI, byte for byte."""


class Opened:
    """``path`` is None where nothing is to be remembered beyond this process."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._keys: dict[Key, None] = dict.fromkeys(_load(path) if path else ())

    def latest(self, count: int) -> list[Key]:
        """The last ones that were opened, the very last one first."""
        return list(reversed(list(self._keys)[-count:]))

    def __contains__(self, key: Key) -> bool:
        return key in self._keys

    def add(self, key: Key) -> None:
        """Remember a resource as the latest. A file that cannot be written is no reason to fail a read."""
        self._keys.pop(key, None)
        self._keys[key] = None
        for old in list(self._keys)[:-_MOST]:
            del self._keys[old]
        if self._path is not None:
            with contextlib.suppress(OSError):
                _store(self._path, list(self._keys))

    def forget(self, server: str) -> None:
        """The server is not trusted any more."""
        for key in [key for key in self._keys if key[0] == server]:
            del self._keys[key]
        if self._path is not None:
            with contextlib.suppress(OSError):
                _store(self._path, list(self._keys))


def place(folders: Sequence[Path]) -> Path:
    """The file of a workspace."""
    from platformdirs import user_cache_path

    name = hashlib.sha256("\0".join(sorted(map(str, folders))).encode("utf-8", "surrogatepass")).hexdigest()
    return user_cache_path("mcp-lectern", appauthor=False) / "opened" / f"{name[:32]}.json"


def _load(path: Path) -> list[Key]:
    try:
        if path.stat().st_size > _LARGEST:
            return []
        pairs = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    if not isinstance(pairs, list):
        return []
    return [(pair[0], pair[1]) for pair in pairs if _is_key(pair)]


def _is_key(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)


def _store(path: Path, keys: list[Key]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp creates the file for its owner alone, and a rename keeps that.
    descriptor, fresh = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            json.dump(keys, file)
        Path(fresh).replace(path)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise

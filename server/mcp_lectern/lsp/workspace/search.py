"""The texts below the workspace's folders, within bounds and until told to stop; knows no mentions.

It blocks, so it needs a thread. No link is followed, and nothing outside the folders is read but a
repository's ignore files.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from mcp_lectern.lsp.workspace.ignoring import ALWAYS, Ignoring, of_folder

_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one search looks at. ``entries`` are files and folders seen, ``files`` those that are read."""

    entries: int = 200_000
    files: int = 10_000
    file_bytes: int = 2 * _MEBIBYTE
    all_bytes: int = 256 * _MEBIBYTE
    seconds: float = 20.0


class Search:
    """One search. ``seen`` and ``read`` count; ``cut`` is a sentence that says why it ended early."""

    def __init__(
        self, folders: Collection[Path], wanted: Callable[[str], bool], bounds: Bounds | None = None
    ) -> None:
        self._folders = folders
        self._wanted = wanted
        self._bounds = bounds or Bounds()
        self._stopped = threading.Event()
        self.seen = self.read = self.bytes = 0
        self.cut: str | None = None

    def stop(self) -> None:
        """End it soon; may be called from any thread."""
        self._stopped.set()

    def texts(self) -> Iterator[tuple[Path, str]]:
        """Each file whose name is wanted, with its text; what is no UTF-8 is left out."""
        deadline = monotonic() + self._bounds.seconds
        for path in self._files():
            if self._stopped.is_set() or self.cut is not None:
                return
            if monotonic() > deadline:
                self.cut = f"The search ended after {self._bounds.seconds:g} s."
                return
            text = self._text(path)
            if text is not None:
                yield path, text

    def _files(self) -> Iterator[Path]:
        done: set[Path] = set()
        pending = [(folder, of_folder(folder)) for folder in sorted(self._folders, reverse=True)]
        while pending and not self._stopped.is_set() and self.cut is None:
            folder, ignoring = pending.pop()
            if folder in done:
                continue
            done.add(folder)
            below = []
            for entry in _entries(folder):
                self.seen += 1
                if self.seen > self._bounds.entries:
                    self.cut = f"The search ended after {self._bounds.entries} files and folders."
                    return
                path = Path(entry.path)
                if entry.is_symlink():
                    continue
                if entry.is_dir():
                    if entry.name not in ALWAYS and not ignoring.ignores(path, is_folder=True):
                        below.append(path)
                elif self._wanted(entry.name) and not ignoring.ignores(path, is_folder=False):
                    yield path
            pending += [(path, Ignoring(path, ignoring)) for path in reversed(below)]

    def _text(self, path: Path) -> str | None:
        bounds = self._bounds
        try:
            size = path.stat().st_size
            if size > bounds.file_bytes:
                return None
            if self.read >= bounds.files or self.bytes + size > bounds.all_bytes:
                self.cut = f"The search ended after {self.read} files."
                return None
            self.read, self.bytes = self.read + 1, self.bytes + size
            with path.open("rb") as file:
                data = file.read(bounds.file_bytes + 1)
            return None if b"\0" in data else data.decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            return None


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry for entry in entries if _plain(entry)), key=lambda entry: entry.name)
    except OSError:
        return []


def _plain(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file or a folder: opening a pipe would never end."""
    try:
        return entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
    except OSError:
        return False

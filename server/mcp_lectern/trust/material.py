"""What an entry's words lead to on this machine, as digests; reads files, starts nothing.

An approval of ``python ./server.py`` that did not cover the script would be an approval of anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from mcp_lectern.config.files import LARGEST, MissingFileError, UnreadableFileError, inside, read_file
from mcp_lectern.config.launch import expanded
from mcp_lectern.config.model import Launch, Level, ServerSpec
from mcp_lectern.config.places import Machine, expand_home
from mcp_lectern.trust import words

T = TypeVar("T")
_LARGEST_SCRIPT = 16 * LARGEST
_MOST_WORDS = 500
_MOST_SCRIPTS = 200
_MOST_FOLDERS = 16
_MOST_IN_A_LIBRARY = 1000
"""Caps on what one entry can make us look at. None leaves anything out in silence: see `TooMuchError`."""


class TooMuchError(Exception):
    """An entry leads to more than is looked at; ``str()`` says to how much, as in "more than 200 files"."""


@dataclass(frozen=True, slots=True)
class Material:
    """Digests are SHA-256 in hexadecimal, or a word where there is nothing to digest.

    ``scripts`` are the workspace's own files that the entry's words name, by their path in the folder.
    ``too_much`` says why they are not known: an entry of which something would be left out is not approved.
    """

    command: str | None = None
    env_file: str | None = None
    scripts: Mapping[str, str] = field(default_factory=dict)
    too_much: str | None = None


def gather(
    spec: ServerSpec, launched: Launch | None, *, machine: Machine, workspace_folder: Path | None = None
) -> Material:
    """The material of an entry as it is on disk now. Never raises for what it finds there.

    ``launched`` is what would be started, its inputs as written: what a person gives is theirs. An entry that
    cannot be started has no material: once it can, there is something new to approve.
    """
    if launched is None:
        return Material()
    env_file = None
    if spec.env_file:
        written = expanded(spec.env_file, spec, machine=machine, workspace_folder=workspace_folder).text
        env_file = _digest(launched.cwd / expand_home(written, machine.home))
    own = spec.origin.folder
    if spec.origin.level is not Level.WORKSPACE or own is None:
        return Material(launched.command, env_file)
    try:
        proposals = [text for wanted in spec.inputs for text in wanted.proposals()]
        return Material(launched.command, env_file, _Search(machine, launched, own, proposals).run())
    except TooMuchError as much:
        return Material(launched.command, env_file, too_much=str(much))


class _Search:
    """Through one entry's words, for the files of the folder ``own`` that they could mean.

    ``proposals`` are the words that it would have a person choose.
    """

    def __init__(self, machine: Machine, launched: Launch, own: Path, proposals: Iterable[str]) -> None:
        self._proposals = proposals
        self._machine = machine
        self._launched = launched
        self._own = own
        self._found: dict[str, str] = {}
        self._looked: set[Path] = set()

    def run(self) -> dict[str, str]:
        """Digests by path. Raises TooMuchError."""
        launched = self._launched
        # What a process merely inherits is the user's.
        own = {name: value for name, value in launched.own.items() if value is not None}
        texts = [launched.command, *launched.args, *own.values(), *self._proposals]
        pieces = words.pieces(texts, windows=self._machine.windows)
        found = _at_most(pieces, _MOST_WORDS, "words")
        for folder in self._folders(found):
            for word in found:
                for name in (*words.manifests(word), *words.meanings(word)):
                    self._look(folder / expand_home(name, self._machine.home))
        self._libraries(own)
        return self._found

    def _folders(self, found: Iterable[str]) -> list[Path]:
        named = (self._launched.cwd / expand_home(word, self._machine.home) for word in found)
        within = (folder for folder in named if _is_folder(folder) and inside(folder, self._own))
        return _at_most([self._launched.cwd, *within], _MOST_FOLDERS, "folders")

    def _look(self, path: Path) -> None:
        if path in self._looked:
            return
        self._looked.add(path)
        if _is_file(path) and inside(path, self._own):
            self._keep(self._name(path), _digest(path, _LARGEST_SCRIPT))

    def _keep(self, name: str, digest: str) -> None:
        self._found[name] = digest
        if len(self._found) > _MOST_SCRIPTS:
            raise TooMuchError(f"more than {_MOST_SCRIPTS} files")

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._own)) if path.is_relative_to(self._own) else str(path)

    def _libraries(self, own: Mapping[str, str]) -> None:
        """Folders out of which interpreters load by themselves: what a ``sitecustomize.py`` says is run."""
        for name, value in own.items():
            if name.upper() not in words.LIBRARIES:
                continue
            for word in words.pieces([value], windows=self._machine.windows):
                folder = self._launched.cwd / expand_home(word, self._machine.home)
                if _is_folder(folder) and inside(folder, self._own):
                    self._keep(f"{self._name(folder)}/", _library(folder))


def _library(folder: Path) -> str:
    """One digest of what can be loaded from a folder by name: code files, and the first ones of packages."""
    try:
        code = (path for path in folder.iterdir() if words.is_code(path.name))
        members = _at_most(code, _MOST_IN_A_LIBRARY, f"files in {folder.name}")
    except OSError:
        return "unreadable"
    whole = hashlib.sha256()
    for path in sorted(members):
        for file in [path, *(path / name for name in words.IN_A_FOLDER)] if _is_folder(path) else [path]:
            state = "folder" if _is_folder(file) else _digest(file, _LARGEST_SCRIPT)
            whole.update(f"{file.relative_to(folder)}\0{state}\0".encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def _at_most(found: Iterable[T], most: int, what: str) -> list[T]:
    """Each once, in their order. Raises TooMuchError."""
    kept: dict[T, None] = {}
    for each in found:
        kept[each] = None
        if len(kept) > most:
            raise TooMuchError(f"more than {most} {what}")
    return list(kept)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _digest(path: Path, largest: int = LARGEST) -> str:
    try:
        return hashlib.sha256(read_file(path, largest)).hexdigest()
    except MissingFileError:
        return "missing"
    except UnreadableFileError:
        return _stamp(path)


def _stamp(path: Path) -> str:
    """What stands for a file that is too large to read: enough to notice a change."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return "unreadable"
    return f"unread, {status.st_size} bytes, {status.st_mtime_ns}"

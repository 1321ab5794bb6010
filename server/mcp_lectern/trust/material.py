"""What an entry's words lead to on this machine, as digests; reads files, starts nothing.

An approval of ``python ./server.py`` that did not cover the script would be an approval of anything.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mcp_lectern.config.files import LARGEST, MissingFileError, UnreadableFileError, inside, read_file
from mcp_lectern.config.launch import expanded
from mcp_lectern.config.model import Launch, Level, ServerSpec
from mcp_lectern.config.places import Machine, expand_home

_LARGEST_SCRIPT = 16 * LARGEST
_MOST_WORDS = 200
_MOST_SCRIPTS = 50
_MOST_FOLDERS = 4
_SPLIT = re.compile(r"""[\s"'`=,;|&<>()]+""")
_SUFFIXES = ("", ".py", ".js", ".mjs", ".cjs", ".ts", ".sh")
_IN_A_FOLDER = ("__main__.py", "__init__.py", "package.json", "index.js", "pyproject.toml")
_MANIFESTS: Mapping[str, tuple[str, ...]] = {
    "npm": ("package.json",),
    "npx": ("package.json",),
    "pnpm": ("package.json",),
    "yarn": ("package.json",),
    "bun": ("package.json",),
    "deno": ("deno.json", "deno.jsonc"),
    "make": ("Makefile", "GNUmakefile", "makefile"),
    "just": ("justfile",),
    "uv": ("pyproject.toml", "uv.lock"),
    "poetry": ("pyproject.toml",),
    "cargo": ("Cargo.toml",),
}
"""Runners, and the file of the working folder that tells them what to run."""


@dataclass(frozen=True, slots=True)
class Material:
    """Digests are SHA-256 in hexadecimal, or a word where there is nothing to digest.

    ``scripts`` are the workspace's own files that the entry's words name, by their path in the folder.
    """

    command: str | None = None
    env_file: str | None = None
    scripts: Mapping[str, str] = field(default_factory=dict)


def gather(
    spec: ServerSpec, launched: Launch | None, *, machine: Machine, workspace_folder: Path | None = None
) -> Material:
    """The material of an entry as it is on disk now. Never raises for what it finds there.

    ``launched`` is what would be started. An entry that cannot be started has no material: once it can, there
    is something new to approve.
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
    return Material(launched.command, env_file, _scripts(_candidates(launched, machine, own), own))


def _candidates(launched: Launch, machine: Machine, own: Path) -> Iterator[Path]:
    """Every file that one of the words could mean: itself, a module's name, or in a folder that one names."""
    words = list(itertools.islice(_pieces([launched.command, *launched.args]), _MOST_WORDS))
    folders = [launched.cwd]
    for word in words:
        folder = launched.cwd / expand_home(word, machine.home)
        if (
            len(folders) < _MOST_FOLDERS
            and folder not in folders
            and _is_folder(folder)
            and inside(folder, own)
        ):
            folders.append(folder)
    for folder in folders:
        for name in _MANIFESTS.get(Path(launched.command).stem.lower(), ()):
            yield folder / name
        for word in words:
            yield from _meanings(word, folder, machine)


def _meanings(word: str, folder: Path, machine: Machine) -> Iterator[Path]:
    for spelling in (word, word.replace(".", "/")) if _is_module(word) else (word,):
        path = folder / expand_home(spelling, machine.home)
        for suffix in _SUFFIXES if path.name else ():
            yield path.with_name(path.name + suffix)
        for inner in _IN_A_FOLDER:
            yield path / inner


def _pieces(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        pieces = [word, *_SPLIT.split(word)]
        pieces += [re.sub(r"^-[A-Za-z]", "", piece) for piece in pieces if piece.startswith("-")]
        yield from dict.fromkeys(
            piece for piece in pieces if piece and len(piece) < 4096 and "\0" not in piece
        )


def _is_module(word: str) -> bool:
    return "." in word and all(part.isidentifier() for part in word.split("."))


def _scripts(candidates: Iterable[Path], own: Path) -> dict[str, str]:
    """Digests of those candidates that are files of the folder."""
    digests: dict[str, str] = {}
    for path in candidates:
        if len(digests) >= _MOST_SCRIPTS:
            break
        if _is_file(path) and inside(path, own):
            name = str(path.relative_to(own)) if path.is_relative_to(own) else str(path)
            if name not in digests:
                digests[name] = _digest(path, _LARGEST_SCRIPT)
    return digests


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

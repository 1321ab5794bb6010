"""Finds the program of a command; must not start it, and never finds one in the working folder by itself."""

from __future__ import annotations

import ntpath
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

_WINDOWS: bool = os.name == "nt"
UNSAFE_IN_BATCH = frozenset('&|<>^%!"\r\n')


def find_executable(command: str, env: Mapping[str, str], cwd: Path) -> Path | None:
    """The program that ``command`` names; None where there is none.

    A bare name is searched in the absolute folders of ``env``'s PATH only: an empty or relative element of
    PATH means the working folder, and that may be anybody's. A command with a separator starts at ``cwd``.
    """
    has_separator = "/" in command or (_WINDOWS and ("\\" in command or ":" in command))
    if has_separator:
        return next((path for path in _spellings(cwd / command, env) if _runs(path)), None)
    for folder in search_path(env).split(os.pathsep):
        if not _is_absolute(folder):
            continue
        for path in _spellings(Path(folder) / command, env):
            if _runs(path):
                return path
    return None


def search_path(env: Mapping[str, str]) -> str:
    """The PATH of an environment; Windows spells the variable as it likes."""
    if _WINDOWS:
        return next((value for key, value in env.items() if key.upper() == "PATH"), "")
    return env.get("PATH", os.defpath)


def unsafe_batch_argument(program: Path, args: tuple[str, ...]) -> str | None:
    """An argument that a Windows batch file would let the shell interpret; None where all are safe."""
    if program.suffix.lower() not in (".cmd", ".bat"):
        return None
    return next((arg for arg in args if UNSAFE_IN_BATCH.intersection(arg)), None)


def _spellings(path: Path, env: Mapping[str, str]) -> Iterator[Path]:
    if not _WINDOWS:
        yield path
        return
    extensions = env.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").split(";")
    if any(path.suffix.upper() == extension.upper() for extension in extensions):
        yield path
    for extension in extensions:
        yield path.with_name(path.name + extension.lower())


def _runs(path: Path) -> bool:
    try:
        return path.is_file() and os.access(path, os.X_OK)
    except (OSError, ValueError):
        # No file system takes this as a path.
        return False


def _is_absolute(folder: str) -> bool:
    return ntpath.isabs(folder) if _WINDOWS else folder.startswith("/")

"""Finding the program that a command names; must not know what it is started for.

A bare name is searched on PATH alone. A folder that somebody cloned gets no say: neither the working folder
nor an entry of PATH that depends on it (empty, ``.``, relative) is looked at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from mcp_lectern.config.files import is_file

DEFAULT_EXTENSIONS = ".COM;.EXE;.BAT;.CMD"
_FOR_A_SHELL = frozenset('&|<>^%!"()\r\n')
"""What the Windows command interpreter reads in the arguments of a batch file, in or out of quotes."""


@dataclass(frozen=True, slots=True)
class Search:
    """How programs are found. ``extensions`` is Windows' PATHEXT, None elsewhere."""

    path: str
    extensions: str | None = None
    runnable: Callable[[str], bool] = lambda file: is_file(Path(file)) and os.access(file, os.X_OK)

    def find(self, name: str) -> str | None:
        """The full path of a bare name, None where PATH has none."""
        windows = self.extensions is not None
        for folder in self.folders():
            base = str((PureWindowsPath if windows else PurePosixPath)(folder) / name)
            for file in self._spellings(base):
                if self.runnable(file):
                    return file
        return None

    def complete(self, file: str) -> str | None:
        """The path itself, or with the extension that Windows adds; None where nothing runnable is there."""
        return next((spelling for spelling in self._spellings(file) if self.runnable(spelling)), None)

    def folders(self) -> list[str]:
        """The entries of PATH that mean the same wherever a program is started from."""
        if self.extensions is None:
            return [folder for folder in self.path.split(":") if PurePosixPath(folder).is_absolute()]
        stripped = (folder.strip().strip('"') for folder in self.path.split(";"))
        return [folder for folder in stripped if PureWindowsPath(folder).is_absolute()]

    def _spellings(self, file: str) -> Iterable[str]:
        if self.extensions is None:
            return (file,)
        extensions = [extension for extension in self.extensions.split(";") if extension.startswith(".")]
        if file.lower().endswith(tuple(extension.lower() for extension in extensions)):
            return (file,)
        return [file + extension.lower() for extension in extensions]


def is_bare(command: str, *, windows: bool) -> bool:
    """Whether a command is a name to search for rather than a path."""
    if windows:
        return not any(character in command for character in "/\\:")
    return "/" not in command


def for_a_shell(command: str, arguments: Iterable[str]) -> tuple[int, str] | None:
    """The first argument, with its number from 1, that a Windows batch file must not be given.

    Windows hands a batch file's arguments to its command interpreter, and no quoting is safe from it.
    """
    if not command.lower().endswith((".cmd", ".bat")):
        return None
    for number, argument in enumerate(arguments, 1):
        if _FOR_A_SHELL & set(argument):
            return number, argument
    return None

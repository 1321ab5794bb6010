"""Which files a folder wants to be left alone: its ignore files, as git reads them; reads nothing else.

Those of the folders above it count up to the root of their repository.

The rules come with a folder that somebody else may have written: each is bounded, and a broken one is none.
"""

from __future__ import annotations

import re
from pathlib import Path

from pathspec import GitIgnoreSpec

FILES = (".git/info/exclude", ".gitignore", ".ignore")
ALWAYS = frozenset({".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", "venv", ".tox"})
"""Folders in which nobody wrote anything by hand."""

_LARGEST = 256 * 1024
_MOST_RULES = 2000
_MOST_STARS = 3
"""In one part of a path. The time that a match takes grows with the length of a name to this power."""
_LONGEST = 500
_HIGHEST = 64
"""Folders above one in which its repository is looked for."""


class Ignoring:
    """The rules for one folder and what is below it; ``outer`` holds those of the folders above."""

    def __init__(self, folder: Path, outer: Ignoring | None = None) -> None:
        self._folder = folder
        self._outer = outer
        self._rules = [rules for name in FILES if (rules := _read(folder / name)) is not None]

    def ignores(self, path: Path, *, is_folder: bool) -> bool:
        """Whether the path, somewhere below the folder, is to be left alone; the innermost rule decides."""
        shown = path.relative_to(self._folder).as_posix() + ("/" if is_folder else "")
        for rules in reversed(self._rules):
            verdict = rules.check_file(shown).include
            if verdict is not None:
                return verdict
        return self._outer is not None and self._outer.ignores(path, is_folder=is_folder)


def of_folder(folder: Path) -> Ignoring:
    """The rules for a folder that somebody opened; those of its repository count if it is part of one."""
    above: list[Path] = []
    place = folder
    while not (place / ".git").exists():
        if place == place.parent or len(above) >= _HIGHEST:
            return Ignoring(folder)
        place = place.parent
        above.append(place)
    outer: Ignoring | None = None
    for each in reversed(above):
        outer = Ignoring(each, outer)
    # Whoever opens a folder that is to be left alone wants to see it all the same.
    return Ignoring(folder, None if outer and outer.ignores(folder, is_folder=True) else outer)


def _read(path: Path) -> GitIgnoreSpec | None:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[:_MOST_RULES]
    except OSError:
        return None
    return GitIgnoreSpec.from_lines([line for line in lines if _usable(line)])


def _usable(line: str) -> bool:
    parts = line.replace("**", "\0").split("/")
    if len(line) > _LONGEST or line.count("**") > _MOST_STARS:
        return False
    if any(part.count("*") + part.count("\0") > _MOST_STARS for part in parts):
        return False
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True

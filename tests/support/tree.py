"""The project's own files, as the tidy tests look at them; must not know any rule."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "server" / "mcp_lectern"


@cache
def files() -> tuple[Path, ...]:
    """Every file that is tracked, or would be if it were added."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return tuple(sorted(path for path in {ROOT / name for name in listed if name} if path.is_file()))


def under(*folders: str, suffix: str = ".py") -> list[Path]:
    """The project's files of this suffix in these folders, which are relative to the root."""
    roots = [ROOT / folder for folder in folders]
    return [
        path for path in files() if path.suffix == suffix and any(path.is_relative_to(root) for root in roots)
    ]


def shown(path: Path) -> str:
    """The path as a test's name shows it."""
    return path.relative_to(ROOT).as_posix()


def syntax(path: Path) -> ast.Module:
    """The parsed module."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))

"""The words of an entry's texts that could name files, and the paths they could mean; touches no disk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

IN_A_FOLDER = (
    "__main__.py",
    "__init__.py",
    "package.json",
    "index.js",
    "index.ts",
    "index.mjs",
    "index.cjs",
    "pyproject.toml",
)
"""What is run where a folder is named."""
LIBRARIES = frozenset(
    {
        "PATH",
        "PYTHONPATH",
        "PYTHONHOME",
        "NODE_PATH",
        "CLASSPATH",
        "RUBYLIB",
        "GEM_PATH",
        "PERLLIB",
        "PERL5LIB",
        "LUA_PATH",
        "JULIA_LOAD_PATH",
        "LD_LIBRARY_PATH",
        "DYLD_LIBRARY_PATH",
        "DYLD_FALLBACK_LIBRARY_PATH",
    }
)
"""Variables whose folders interpreters load code from without being told its name."""

_LONGEST = 4096
_SUFFIXES = ("", ".py", ".js", ".mjs", ".cjs", ".ts", ".sh")
_SPLIT = re.compile(r"""[\s"'`=,;:|&<>()]+""")
_HERE = re.compile(
    r"""["']?(?:\$\(pwd\)|`pwd`|\$\{?\w+\}?|%\w+%)["']?[/\\]|file://""", re.ASCII | re.IGNORECASE
)
"""What stands before a path in a shell's words, and leads to a folder that is looked in anyway."""
_PREFIX = re.compile(r"^(-[A-Za-z]|@|/+)")
_NOT_CODE = frozenset({".md", ".txt", ".rst", ".log", ".lock", ".png", ".jpg", ".svg", ".csv", ".html"})
_COMPOSE = tuple(
    f"{name}{middle}.{suffix}"
    for name in ("compose", "docker-compose")
    for middle in ("", ".override")
    for suffix in ("yaml", "yml")
)
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
    "bundle": ("Gemfile", "Gemfile.lock"),
    "rake": ("Rakefile",),
    "docker": ("Dockerfile", *_COMPOSE),
    "docker-compose": _COMPOSE,
    "podman": ("Dockerfile", "Containerfile", *_COMPOSE),
    "podman-compose": _COMPOSE,
}
"""Runners, and the files of the working folder that tell them what to run."""


def pieces(texts: Iterable[str], *, windows: bool) -> Iterator[str]:
    """Every word that could name a file, as written and without what a shell or a program takes off it.

    On Windows none that leads to another host: looking at it would tell that host who is looking.
    """
    for text in texts:
        bare = _HERE.sub(" ", text)
        found = [text, *_SPLIT.split(text), *_SPLIT.split(bare)]
        # What remains of "$(dirname $0)/x" begins with a slash, and is none of the root.
        found += [_PREFIX.sub("", piece) for piece in found if piece.startswith(("-", "@", "/"))]
        for piece in dict.fromkeys(found):
            abroad = windows and piece.startswith(("\\\\", "//"))
            if piece and not abroad and len(piece) < _LONGEST and "\0" not in piece:
                yield piece


def manifests(word: str) -> tuple[str, ...]:
    """The files that tell this program what to run, if it is a runner."""
    return _MANIFESTS.get(PurePath(word).stem.lower(), ())


def meanings(word: str) -> Iterator[str]:
    """The paths that a word could mean: itself, a module's name, or what is run in a folder."""
    for spelling in (word, word.replace(".", "/")) if _is_module(word) else (word,):
        if PurePath(spelling).name:
            yield from (f"{PurePath(spelling)}{suffix}" for suffix in _SUFFIXES)
        yield from (f"{spelling}/{inner}" for inner in IN_A_FOLDER)


def is_code(name: str) -> bool:
    """Whether a member of a library folder could be loaded; caches that interpreters write are not."""
    return (
        name != "__pycache__" and not name.startswith(".") and PurePath(name).suffix.lower() not in _NOT_CODE
    )


def _is_module(word: str) -> bool:
    return "." in word and all(part.isidentifier() for part in word.split("."))

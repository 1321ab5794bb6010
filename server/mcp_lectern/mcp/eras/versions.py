"""The protocol revisions that Lectern speaks. They are sets: a date says nothing about an era."""

from __future__ import annotations

from collections.abc import Iterable

HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
STATELESS_VERSIONS = ("2026-07-28",)
SPOKEN_VERSIONS = STATELESS_VERSIONS + HANDSHAKE_VERSIONS
OLDEST_VERSION = "2024-11-05"


def preferred(ours: Iterable[str], theirs: Iterable[str]) -> str | None:
    """The first of our versions that the server names, too."""
    named = frozenset(theirs)
    return next((version for version in ours if version in named), None)

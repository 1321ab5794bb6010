"""Reads ``queries.txt``: what people type after the at-sign."""

from __future__ import annotations

from pathlib import Path

FILE = Path(__file__).with_name("queries.txt")


def queries() -> list[str]:
    """One query a line; an empty line is the empty query, ``#`` starts a comment."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def typed(query: str) -> str:
    """The line that somebody types for a query; one with a space is typed in quotes."""
    return f'See @"{query}' if " " in query else f"See @{query}"

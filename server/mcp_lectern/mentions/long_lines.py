"""What stands for a very long line when its block structure is read; must not know what follows from it.

What a line opens or goes on with is decided by its first columns. Of the rest counts only whether all of it
is blank or marks, and whether a back tick is in it, so that no expression has to look at a megabyte.
"""

from __future__ import annotations

import re

HEAD = 2_048
"""Code points at the beginning of a line that are kept: containers nest by far less deeply."""
_BLOCK = 65_536

_MARKS = "`~*_= -"
_FIRST_RUN = re.compile("|".join(re.escape(mark) + "++" for mark in _MARKS))
_ORDINARY = re.compile(f"[^{_MARKS}]")
_ENOUGH = 3
"""Marks of one kind that count as many."""


def end_of_line(text: str, start: int) -> int:
    """Where the line end begins that comes next; an expression would take many times as long."""
    while start < len(text):
        found = [at for mark in "\r\n" if (at := text.find(mark, start, start + _BLOCK)) >= 0]
        if found:
            return min(found)
        start += _BLOCK
    return len(text)


def shortened(text: str, start: int, end: int) -> str:
    """What reads like the line ``text[start:end]``; it is short unless most of that are marks of a fence."""
    behind = min(start + HEAD, end)
    return text[start:behind] + _shortened(text[behind:end].replace("\t", " "))


def _shortened(rest: str) -> str:
    """As little as leaves every answer as it was. A run of marks at the beginning may belong to a fence."""
    first = _FIRST_RUN.match(rest)
    run = first[0] if first else ""
    kept = run if run[:1] in ("`", "~") else run[:_ENOUGH]
    behind = len(run)
    if _ORDINARY.search(rest, behind):
        return kept + "x" + ("`" if rest.find("`", behind) >= 0 else "")
    places = sorted((place, mark) for mark in _MARKS if (place := rest.find(mark, behind)) >= 0)
    return kept + "".join(mark * min(_ENOUGH, rest.count(mark, behind)) for _, mark in places)

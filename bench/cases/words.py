"""The phrases in which both clients' outcomes are told, so that equal things read equal; knows no client."""

from __future__ import annotations

from collections.abc import Iterable

SHOWN = 40
TIMES_OUT, LOST = "times out", "error: connection lost"


def shortened(text: str) -> str:
    """A text in quotes, or its length."""
    if len(text) > SHOWN:
        return f"{len(text):,} characters"
    return "an empty text" if not text else f'"{text}"'


def binary(data: bytes) -> str:
    return f"{len(data):,} bytes"


def joined(words: Iterable[str], none: str) -> str:
    return " + ".join(words) or none


def innermost(error: BaseException) -> BaseException:
    """What was raised first, where it came in groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def failure(error: BaseException) -> str:
    """An error by its class and code."""
    code = getattr(error, "code", None)
    number = "" if code is None else f" {str(code)[:20]}"
    return f"error: {type(error).__name__}{number}"

"""Words for messages about odd input: bounded, on one line; must not know what the input is for."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST_QUOTE = 80
"""Characters of foreign text that one message carries."""


def quoted(text: str) -> str:
    """The text in quotation marks, cut to a readable length, with nothing that is not printable."""
    shown = text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1] + "…"
    return "“" + "".join(character if character.isprintable() else "�" for character in shown) + "”"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean “…”?`` where a known word is close, else an empty string."""
    if len(word) > LONGEST_QUOTE:
        return ""
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), n=1, cutoff=0.7)
    return f"; did you mean {quoted(close[0])}?" if close else ""


def kind_of(value: object) -> str:
    """The value in words: a scalar as JSON writes it, anything larger by its kind alone."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value) if value else "an empty string"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    return "a number"

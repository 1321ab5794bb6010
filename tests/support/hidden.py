"""Characters that a person does not see and a program reads; must not know where they are looked for."""

from __future__ import annotations


def _both_ends(*ranges: tuple[str, str]) -> list[str]:
    return [character for pair in ranges for character in dict.fromkeys(pair)]


HIDDEN = _both_ends(
    ("\x00", "\x08"),
    ("\x0e", "\x1f"),
    ("\x7f", "\x84"),
    ("\x86", "\x9f"),
    ("\u00ad", "\u00ad"),
    ("\u034f", "\u061c"),
    ("\u115f", "\u1160"),
    ("\u17b4", "\u17b5"),
    ("\u180b", "\u180c"),
    ("\u180d", "\u180e"),
    ("\u180f", "\u200b"),
    ("\u200e", "\u200f"),
    ("\u202a", "\u202e"),
    ("\u2060", "\u2064"),
    ("\u2066", "\u2069"),
    ("\u206a", "\u206f"),
    ("\u3164", "\uffa0"),
    ("\ufe00", "\ufe0d"),
    ("\ufeff", "\ufff0"),
    ("\ufff9", "\ufffb"),
    ("\U00013430", "\U0001343f"),
    ("\U0001bca0", "\U0001bca3"),
    ("\U0001d159", "\U0001d159"),
    ("\U0001d173", "\U0001d17a"),
    ("\U000e0000", "\U000e0001"),
    ("\U000e0020", "\U000e007f"),
    ("\U000e0100", "\U000e01ef"),
    ("\U000e0fff", "\U000e0fff"),
)
"""The ends of each range that never has a place in a line."""

LINE_ENDS = ["\v", "\f", "\x85", "\u2028", "\u2029"]
"""What ends a line for some program, and for others is not there."""

STRAY = ["\u200c", "\u200d", "\ufe0e", "\ufe0f"]
"""What some scripts and emoji need, and what hides between two letters of ASCII."""


def code_point(character: str) -> str:
    """Its name in a test's title."""
    return f"U+{ord(character):04X}"

"""How texts are made comparable for search: case, accents and word starts; must not know what is searched.

Folded text is UTF-8 in which every byte that is not a letter or digit of ASCII, and below 0x80, ends a word.
"""

from __future__ import annotations

import unicodedata

WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789") | frozenset(range(0x80, 0x100))
_WORDS_APART = bytes(byte if byte in WORD_BYTES else 0x20 for byte in range(0x100))
_LETTERS = str.maketrans(
    {"æ": "ae", "ð": "d", "ø": "o", "þ": "th", "đ": "d", "ħ": "h", "ı": "i", "ł": "l", "œ": "oe", "ŧ": "t"}
)
"""Letters that people type without their stroke, and that Unicode does not take apart."""
FIELD_LIMIT = 2000
"""Characters of a field that are searched; a longer URI is still found by its exact text."""

_LETTER_CASES = bytes(
    0x41 if 0x41 <= byte <= 0x5A else 0x61 if chr(byte).isalnum() and byte < 0x80 else 0x20
    for byte in range(0x100)
)
_HUMP_LIMIT = 32
_HUMPS_LIMIT = 8
"""Word starts inside one run of letters that are remembered per entry: random ids are full of them."""


def fold(text: str) -> str:
    """The text without case, accents and control characters, at most ``FIELD_LIMIT`` characters of it.

    >>> fold("Crème_Brûlée")
    'creme_brulee'
    """
    text = text[:FIELD_LIMIT]
    if text.isascii():
        folded = text.lower()
        return folded if folded.isprintable() else "".join(map(_printable, folded))
    decomposed = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return "".join(_letter(c) for c in decomposed if not unicodedata.combining(c))


def _printable(character: str) -> str:
    return character if character.isprintable() else " "


def _letter(character: str) -> str:
    """Punctuation beyond ASCII becomes a space, so that every remaining byte from 0x80 belongs to a word."""
    if character < "\x80":
        return _printable(character.lower())
    return character if character.isalnum() or character > "\uffff" else " "


def encoded(folded: str) -> bytes:
    """Folded text as bytes; a lone surrogate, which a server may send, survives."""
    return folded.encode("utf-8", "surrogatepass")


def words(folded: bytes) -> list[bytes]:
    """The words of folded text, in order."""
    return folded.translate(_WORDS_APART).split()


def humps(text: str) -> list[bytes]:
    """The folded words that begin inside others: ``getHTMLParser`` has ``htmlparser`` and ``parser``."""
    raw = encoded(text[:FIELD_LIMIT])
    cases = raw.translate(_LETTER_CASES) + b" "
    found: list[bytes] = []
    for turn in (b"aA", b"AAa"):
        position = cases.find(turn)
        while position >= 0 and len(found) < _HUMPS_LIMIT:
            end = min(cases.index(b" ", position), position + _HUMP_LIMIT)
            found.append(raw[position + 1 : end].lower())
            position = cases.find(turn, position + 1)
    return found

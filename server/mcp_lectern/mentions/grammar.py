r"""The letters of the mention grammar, shared by reading and writing; must not know catalogues or editors.

mention = "@" server ":" uri                  bare: the server holds no white space, quote or colon
        | "@" DQUOTE server ":" uri DQUOTE    quoted: \" \\ \n \r \t, and \: for a colon in the name
        | "@" uri                             unqualified
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from sys import maxsize

WHITE_SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""Unicode's White_Space, as the inside of a character class."""

STOP = re.compile(f'[{WHITE_SPACE}"<>`]')
"""Ends a bare mention."""

SOFT = frozenset("<>`")
"""Ends a bare URI, but may stand in a server's name."""

HARD_STOP = re.compile(f'[{WHITE_SPACE}"]')
"""Ends a bare mention with the server's name in it."""

LINE_END = re.compile(r"[\r\n]")
"""Ends everything that is written on a line."""

STARTS = re.compile(r"@(?<![A-Za-z0-9_]@)")
"""Where a mention may begin."""

QUOTED = re.compile(r'"((?:[^"\\\r\n]++|\\[^\r\n])*+)"')
"""What stands behind the ``@`` of a quoted mention. It ends on its line."""

QUOTED_COLON = re.compile(r"(?:[^\\:]++|\\.)*?:", re.DOTALL)
"""The quoted server's name and the colon behind it."""

BREAKS_NAME = re.compile(f'[{WHITE_SPACE}":]')
"""What no bare server name holds."""

NAME_LIMIT = 1024
"""Code points in a bare server name; longer ones are written quoted, so that reading stays linear."""

PUNCTUATION = ".,;:!?'"
_PAIRS = ("()", "[]", "{}", "（）", "［］", "｛｝", "【】", "〔〕", "「」", "『』", "《》", "〈〉")
_OPENERS = frozenset(pair[0] for pair in _PAIRS)
_CLOSERS = {pair[1]: pair[0] for pair in _PAIRS}
PROSE = frozenset(PUNCTUATION) | frozenset(_CLOSERS)
"""What may stand behind a bare mention without belonging to it."""
_MARKUP = frozenset("*_]}|~^'")
_BRACKETS = re.compile("[" + re.escape("".join(_PAIRS)) + "]")

# What follows a scheme's colon must survive the trimming of prose. Behind the one of "@bob:@docs:memo://a"
# stands the mention itself, hence no "@" there.
_PROSE_CLASS = "[" + re.escape("".join(sorted(PROSE))) + "]"
_GOES_ON = f"{_PROSE_CLASS}*+[^@{WHITE_SPACE}]"
_SCHEME = re.compile(f"(?:[A-Za-z][A-Za-z0-9+.-]++:|[0-9][A-Za-z0-9+.-]++://){_GOES_ON}")
_CLAIM = re.compile(f"[A-Za-z]{{2}}(?:[A-Za-z0-9+-]*+:|[A-Za-z0-9+.-]*+://){_GOES_ON}")
_CLAIM_LIMIT = 256
_BALANCED_LIMIT = 16_384
"""Code points of a bare URI in which each bracket looks for its partner; in a longer one they are counted."""
_UNESCAPED = (('\\"', '"'), ("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t"), ("\\:", ":"))
_APART = "\ud800"
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TO_ESCAPE = re.compile(r'["\\\n\r\t]')


def looks_like_uri(text: str, start: int = 0, end: int = maxsize) -> bool:
    r"""Whether ``text[start:end]`` begins with a scheme and goes on; ``C:\x`` and ``types/node`` do not."""
    return _SCHEME.match(text, start, end) is not None


def claims_server(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]``, behind an unknown name's colon, makes that name the name of a server."""
    return _CLAIM.match(text, start, min(end, start + _CLAIM_LIMIT)) is not None


def unescape(text: str) -> str:
    """Undo the escapes of the quoted form; a backslash before anything else stands for itself."""
    if "\\" not in text:
        return text
    # Whole replacements, not one after the other: a text of backslashes alone is read without a pause, too.
    return "\\".join(map(_unescaped, text.split("\\\\"))) if _APART in text else _unescaped_at_once(text)


def _unescaped(text: str) -> str:
    for written, meant in _UNESCAPED:
        text = text.replace(written, meant)
    return text


def _unescaped_at_once(text: str) -> str:
    return _unescaped(text.replace("\\\\", _APART)).replace(_APART, "\\")


def escape(text: str) -> str:
    """The text as the quoted form writes it."""
    return _TO_ESCAPE.sub(lambda match: _ESCAPED[match[0]], text)


def may_be_markup(character: str) -> bool:
    """Whether somebody may have written this right behind a URI without meaning it: ``**@a:memo://b**``.

    It belongs to the URI all the same; the question is what to write instead, where that one is not listed.
    """
    return character in _MARKUP or not (character.isascii() or character.isalnum())


def prose_begins(text: str) -> int:
    """Where the run of prose characters at the end of ``text`` begins."""
    end = len(text)
    while end and text[end - 1] in PROSE:
        end -= 1
    return end


def trimmed(text: str) -> int:
    """The length of ``text`` without its trailing punctuation and its unbalanced closing brackets."""
    if not any(opener in text for opener in _OPENERS):
        return prose_begins(text)
    return _counted(text) if len(text) > _BALANCED_LIMIT else _balanced(text)


def _counted(text: str) -> int:
    """The same where nobody will miss that partners may stand in the wrong order."""
    spare = {closer: text.count(closer) - text.count(opener) for closer, opener in _CLOSERS.items()}
    end = len(text)
    while end and (last := text[end - 1]) in PROSE and spare.get(last, 1) > 0:
        if last in spare:
            spare[last] -= 1
        end -= 1
    return end


def _balanced(text: str) -> int:
    end = len(text)
    unbalanced: set[int] | None = None
    while end:
        last = text[end - 1]
        if last in _CLOSERS:
            if unbalanced is None:
                unbalanced = {index for index, bracket in unbalanced_brackets(text) if bracket in _CLOSERS}
            if end - 1 not in unbalanced:
                break
        elif last not in PUNCTUATION:
            break
        end -= 1
    return end


def unbalanced_brackets(text: str) -> Iterator[tuple[int, str]]:
    """Every bracket without its partner, with its index: closing ones in order, then opening ones."""
    opened: dict[str, list[int]] = {}
    for match in _BRACKETS.finditer(text):
        bracket = match[0]
        if bracket in _OPENERS:
            opened.setdefault(bracket, []).append(match.start())
        elif partners := opened.get(_CLOSERS[bracket]):
            partners.pop()
        else:
            yield match.start(), bracket
    for bracket, indexes in opened.items():
        for index in indexes:
            yield index, bracket

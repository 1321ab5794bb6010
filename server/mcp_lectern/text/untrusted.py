"""Makes text that a server or a document wrote safe to show; must not know where it is shown.

Hidden characters go (text that a person cannot see but a program reads, and text that changes the order in
which the rest is drawn), lengths are capped, and Markdown loses every meaning but that of its letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_LINE_ENDS = re.compile("\r\n?|[\u0085\u2028\u2029\v\f]")
_UNUSUAL_LINE_ENDS = re.compile("[\u0085\u2028\u2029]")
_SPACES = re.compile("[\\s\u2800]+")  # a cell of Braille without a dot is drawn as a space
_SURROGATES = re.compile("[\ud800-\udfff]")
_CONCEALED = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"  # zero width, direction marks, embeddings, isolates
    "\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"  # layout of rare scripts
    "\U000e0000-\U000e0fff"  # tags, more variation selectors
)
_HIDDEN = re.compile(f"[{_CONCEALED}]")
_MAY_HIDE = re.compile(f"[{_CONCEALED}\u0085\u200c\u200d\u2028\u2029\ufe0e\ufe0f]")
# Everything beyond ASCII that is drawn, so no space of any width.
_SOLID = (
    "\u00a1-\u167f\u1681-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u27ff\u2801-\u2fff"
    "\u3001-\ufdff\ufe10-\U000dffff"
)
# Emoji and several scripts need these behind or between two characters; anywhere else they hide something.
_STRAY_JOINERS = re.compile(
    f"(?<![{_SOLID}\ufe0f])[\u200c\u200d]|[\u200c\u200d](?![{_SOLID}])"
    f"|(?<![{_SOLID}0-9#*])[\ufe0e\ufe0f]|(?<=[0-9#*])[\ufe0e\ufe0f](?!\u20e3)"
)
_LINK_MIDDLE = re.compile(r"\](?=\()")

_MARKDOWN = re.compile(
    r"[\\`*_\[\]<>~|&$]"
    r"|(?<=\])\("  # so that not even the characters of a link's middle stand together
    r"|:(?=/)|(?<=[Ww]{3})\.|(?<=\S)@(?=\S)"  # addresses that some renderers make links
    r"|^[#+=:-]",
    re.MULTILINE,
)
_ORDERED = re.compile(r"^(\d{1,9})([.)])", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+|[ \t]+$", re.MULTILINE)
_LANGUAGE = re.compile(r"[^A-Za-z0-9+#._-]")
_BACKTICKS = re.compile("`+")


def visible(text: str) -> str:
    r"""The text without hidden characters; every line end becomes ``\n``, a lone surrogate U+FFFD."""
    text = _HIDDEN.sub("", _LINE_ENDS.sub("\n", text))
    return _STRAY_JOINERS.sub("", _SURROGATES.sub("\ufffd", text))


def spelled_out(text: str, written: Callable[[str], str]) -> str:
    """The text with each hidden character, and each unusual line end, as ``written`` writes it down.

    For text that has to stay what it is, and that people look at all the same.
    """
    if not _MAY_HIDE.search(text):
        return text  # long texts come here, and hardly any has something to spell
    for kind in (_HIDDEN, _UNUSUAL_LINE_ENDS, _STRAY_JOINERS):
        text = kind.sub(lambda match: written(match[0]), text)
    return text


def single_line(text: str, limit: int = 200) -> str:
    """One line for a label or a message of at most ``limit`` code points.

    ``](`` is parted by a space, since some editors make links of it even in plain messages.
    """
    # Nothing behind this can reach the result unless nearly everything before it is hidden.
    line = _SPACES.sub(" ", visible(text[: limit * 8])).strip(" ")
    return _capped(_LINK_MIDDLE.sub("] ", line), limit)


def plain_text(text: str, limit: int = 4000) -> str:
    """Several lines of at most ``limit`` code points, for a message or a plain-text hover; parts ``](``."""
    return _capped(_LINK_MIDDLE.sub("] ", visible(text[: limit * 8])), limit)


def markdown_escape(text: str, limit: int = 4000) -> str:
    """Markdown that shows ``text`` (at most ``limit`` code points of it) and does nothing else.

    No link, image, HTML, heading, list, table or code comes alive. Line breaks stay, indentation goes.
    """
    text = _INDENT.sub("", _capped(visible(text[: limit * 8]), limit))
    return _ORDERED.sub(r"\1\\\2", _MARKDOWN.sub(r"\\\g<0>", text))


def code_span(text: str, limit: int = 200) -> str:
    """``text`` as one line of inline code; it cannot end the span."""
    line = single_line(text, limit) or " "
    marks = "`" * (_longest_run(line) + 1)
    pad = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{marks}{pad}{line}{pad}{marks}"


def code_fence(text: str, language: str = "", limit: int = 4000) -> str:
    """``text`` (at most ``limit`` code points) as a fenced block that it cannot break out of."""
    body = _capped(visible(text[: limit * 8]), limit)
    marks = "`" * max(3, _longest_run(body) + 1)
    return f"{marks}{_LANGUAGE.sub('', language)[:40]}\n{body}\n{marks}"


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)


def _capped(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: max(limit - 1, 0)].rstrip() + "…"

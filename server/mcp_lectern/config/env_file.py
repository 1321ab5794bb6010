"""The text of an ``envFile`` to names and values, as VS Code reads it; must not know where it lies."""

from __future__ import annotations

import re

_LINE = re.compile(r"\s*(?:export\s+)?([\w.-]+)\s*=\s*(.*?)\s*", re.ASCII)
_ESCAPES = {"\\n": "\n", "\\r": "\r", "\\t": "\t", '\\"': '"', "\\\\": "\\"}
_ESCAPE = re.compile(r"\\[nrt\"\\]")


def parse_env_file(text: str) -> dict[str, str]:
    """``NAME=value`` per line. Anything else is passed over; the last of two equal names counts.

    Single quotes keep the value as it is, double quotes know backslashes, and a bare value ends at `` #``.
    Variables in a value are not expanded.
    """
    values: dict[str, str] = {}
    for line in re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff")):
        match = _LINE.fullmatch(line)
        if match:
            values[match[1]] = _value(match[2])
    return values


def _value(written: str) -> str:
    quote = written[:1]
    if quote in ("'", '"'):
        end = _closing(written, quote)
        if end > 0:
            inner = written[1:end]
            return inner if quote == "'" else _ESCAPE.sub(lambda escape: _ESCAPES[escape[0]], inner)
    return re.split(r"\s#", written, maxsplit=1)[0].rstrip()


def _closing(written: str, quote: str) -> int:
    """Where the quote ends, 0 where it does not."""
    at = 1
    while at < len(written):
        if written[at] == "\\" and quote == '"':
            at += 1
        elif written[at] == quote:
            return at
        at += 1
    return 0

"""Secrets out of a line that a person or a log will see; must not know whose line it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from urllib.parse import quote

HIDDEN = "•••"
_SHORTEST = 3
"""Characters; hiding anything shorter would tear ordinary words apart and protect nothing."""
_CLEAR = frozenset({"true", "false", "null", "none", "yes", "off", "localhost", "127.0.0.1"})
_HEADER = re.compile(
    r"""(?ix)
    \b(authorization|proxy-authorization|x-api-key|api-key|cookie|set-cookie)
    (["']?\s{0,4}[:=]\s{0,4}["']?)
    (?:(basic|bearer|digest|token)\s{1,4})?
    [^\s"',;]{1,8192}
    """
)
_SCHEME = re.compile(r"(?i)\b(bearer|basic)\s{1,4}[A-Za-z0-9._~+/=-]{6,8192}")


def masker(secrets: Iterable[str]) -> Callable[[str], str]:
    """A function that hides these values, in every spelling that a log uses, and credentials in headers.

    A short value is hidden only where it stands alone, a long one anywhere.
    """
    spellings = {form for secret in secrets for form in _spellings(secret)}
    ordered = sorted(spellings, key=len, reverse=True)
    pattern = re.compile("|".join(_pattern(form) for form in ordered)) if ordered else None

    def mask(text: str) -> str:
        shown = pattern.sub(HIDDEN, text) if pattern else text
        shown = _HEADER.sub(lambda header: f"{header[1]}{header[2]}{HIDDEN}", shown)
        return _SCHEME.sub(lambda scheme: f"{scheme[1]} {HIDDEN}", shown)

    return mask


def _spellings(secret: str) -> set[str]:
    """As it is, in JSON, in a URL, and line by line: a log's reader sees one line at a time."""
    lines = {secret, *secret.splitlines()}
    forms = lines | {json.dumps(line)[1:-1] for line in lines} | {quote(line, safe="") for line in lines}
    return {form for form in forms if len(form) >= _SHORTEST and form.lower() not in _CLEAR}


def _pattern(form: str) -> str:
    escaped = re.escape(form)
    return escaped if len(form) >= 8 else rf"(?<![0-9A-Za-z]){escaped}(?![0-9A-Za-z])"

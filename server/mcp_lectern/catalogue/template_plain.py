"""The URIs of plain templates that are read at a glance; must not know what the others mean.

Most templates are of the kind ``x://{owner}/{repo}``, and most values need no encoding. Where such a URI
can be read in one way only, a regular expression that never goes back finds it.
"""

from __future__ import annotations

import re
from itertools import pairwise

from mcp_lectern.catalogue.template_expand import RESERVED, Expression

_PLAIN = "[A-Za-z0-9._~-]"
_ANYTHING = f"[A-Za-z0-9._~{re.escape(RESERVED)}-]"
_MOST = 10
"""Parts: it takes a moment to compile what reads more."""


def plain(parts: tuple[str | Expression, ...]) -> re.Pattern[str] | None:
    """What reads plain URIs of these parts, a group for each variable; None where a glance does not do."""
    names = [_name(part, last=number == len(parts)) for number, part in enumerate(parts, 1)]
    variables = [name for name in names if name]
    if None in names or len(parts) > _MOST or len(set(variables)) < len(variables):
        return None
    for part, after in pairwise(parts):
        # A value ends where something follows that it cannot hold.
        if not isinstance(part, str) and (not isinstance(after, str) or re.match(_PLAIN, after)):
            return None
    return re.compile("".join(map(_expression, parts)))


def _name(part: str | Expression, *, last: bool) -> str | None:
    """The name of the only variable, empty for a literal; None for whatever is more than that."""
    if isinstance(part, str):
        return ""
    alone, *others = part.variables
    may = part.operator.sign == "" or (part.operator.sign == "+" and last)
    return alone.name if may and not others and not alone.explode and alone.prefix is None else None


def _expression(part: str | Expression) -> str:
    if isinstance(part, str):
        return re.escape(part)
    return f"({_ANYTHING if part.operator.reserved else _PLAIN}*+)"

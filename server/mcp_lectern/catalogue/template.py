"""URI templates (RFC 6570): parse, expand, and find the arguments in a URI; must not know who lists them.

Literals go out as written: servers disagree on whether those outside ASCII are encoded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from mcp_lectern.catalogue.template_expand import OPERATORS, Expression, Value, Variable, expand
from mcp_lectern.catalogue.template_match import match, patterns_of, respelled
from mcp_lectern.catalogue.template_pattern import Pattern
from mcp_lectern.catalogue.template_reading import Arguments
from mcp_lectern.catalogue.template_values import Work

LONGEST = 8_000
"""Characters of a template; one expression may hold any number of variables."""
MOST_EXPRESSIONS = 100

_NAME = re.compile(r"(?:[\w-]|%[0-9A-Fa-f]{2})+(?:\.(?:[\w-]|%[0-9A-Fa-f]{2})+)*", re.ASCII)
_PREFIX = re.compile(r"[1-9][0-9]{0,3}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Unusable:
    """A template that RFC 6570 does not allow; ``reason`` is a sentence that says where."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Template:
    """A usable template: literal texts and expressions in order.

    ``patterns`` holds the parts as they are written and, where that is something else, with their literals
    percent-encoded: servers disagree on which of the two a template means.
    """

    text: str
    parts: tuple[str | Expression, ...]
    patterns: tuple[Pattern, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "patterns", patterns_of(self.parts))

    @staticmethod
    def parse(text: str) -> Template | Unusable:
        """The template of this text, or why it cannot be one. Remembers the last few thousand."""
        return _parsed(text)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names, each once, in the order in which they are to be asked for."""
        expressions = (part for part in self.parts if isinstance(part, Expression))
        return tuple(dict.fromkeys(v.name for expression in expressions for v in expression.variables))

    @property
    def start(self) -> str:
        """The literal text up to the first variable."""
        return self.parts[0] if self.parts and isinstance(self.parts[0], str) else ""

    def expand(self, arguments: Mapping[str, Value]) -> str:
        """The URI for these arguments; a variable without one is left out, as the RFC says."""
        return "".join(part if isinstance(part, str) else expand(part, arguments) for part in self.parts)

    def match(self, uri: str, work: Work | None = None) -> Arguments | None:
        """Arguments that make this URI or, if there are none, for which a server may mean it.

        Whatever was expanded matches, with arguments that expand to the same URI; only for lists and arrays
        in a variable with a prefix the RFC says nothing. None for other URIs and where the ``work`` did not
        suffice to find out: then it says so.
        """
        return match(self.patterns, uri, work or Work())

    def may_match(self, uri: str) -> bool:
        """Whether a closer look at the URI is worth its while: a quick test, right for most templates."""
        return any(pattern.may_be(uri) for pattern in self.patterns)

    def respelled(self, uri: str) -> str | None:
        """The same URI with its literals in the other spelling, None where there is no other."""
        return respelled(self.patterns, uri, Work())


class _BrokenError(Exception):
    """Carries the reason out of the parser."""


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Template | Unusable:
    if len(text) > LONGEST or text.count("{") > MOST_EXPRESSIONS:
        return Unusable(
            text, f"The template is longer than {LONGEST} characters or {MOST_EXPRESSIONS} parts."
        )
    try:
        return Template(text, tuple(_parts(text)))
    except _BrokenError as broken:
        return Unusable(text, str(broken))


def _parts(text: str) -> list[str | Expression]:
    parts: list[str | Expression] = []
    position = 0
    while position < len(text):
        opening = text.find("{", position)
        literal = text[position:] if opening < 0 else text[position:opening]
        if "}" in literal:
            raise _BrokenError(
                f"A brace closes at character {position + literal.index('}') + 1} that never opened."
            )
        if literal:
            parts.append(literal)
        if opening < 0:
            break
        closing = text.find("}", opening)
        if closing < 0:
            raise _BrokenError(f"The brace at character {opening + 1} never closes.")
        parts.append(_expression(text[opening + 1 : closing]))
        position = closing + 1
    return parts


def _expression(body: str) -> Expression:
    sign = "" if not body or _NAME.match(body) else body[0]
    operator = OPERATORS.get(sign)
    if operator is None:
        raise _BrokenError(f"{sign!r} is no operator in {{{body}}}.")
    return Expression(operator, tuple(_variable(item, body) for item in body[len(sign) :].split(",")))


def _variable(item: str, body: str) -> Variable:
    name, colon, length = item.partition(":")
    explode = not colon and name.endswith("*")
    name = name[:-1] if explode else name
    if not _NAME.fullmatch(name):
        raise _BrokenError(f"{name!r} is no variable name in {{{body}}}.")
    if colon and not _PREFIX.fullmatch(length):
        raise _BrokenError(f"{length!r} is no length from 1 to 9999 in {{{body}}}.")
    return Variable(name, int(length) if colon else None, explode)

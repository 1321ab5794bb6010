"""URI templates (RFC 6570): parse, expand, and find the arguments in a URI; must not know who lists them.

Own code, because what is on offer for Python takes broken templates for good ones (an unclosed brace, a
reserved operator, a prefix of 0) and lets a space through where ``{+x}`` also holds a percent-encoded part.
Literals go out as written: servers disagree on whether those outside ASCII are encoded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from urllib.parse import quote

from mcp_lectern.catalogue.template_match import match, respelled, spellings_of
from mcp_lectern.catalogue.template_reading import Arguments, Parts

Value = str | Sequence[str] | Mapping[str, str]

LONGEST = 8_000
"""Characters of a template; one expression may hold any number of variables."""
MOST_EXPRESSIONS = 100

_NAME = re.compile(r"(?:[\w-]|%[0-9A-Fa-f]{2})+(?:\.(?:[\w-]|%[0-9A-Fa-f]{2})+)*", re.ASCII)
_PREFIX = re.compile(r"[1-9][0-9]{0,3}", re.ASCII)
_TRIPLET = re.compile(r"(%[0-9A-Fa-f]{2})")
_RESERVED = ":/?#[]@!$&'()*+,;="


@dataclass(frozen=True, slots=True)
class Operator:
    """A row of RFC 6570, appendix A: what comes first, what separates, whether values carry their name."""

    sign: str
    first: str
    separator: str
    named: bool = False
    if_empty: str = ""
    reserved: bool = False


_OPERATORS = {
    row.sign: row
    for row in (
        Operator("", "", ","),
        Operator("+", "", ",", reserved=True),
        Operator("#", "#", ",", reserved=True),
        Operator(".", ".", "."),
        Operator("/", "/", "/"),
        Operator(";", ";", ";", named=True),
        Operator("?", "?", "&", named=True, if_empty="="),
        Operator("&", "&", "&", named=True, if_empty="="),
    )
}


@dataclass(frozen=True, slots=True)
class Variable:
    """A name in an expression. ``prefix`` is the length that its value is cut to, ``explode`` the ``*``."""

    name: str
    prefix: int | None = None
    explode: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    """What stands in one pair of braces."""

    operator: Operator
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Unusable:
    """A template that RFC 6570 does not allow; ``reason`` is a sentence that says where."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Template:
    """A usable template: literal texts and expressions in order.

    ``spellings`` holds the parts as they are written and, where that is something else, with their literals
    percent-encoded: servers disagree on which of the two a template means.
    """

    text: str
    parts: tuple[str | Expression, ...]
    spellings: tuple[Parts, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spellings", spellings_of(self.parts))

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
        return "".join(part if isinstance(part, str) else _expand(part, arguments) for part in self.parts)

    def match(self, uri: str) -> Arguments | None:
        """Arguments for which a server may mean this URI, or None. Bounded work."""
        return match(self.spellings, uri, _expand)

    def respelled(self, uri: str) -> str | None:
        """The same URI with its literals in the other spelling, None where there is no other."""
        return respelled(self.spellings, uri, _expand)


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
    operator = _OPERATORS.get(sign)
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


def _expand(expression: Expression, arguments: Mapping[str, Value]) -> str:
    operator = expression.operator
    pieces: list[str] = []
    for variable in expression.variables:
        value = arguments.get(variable.name)
        if isinstance(value, str):
            pieces.append(_named(operator, variable, encode(operator, value[: variable.prefix])))
        elif isinstance(value, Mapping) and variable.explode:
            pieces += [_pair(operator, *map(partial(encode, operator), pair)) for pair in value.items()]
        elif value and variable.explode:
            pieces += [_named(operator, variable, encode(operator, item)) for item in value]
        elif value:
            pieces.append(_named(operator, variable, ",".join(encode(operator, i) for i in _flat(value))))
    return operator.first + operator.separator.join(pieces) if pieces else ""


def _pair(operator: Operator, name: str, encoded: str) -> str:
    return f"{name}={encoded}" if encoded or not operator.named else name + operator.if_empty


def _flat(value: Sequence[str] | Mapping[str, str]) -> Sequence[str]:
    """The members of a list, or names and members of an associative array by turns."""
    return [each for pair in value.items() for each in pair] if isinstance(value, Mapping) else value


def _named(operator: Operator, variable: Variable, encoded: str) -> str:
    return _pair(operator, variable.name, encoded) if operator.named else encoded


def encode(operator: Operator, value: str) -> str:
    """A value as an expression of this operator writes it."""
    if not operator.reserved:
        return quote(value, safe="", errors="surrogatepass")
    pieces = _TRIPLET.split(value)
    pieces[::2] = [quote(piece, safe=_RESERVED, errors="surrogatepass") for piece in pieces[::2]]
    return "".join(pieces)

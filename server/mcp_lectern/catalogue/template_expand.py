"""The expressions of a URI template and what they write (RFC 6570, section 3.2); must not know the way back.

Own code, because what is on offer for Python takes broken templates for good ones (an unclosed brace, a
reserved operator, a prefix of 0) and lets a space through where ``{+x}`` also holds a percent-encoded part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

Value = str | Sequence[str] | Mapping[str, str]

RESERVED = ":/?#[]@!$&'()*+,;="
_TRIPLET = re.compile(r"(%[0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class Operator:
    """A row of RFC 6570, appendix A: what comes first, what separates, whether values carry their name."""

    sign: str
    first: str
    separator: str
    named: bool = False
    if_empty: str = ""
    reserved: bool = False


OPERATORS = {
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


def expand(expression: Expression, arguments: Mapping[str, Value]) -> str:
    """The text of one expression; a variable without a value, or with an empty list, is left out."""
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
    pieces[::2] = [quote(piece, safe=RESERVED, errors="surrogatepass") for piece in pieces[::2]]
    return "".join(pieces)

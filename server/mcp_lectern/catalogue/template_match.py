"""From a URI back to a template's arguments; must not know how a template is written.

A template is a row of literals and expressions. For each part in turn the ends are found that it can reach
from the ends of the part before it: linear in the URI for every part, whatever the template looks like.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from mcp_lectern.catalogue.template import Expression, Variable

Arguments = dict[str, str | list[str] | dict[str, str]]
"""By variable: a value, the members of an exploded list, or those of an exploded associative array."""
Parts = tuple["str | Expression", ...]
Spans = list[tuple["str | Expression", str]]
"""The parts of a template, each with the text of the URI that it stands for."""

Values = list[tuple["Variable", "str | list[str] | dict[str, str]"]]

LONGEST_URI = 8_000

STOPS = {
    "": re.compile(r"[/?#]"),
    "+": re.compile(r"\Z"),
    "#": re.compile(r"\Z"),
    ".": re.compile(r"[/?#]"),
    "/": re.compile(r"[?#]"),
    ";": re.compile(r"[/?#]"),
    "?": re.compile(r"#"),
    "&": re.compile(r"#"),
}
"""What an expression cannot run over. Values that a careful client would have encoded are let through."""


def match(spellings: Sequence[Parts], uri: str) -> Arguments | None:
    """The arguments of the first way to read the URI, earlier values as short as possible; or None."""
    for spelling in spellings:
        spans = _spans(spelling, uri)
        found = None if spans is None else _arguments(spans)
        if found is not None:
            return found
    return None


def respelled(spellings: Sequence[Parts], uri: str) -> str | None:
    """The URI with its literals in the template's other spelling, its values as they are, or None."""
    for spelling, other in zip(spellings, reversed(spellings), strict=True):
        spans = _spans(spelling, uri) if len(spellings) > 1 else None
        if spans is not None and _arguments(spans) is not None:
            pairs = zip(other, spans, strict=True)
            return "".join(part if isinstance(part, str) else text for part, (_, text) in pairs)
    return None


def spellings_of(parts: Parts) -> tuple[Parts, ...]:
    """The parts as they are written and, where that is something else, with encoded literals."""
    encoded = tuple(_encoded(part) if isinstance(part, str) else part for part in parts)
    return (parts,) if encoded == parts else (parts, encoded)


def _encoded(literal: str) -> str:
    return quote(literal, safe="%:/?#[]@!$&'()*+,;=", errors="surrogatepass")


def _spans(parts: Parts, uri: str) -> Spans | None:
    """The way to read the URI in which earlier values are as short as possible, or None."""
    if len(uri) > LONGEST_URI or not parts:
        return None
    first, last = parts[0], parts[-1]
    if (isinstance(first, str) and not uri.startswith(first)) or (
        isinstance(last, str) and not uri.endswith(last)
    ):
        return None
    origins: list[dict[int, int]] = []
    ends: dict[int, int] = {0: 0}
    for part in parts:
        ends = _literal_ends(part, uri, ends) if isinstance(part, str) else _expression_ends(part, uri, ends)
        origins.append(ends)
    return _walked_back(parts, uri, origins) if len(uri) in ends else None


def _literal_ends(literal: str, uri: str, starts: dict[int, int]) -> dict[int, int]:
    return {start + len(literal): start for start in starts if uri.startswith(literal, start)}


def _expression_ends(expression: Expression, uri: str, starts: dict[int, int]) -> dict[int, int]:
    """Every offset where this expression can end, with the earliest start that leads there."""
    first, stops = expression.operator.first, STOPS[expression.operator.sign]
    ends: dict[int, int] = {}
    covered = -1
    stop = -1
    for start in starts:
        if not uri.startswith(first, start):
            ends.setdefault(start, start)
            continue
        inside = start + len(first)
        if stop < inside:
            found = stops.search(uri, inside)
            stop = found.start() if found else len(uri)
        if first:
            ends.setdefault(start, start)
        last = _last_named(expression, uri, inside, stop) if expression.operator.named else stop
        for end in range(max(inside, covered + 1), last + 1):
            ends.setdefault(end, start)
        covered = max(covered, last)
    return dict(sorted(ends.items()))


def _last_named(expression: Expression, uri: str, start: int, stop: int) -> int:
    """Where the items end whose names are the expression's; in front of ``start`` if the first is not."""
    if any(variable.explode for variable in expression.variables):
        return stop  # it may have room for names of any kind
    names = {variable.name for variable in expression.variables}
    separator = expression.operator.separator
    position, last = start, start - 1
    while position <= stop:
        end = uri.find(separator, position, stop)
        end = stop if end < 0 else end
        # Of a name that goes out once a second item cannot be meant, so this ends soon.
        name = next((name for name in names if _names(uri, position, end, name)), None)
        if name is None:
            break
        names.discard(name)
        last, position = end, end + 1
    return last


def _names(uri: str, start: int, end: int, name: str) -> bool:
    return uri.startswith(name, start, end) and uri[start + len(name) : min(start + len(name) + 1, end)] in (
        "",
        "=",
    )


def _walked_back(parts: Parts, uri: str, origins: list[dict[int, int]]) -> Spans:
    spans: Spans = []
    end = len(uri)
    for part, ends in zip(reversed(parts), reversed(origins), strict=True):
        start = ends[end]
        spans.append((part, uri[start:end]))
        end = start
    return spans[::-1]


def _arguments(spans: Spans) -> Arguments | None:
    """The values of all expressions, from the front; None if a name has two values."""
    arguments: Arguments = {}
    cut: dict[str, str] = {}
    for part, text in spans:
        values = [] if isinstance(part, str) else _values(part, text)
        if values is None:
            return None
        for variable, value in values:
            target: Arguments | dict[str, str] = cut if variable.prefix else arguments
            if target.setdefault(variable.name, value) != value:  # type: ignore[arg-type]
                return None
    return _with_cut(arguments, cut)


def _with_cut(arguments: Arguments, cut: dict[str, str]) -> Arguments | None:
    """A value known only by its beginning counts as that beginning, and must begin the whole one."""
    for name, beginning in cut.items():
        if not str(arguments.setdefault(name, beginning)).startswith(beginning):
            return None
    return arguments


def _values(expression: Expression, text: str) -> Values | None:
    operator = expression.operator
    if operator.first and not text:
        return []
    body = text[len(operator.first) :]
    if operator.named:
        return _named_values(expression, body.split(operator.separator))
    variables = expression.variables
    if len(variables) == 1 and not variables[0].explode:
        pieces = [body]
    else:
        many = -1 if variables[-1].explode else len(variables) - 1
        pieces = body.split(operator.separator, many)
    values: Values = []
    for place, (variable, piece) in enumerate(zip(variables, pieces, strict=False)):
        rest = pieces[place:]
        values.append((variable, [decoded(item) for item in rest] if variable.explode else decoded(piece)))
        if variable.explode:
            break
    return values if all(_fits(variable, value) for variable, value in values) else None


def _named_values(expression: Expression, items: list[str]) -> Values | None:
    by_name = {variable.name: variable for variable in expression.variables}
    lists: dict[str, list[str]] = {}
    others: dict[str, str] = {}
    for item in items:
        name, _, value = item.partition("=")
        if name in by_name:
            lists.setdefault(name, []).append(decoded(value))
        else:
            others[decoded(name)] = decoded(value)
    # Names that the template does not know are those of an associative array, if it has room for one.
    room = next((v for v in expression.variables if v.explode and v.name not in lists), None)
    if others and room is None:
        return None
    if any(len(values) > 1 and not by_name[name].explode for name, values in lists.items()):
        return None
    found: Values = [
        (by_name[name], values if by_name[name].explode else values[0]) for name, values in lists.items()
    ]
    found += [(room, others)] if room is not None and others else []
    return found if all(_fits(variable, value) for variable, value in found) else None


def _fits(variable: Variable, value: str | list[str] | dict[str, str]) -> bool:
    return variable.prefix is None or len(value) <= variable.prefix


def decoded(text: str) -> str:
    """The text without percent-encoding, or as it is where that is no UTF-8."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text

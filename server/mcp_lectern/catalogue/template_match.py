"""From a URI back to a template's arguments; must not know how a template is written.

A template is a row of literals and expressions. For each part in turn the ends are found that it can reach
from the ends of the part before it: linear in the URI for every part, whatever the template looks like. Only
what can be reached so is then read, a bounded number of times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from mcp_lectern.catalogue.template_reading import (
    STOPS,
    Arguments,
    Expand,
    Noted,
    Parts,
    Search,
    Spans,
    same,
)

if TYPE_CHECKING:
    from mcp_lectern.catalogue.template import Expression

LONGEST_URI = 8_000


def match(spellings: Sequence[Parts], uri: str, expand: Expand) -> Arguments | None:
    """The arguments of the first way to read the URI, earlier values as short as possible; or None.

    They are arguments of which ``expand`` makes the URI again, but for what is encoded without need.
    """
    found = (arguments for spelling in spellings for _, arguments in _readings(spelling, uri, expand))
    return next(found, None)


def respelled(spellings: Sequence[Parts], uri: str, expand: Expand) -> str | None:
    """The URI with its literals in the template's other spelling, its values as they are, or None."""
    for spelling, other in zip(spellings, reversed(spellings), strict=True):
        reading = next(_readings(spelling, uri, expand), None) if len(spellings) > 1 else None
        if reading is not None:
            pairs = zip(other, reading[0], strict=True)
            return "".join(part if isinstance(part, str) else text for part, (_, text) in pairs)
    return None


def spellings_of(parts: Parts) -> tuple[Parts, ...]:
    """The parts as they are written and, where that is something else, with encoded literals."""
    encoded = tuple(_encoded(part) if isinstance(part, str) else part for part in parts)
    return (parts,) if encoded == parts else (parts, encoded)


def _encoded(literal: str) -> str:
    return quote(literal, safe="%:/?#[]@!$&'()*+,;=", errors="surrogatepass")


def _readings(parts: Parts, uri: str, expand: Expand) -> Iterator[tuple[Spans, Arguments]]:
    """The ways to read the URI, bounded: those in which earlier values are shorter come first."""
    reached = _reached(parts, uri)
    if reached is not None:
        for spans, noted in Search(parts, uri, reached).back(len(parts), len(uri), Noted()):
            known = noted.arguments()
            arguments = {name: known[name] for name in _names(parts) if name in known}
            if all(isinstance(part, str) or same(part, expand(part, arguments), t) for part, t in spans):
                yield spans, arguments


def _names(parts: Parts) -> Iterator[str]:
    expressions = (part for part in parts if not isinstance(part, str))
    return (variable.name for expression in expressions for variable in expression.variables)


def _reached(parts: Parts, uri: str) -> list[list[int]] | None:
    """The offsets that can be reached before each part; None if the end of the URI is not among the last."""
    if len(uri) > LONGEST_URI or not parts:
        return None
    first, last = parts[0], parts[-1]
    if (isinstance(first, str) and not uri.startswith(first)) or (
        isinstance(last, str) and not uri.endswith(last)
    ):
        return None
    reached: list[list[int]] = []
    ends = [0]
    for part in parts:
        reached.append(ends)
        ends = _literal_ends(part, uri, ends) if isinstance(part, str) else _expression_ends(part, uri, ends)
    return reached if ends and ends[-1] == len(uri) else None


def _literal_ends(literal: str, uri: str, starts: list[int]) -> list[int]:
    return [start + len(literal) for start in starts if uri.startswith(literal, start)]


def _expression_ends(expression: Expression, uri: str, starts: list[int]) -> list[int]:
    """Every offset where this expression can end."""
    first, stops = expression.operator.first, STOPS[expression.operator.sign]
    ends: set[int] = set()
    covered = -1
    stop = -1
    for start in starts:
        if first or not uri.startswith(first, start):
            ends.add(start)
        if not uri.startswith(first, start):
            continue
        inside = start + len(first)
        if stop < inside:
            found = stops.search(uri, inside)
            stop = found.start() if found else len(uri)
        last = _last_named(expression, uri, inside, stop) if expression.operator.named else stop
        ends.update(range(max(inside, covered + 1), last + 1))
        covered = max(covered, last)
    return sorted(ends)


def _last_named(expression: Expression, uri: str, start: int, stop: int) -> int:
    """Where the items end whose names are the expression's; in front of ``start`` if the first is not."""
    if any(variable.explode for variable in expression.variables):
        return stop  # it may have room for names of any kind
    names = [variable.name for variable in expression.variables]
    separator = expression.operator.separator
    position, last = start, start - 1
    while position <= stop:
        end = uri.find(separator, position, stop)
        end = stop if end < 0 else end
        # Of a name that goes out once a second item cannot be meant, so this ends soon.
        said = [name for name in names if uri.startswith(name, position, end)]
        whole = next((n for n in said if uri[position + len(n) : end][:1] in ("", "=")), None)
        if whole is None:
            # An empty value may be a name alone, with a literal behind it.
            return max([last, *(position + len(name) for name in said)])
        names.remove(whole)
        last, position = end, end + 1
    return last

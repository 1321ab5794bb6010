"""From a URI back to a template's arguments; must not know how a template is written.

A URI is first read as exactly what a template makes. Where that cannot be, allowances are made: for what is
encoded, or not, without need, and for the order of what is named.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import cycle
from urllib.parse import quote

from mcp_lectern.catalogue.template_pattern import Parts, Pattern, Span
from mcp_lectern.catalogue.template_reading import Arguments, Bindings, Reading, Search, arguments_of
from mcp_lectern.catalogue.template_values import Work

_FEW = 2
"""Ways to read the same text that are gone into before all are, where a variable is named several times."""


def match(patterns: Sequence[Pattern], uri: str, work: Work) -> Arguments | None:
    """The arguments of the first way to read the URI, earlier values as short as possible; or None."""
    for pattern in patterns:
        plain = pattern.plain if pattern.may_be(uri) else None
        if plain is not None and (found := plain.fullmatch(uri)):
            return dict(zip(pattern.names, found.groups(), strict=True))
    reading = next(filter(None, _readings(patterns, uri, work)), None)
    return None if reading is None else arguments_of(reading.bindings)


def respelled(patterns: Sequence[Pattern], uri: str, work: Work) -> str | None:
    """The URI with its literals in the template's other spelling, its values as they are, or None."""
    if len(patterns) < 2:
        return None
    found = zip(cycle(reversed(patterns)), _readings(patterns, uri, work), strict=False)
    for other, reading in found:
        if reading is not None:
            pairs = zip(other.parts, reading.texts, strict=True)
            return "".join(part if isinstance(part, str) else text for part, text in pairs)
    return None


def understood(parts: Parts, uri: str, work: Work) -> Bindings | None:
    """What a URI that these parts make says of their variables; None if it is none or ``work`` is short."""
    if not parts:
        return None if uri else {}
    reading = next(filter(None, _readings((Pattern(parts),), uri, work)), None)
    return reading and reading.bindings


def patterns_of(parts: Parts) -> tuple[Pattern, ...]:
    """The parts as they are written and, where that is something else, with encoded literals."""
    encoded = tuple(_encoded(part) if isinstance(part, str) else part for part in parts)
    return (Pattern(parts),) if encoded == parts else (Pattern(parts), Pattern(encoded))


def _encoded(literal: str) -> str:
    return quote(literal, safe="%:/?#[]@!$&'()*+,;=", errors="surrogatepass")


def _readings(patterns: Sequence[Pattern], uri: str, work: Work) -> Iterator[Reading | None]:
    """The first reading by each pattern that is exact, then the first by each that need not be."""
    likely = [(each, each.reached(uri, work) if each.may_be(uri) else None) for each in patterns]
    work.left_out = False
    yield from _read(likely, uri, _FEW, work)
    if work.left_out:
        work.left_out = False
        yield from _read(likely, uri, sys.maxsize, work)
        work.cut_short = work.cut_short or work.left_out
    yield from _read(likely, uri, None, work)


def _read(
    likely: Sequence[tuple[Pattern, list[list[Span]] | None]], uri: str, most: int | None, work: Work
) -> Iterator[Reading | None]:
    for pattern, reached in likely:
        search = Search(pattern, uri, reached, most=most, work=work) if reached else None
        yield search.first() if search else None

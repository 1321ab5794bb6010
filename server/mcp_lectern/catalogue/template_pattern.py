"""The parts of a template and how far each may reach in a URI; must not know what the parts say there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from mcp_lectern.catalogue.template_expand import Expression, Operator
from mcp_lectern.catalogue.template_plain import plain
from mcp_lectern.catalogue.template_values import Work

Parts = tuple[str | Expression, ...]
Span = tuple[int, int]
"""The first and the last of a row of offsets."""

_STOPS = {"": "/?#", "+": "", "#": "", ".": "/?#", "/": "?#", ";": "/?#", "?": "#", "&": "#"}
"""What an expression cannot run over. Values that a careful client would have encoded are let through."""
_LOOKS = 4
"""What an offset that may be reached is worth, in characters that are looked at."""


class Pattern:
    """The parts of a template, with what follows from them for every URI."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._start = _literal(parts[:1])
        self._end = _literal(parts[-1:])
        self._literals = tuple(part for part in parts if isinstance(part, str))
        expressions = (part for part in parts if not isinstance(part, str))
        names = [variable.name for expression in expressions for variable in expression.variables]
        self.names = tuple(dict.fromkeys(names))
        self._repeated = {name for name, times in Counter(names).items() if times > 1}
        none: tuple[str, ...] = ()
        self.earlier = tuple(accumulate(parts, self._with_names_of, initial=none))
        """For each number of parts the names in them that occur several times."""
        self._places: dict[str, list[tuple[int, Expression]]] = {name: [] for name in self._repeated}
        for number, part in enumerate(parts):
            for alone in () if isinstance(part, str) else _each_alone(part):
                if alone.variables[0].name in self._repeated:
                    self._places[alone.variables[0].name].append((number, alone))

    @cached_property
    def plain(self) -> re.Pattern[str] | None:
        """What reads the URIs of this pattern in which nothing is encoded, a group for each name."""
        return plain(self.parts)

    def may_be(self, uri: str) -> bool:
        """Whether all literals stand in the URI, in order: a quick test, which few of others pass."""
        if not (uri.startswith(self._start) and uri.endswith(self._end)):
            return False
        position = 0
        for literal in self._literals:
            found = uri.find(literal, position)
            if found < 0:
                return False
            position = found + len(literal)
        return True

    def _with_names_of(self, names: tuple[str, ...], part: str | Expression) -> tuple[str, ...]:
        if isinstance(part, str) or not self._repeated:
            return names
        own = (variable.name for variable in part.variables if self.is_repeated(variable.name))
        return tuple(dict.fromkeys((*names, *own)))

    def is_repeated(self, name: str) -> bool:
        """Whether the variable stands in more than one place."""
        return name in self._repeated

    def places(self, name: str) -> Sequence[tuple[int, Expression]]:
        """Where a repeated variable stands: the numbers of the parts, and it alone as it stands there."""
        return self._places[name]

    def reached(self, uri: str, work: Work) -> list[list[Span]] | None:
        """The offsets that can be reached before each part; None if none leads to the end of the URI."""
        parts = self.parts
        if not parts or not work.goes_on(_LOOKS * len(uri)):
            return None
        reached = [[(0, 0)]]
        for part in parts:
            if isinstance(part, str):
                ends = _behind_literal(part, uri, reached[-1])
            else:
                ends = _behind_expression(part, uri, reached[-1])
            found = sorted(ends)
            if not found or not work.goes_on(_LOOKS * len(found)):
                return None
            reached.append(list(_united(found)))
        return reached if reached[-1][-1][1] == len(uri) else None


def _literal(part: Parts) -> str:
    return "".join(each for each in part if isinstance(each, str))


def _each_alone(expression: Expression) -> list[Expression]:
    return [Expression(expression.operator, (variable,)) for variable in expression.variables]


def _behind_literal(literal: str, uri: str, before: Iterable[Span]) -> Iterator[Span]:
    for first, last in before:
        start = uri.find(literal, first, last + len(literal))
        while start >= 0:
            yield start + len(literal), start + len(literal)
            start = uri.find(literal, start + 1, last + len(literal))


def _behind_expression(expression: Expression, uri: str, before: Iterable[Span]) -> Iterator[Span]:
    sign = expression.operator.first
    for first, last in before:
        if not sign:
            yield first, stop_of(expression.operator, uri, last)
            continue
        yield first, last
        start = uri.find(sign, first, last + len(sign))
        while start >= 0:
            inside = start + len(sign)
            end = stop_of(expression.operator, uri, inside)
            yield inside, end
            # Another sign up to there leads no further.
            start = uri.find(sign, max(start, end - len(sign)) + 1, last + len(sign))


def _united(ordered: Sequence[Span]) -> Iterator[Span]:
    """The spans with those that touch in one."""
    first, last = ordered[0]
    for start, end in ordered[1:]:
        if start > last + 1:
            yield first, last
            first = start
        last = max(last, end)
    yield first, last


def stop_of(operator: Operator, uri: str, start: int) -> int:
    """Where an expression of this operator ends at the latest that begins there."""
    found = (uri.find(character, start) for character in _STOPS[operator.sign])
    return min((stop for stop in found if stop >= 0), default=len(uri))


def last_stop(operator: Operator, uri: str, end: int) -> int:
    """The last place before ``end`` that an expression of this operator cannot run over, -1 if none."""
    return max((uri.rfind(character, 0, end) for character in _STOPS[operator.sign]), default=-1)

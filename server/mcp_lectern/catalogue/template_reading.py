"""Reads a URI as what a template's parts say; must not know how a template is written.

For each part in turn the ends are found that it may reach from the ends of the part before it. Then the parts
are read from the last to the first, only where they can be reached, and what led nowhere is not tried again.
Where a template names a variable several times this may still take for ever (the problem is NP-complete), so
the work that is granted bounds it.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice
from operator import itemgetter
from typing import Any, NamedTuple

from mcp_lectern.catalogue.template_expand import Expression, Operator, Variable, expand
from mcp_lectern.catalogue.template_values import NO_VALUE, Binding, Reader, Work, both

Parts = tuple[str | Expression, ...]
Span = tuple[int, int]
"""The first and the last of a row of offsets."""
Bindings = Mapping[str, Binding]
Arguments = dict[str, str | list[str] | dict[str, str]]
"""By variable: a value, the members of a list, or those of an associative array."""
_Chain = tuple[Any, ...]
"""Empty, or what was found last and the chain of the others."""

_STOPS = {"": "/?#", "+": "", "#": "", ".": "/?#", "/": "?#", ";": "/?#", "?": "#", "&": "#"}
"""What an expression cannot run over. Values that a careful client would have encoded are let through."""
_ENCODED = 12
"""Characters of a URI that one of a value takes at most."""
_LOOKS = 2
"""What an offset that may be reached is worth, in characters that are looked at."""


class Reading(NamedTuple):
    """One way to read a URI: what it says of the variables, and the text of each part."""

    bindings: Bindings
    texts: Sequence[str]


class Pattern:
    """The parts of a template, with what follows from them for every URI."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.start = _literal(parts[:1])
        self.end = _literal(parts[-1:])
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
            reached.append(list(_united(ends)))
            if not reached[-1] or not work.goes_on(_LOOKS * len(reached[-1])):
                return None
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


def _united(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans in order, with those that touch in one."""
    ordered = iter(sorted(spans))
    known = next(ordered, None)
    for span in ordered:
        if known is not None and span[0] <= known[1] + 1:
            known = known[0], max(known[1], span[1])
        else:
            yield known or span
            known = span
    if known is not None:
        yield known


def stop_of(operator: Operator, uri: str, start: int) -> int:
    """Where an expression of this operator ends at the latest that begins there."""
    found = (uri.find(character, start) for character in _STOPS[operator.sign])
    return min((stop for stop in found if stop >= 0), default=len(uri))


def last_stop(operator: Operator, uri: str, end: int) -> int:
    """The last place before ``end`` that an expression of this operator cannot run over, -1 if none."""
    return max((uri.rfind(character, 0, end) for character in _STOPS[operator.sign]), default=-1)


class _Inside(NamedTuple):
    """A place in an expression, which is read forwards: ``at`` counts the items that are read already."""

    start: int
    items: Sequence[str]
    variable: int
    at: int


class _State(NamedTuple):
    """How far a URI is read: ``left`` parts are to come, which end at ``end``.

    ``bound`` holds what is known of variables that occur several times, ``said`` the others, the latest
    first, and so ``texts`` those of the parts.
    """

    left: int
    end: int
    bound: Bindings
    said: _Chain = ()
    texts: _Chain = ()
    inside: _Inside | None = None


class Search:
    """One look for a way to read one URI, within the ``work`` that is granted.

    ``most``: ways to read a text that are gone into, for an exact reading; None for one with allowances.
    """

    def __init__(
        self,
        pattern: Pattern,
        uri: str,
        reached: Sequence[Sequence[Span]],
        *,
        most: int | None,
        work: Work,
    ) -> None:
        self._pattern = pattern
        self._uri = uri
        self._reached = reached
        self._exact = most is not None
        self._most = most or 1
        self._work = work

    def first(self) -> Reading | None:
        """The first reading, that with the shortest values in front; None if there is none, or work is."""
        seen: set[tuple[object, ...]] = set()
        stack = [iter((_State(len(self._pattern.parts), len(self._uri), {}),))]
        while stack and self._work.goes_on():
            state = next(stack[-1], None)
            if state is None:
                stack.pop()
            elif not state.left:
                return self._reading(state)
            elif (key := self._key(state)) not in seen:
                seen.add(key)
                stack.append(self._next(state))
        return None

    def _reading(self, state: _State) -> Reading:
        said = dict(_unchained(state.said)) | dict(state.bound)
        ordered = {name: said[name] for name in self._pattern.names if name in said}
        return Reading(ordered, list(_unchained(state.texts)))

    def _key(self, state: _State) -> tuple[object, ...]:
        """What decides whether the rest can be read; what is bound counts only if it comes again."""
        bound = tuple(map(state.bound.get, self._pattern.earlier[state.left]))
        if state.inside is None:
            return state.left, state.end, bound
        start, items, variable, at = state.inside
        return state.left, state.end, bound, start, len(items), variable, at

    def _next(self, state: _State) -> Iterator[_State]:
        part = self._pattern.parts[state.left - 1]
        if isinstance(part, str):
            yield from self._in_front(state, part)
        elif state.inside is not None:
            yield from self._forwards(state, part, state.inside)
        else:
            yield from self._into(state, part)

    def _in_front(self, state: _State, text: str) -> Iterator[_State]:
        """Behind the parts in front, if this is the text of the last one and they can end there."""
        start = state.end - len(text)
        reached = self._reached[state.left - 1]
        if start >= 0 and self._uri.startswith(text, start) and _holds(reached, start):
            yield _State(state.left - 1, start, state.bound, state.said, (text, state.texts))

    def _into(self, state: _State, part: Expression) -> Iterator[_State]:
        known = [state.bound.get(variable.name) for variable in part.variables]
        if self._exact and all(one is not None and one.whole for one in known):
            yield from self._in_front(state, expand(part, arguments_of(state.bound)))
            return
        for start in self._starts(part, self._reached[state.left - 1], state.end):
            text = self._uri[start : state.end]
            if not self._work.goes_on(len(text)):
                return
            for items in self._items(part, text):
                yield state._replace(inside=_Inside(start, items, 0, 0))

    def _starts(self, part: Expression, reached: Sequence[Span], end: int) -> Iterator[int]:
        """Where the part may begin that ends there, the longest first."""
        sign = part.operator.first
        lowest = max(end - _longest(part), last_stop(part.operator, self._uri, end) + 1 - len(sign))
        for first, last in reached:
            if first > end:
                return
            starts = range(max(first, lowest), min(last, end) + 1)
            yield from (s for s in starts if s == end or self._uri.startswith(sign, s))

    def _items(self, part: Expression, text: str) -> Iterator[Sequence[str]]:
        """The texts between separators; of no text at all there may be one that is empty, or none."""
        operator = part.operator
        if text or not operator.first:
            items = text[len(operator.first) :].split(operator.separator)
            yield _arranged(part, items) if operator.named and not self._exact else items
        if not text:
            yield ()

    def _forwards(self, state: _State, part: Expression, inside: _Inside) -> Iterator[_State]:
        if inside.variable == len(part.variables):
            if inside.at == len(inside.items):
                yield from self._in_front(state, self._uri[inside.start : state.end])
            return
        variable = part.variables[inside.variable]
        known = state.bound.get(variable.name)
        if self._exact and known is not None and known.whole:
            yield from self._again(state, part.operator, variable, inside)
            return
        every = self._pattern.is_repeated(variable.name)
        reader = Reader(
            part.operator, variable, exact=self._exact, most=self._most if every else 1, work=self._work
        )
        for count in self._counts(part, inside):
            said = reader.of(inside.items[inside.at : inside.at + count]) if count else iter((NO_VALUE,))
            for binding in said if every else islice(said, 1):
                together = both(known, binding)
                if together is not None and not (
                    every and self._is_refuted(state, inside.start, variable.name, together)
                ):
                    yield self._with(state, inside, variable.name, together, count)

    def _again(
        self, state: _State, operator: Operator, variable: Variable, inside: _Inside
    ) -> Iterator[_State]:
        """With a variable whose value is known already."""
        text = expand(Expression(operator, (variable,)), arguments_of(state.bound))
        has_value = state.bound[variable.name].value is not None
        items = text[len(operator.first) :].split(operator.separator) if has_value else []
        if list(inside.items[inside.at : inside.at + len(items)]) == items:
            moved = inside._replace(variable=inside.variable + 1, at=inside.at + len(items))
            yield state._replace(inside=moved)

    def _is_refuted(self, state: _State, start: int, name: str, binding: Binding) -> bool:
        """Whether some other place of the variable would write what the URI does not hold there."""
        if not self._exact or not binding.whole or binding.value is None:
            return False
        argument = {name: binding.argument}
        for number, alone in self._pattern.places(name):
            if number < state.left:
                text = expand(alone, argument)[len(alone.operator.first) :]
                span = (start, state.end) if number == state.left - 1 else (0, start)
                if self._uri.find(text, *span) < 0:
                    return True
        return False

    def _with(self, state: _State, inside: _Inside, name: str, binding: Binding, count: int) -> _State:
        inside = inside._replace(variable=inside.variable + 1, at=inside.at + count)
        if self._pattern.is_repeated(name):
            self._work.goes_on(len(state.bound))
            return state._replace(bound={**state.bound, name: binding}, inside=inside)
        return state._replace(said=((name, binding), state.said), inside=inside)

    def _counts(self, part: Expression, inside: _Inside) -> Iterable[int]:
        """How many items the variable may have: few, or many where it explodes; the last one has the rest."""
        rest = len(inside.items) - inside.at
        variable = part.variables[inside.variable]
        if inside.variable == len(part.variables) - 1:
            return (rest,)
        if variable.explode:
            return range(rest, -1, -1)
        one = part.operator.named or (self._exact and part.operator.separator == "/")
        return chain(range(1, min(rest, 1 if one else rest) + 1), (0,))


def arguments_of(bindings: Bindings) -> Arguments:
    """The values by name; variables without one are left out."""
    return {name: one.argument for name, one in bindings.items() if one.value is not None}


def _unchained(chain: _Chain) -> Iterator[Any]:
    while chain:
        first, chain = chain
        yield first


def _holds(spans: Sequence[Span], offset: int) -> bool:
    number = bisect_right(spans, (offset, sys.maxsize))
    return number > 0 and offset <= spans[number - 1][1]


def _longest(expression: Expression) -> int:
    """Characters of a URI that the expression can stand for at most."""
    prefixes = [variable.prefix for variable in expression.variables if variable.prefix is not None]
    if len(prefixes) < len(expression.variables):
        return sys.maxsize
    names = sum(len(variable.name) + 2 for variable in expression.variables)
    return len(expression.operator.first) + names + _ENCODED * sum(prefixes)


def _arranged(expression: Expression, items: Sequence[str]) -> list[str]:
    """The items of a query in the order of its variables; whoever writes one may choose another."""
    order = {variable.name: n for n, variable in reversed(list(enumerate(expression.variables)))}
    names = [item.partition("=")[0] for item in items]
    exploded = [variable.name for variable in expression.variables if variable.explode]
    # Names that the template does not know are those of an associative array, if it has room for one.
    room = next((name for name in exploded if name not in names), next(iter(exploded), ""))
    places = [order.get(name, order.get(room, 0)) for name in names]
    return [item for _, item in sorted(zip(places, items, strict=True), key=itemgetter(0))]

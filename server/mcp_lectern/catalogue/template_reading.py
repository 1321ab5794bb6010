"""Reads a URI as what a template's parts say; must not know how a template is written.

The parts are read from the last to the first, only where they can be reached, and what led nowhere is not
tried again. Where a template names a variable several times this may still take for ever (the problem is
NP-complete), so the work that is granted bounds it.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import Any, NamedTuple

from mcp_lectern.catalogue.template_expand import Expression, Operator, Variable, expand
from mcp_lectern.catalogue.template_pattern import Pattern, Span, last_stop
from mcp_lectern.catalogue.template_values import NO_VALUE, Binding, Reader, Work, both

Bindings = Mapping[str, Binding]
Arguments = dict[str, str | list[str] | dict[str, str]]
"""By variable: a value, the members of a list, or those of an associative array."""
_Chain = tuple[Any, ...]
"""Empty, or what was found last and the chain of the others."""

_ENCODED = 12
"""Characters of a URI that one of a value takes at most."""
_ITEM = 3
"""What a text between separators is worth."""


class Reading(NamedTuple):
    """One way to read a URI: what it says of the variables, and the text of each part."""

    bindings: Bindings
    texts: Sequence[str]


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
        names = self._pattern.earlier[state.left]
        bound = tuple(map(state.bound.get, names)) if names and self._work.goes_on(len(names)) else ()
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
                inside = _Inside(start, items, 0, 0)
                yield _State(state.left, state.end, state.bound, state.said, state.texts, inside)

    def _starts(self, part: Expression, reached: Sequence[Span], end: int) -> Iterator[int]:
        """Where the part may begin that ends there, the longest first."""
        sign = part.operator.first
        lowest = max(end - _longest(part), last_stop(part.operator, self._uri, end) + 1 - len(sign))
        for first, last in reached:
            if first > end:
                return
            start = self._uri.find(sign, max(first, lowest), min(last, end) + len(sign))
            while 0 <= start < end:
                yield start
                start = self._uri.find(sign, start + 1, min(last, end) + len(sign))
            if end <= last:
                yield end

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
            if not self._work.goes_on(_ITEM * count + len(part.variables)):
                return
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
        bound, said = state.bound, state.said
        if not self._pattern.is_repeated(name):
            said = ((name, binding), said)
        elif self._work.goes_on(len(bound)):
            bound = {**bound, name: binding}
        moved = _Inside(inside.start, inside.items, inside.variable + 1, inside.at + count)
        return _State(state.left, state.end, bound, said, state.texts, moved)

    def _counts(self, part: Expression, inside: _Inside) -> Iterable[int]:
        """How many items the variable may have: few, or many where it explodes; the last one has the rest."""
        rest = len(inside.items) - inside.at
        variable = part.variables[inside.variable]
        if inside.variable == len(part.variables) - 1:
            return (rest,)
        if variable.explode:
            likely = _before_others(part, inside) if part.operator.named else rest
            return chain((likely,), (count for count in range(rest, -1, -1) if count != likely))
        one = part.operator.named or (self._exact and part.operator.separator == "/")
        return chain(range(1, min(rest, 1 if one else rest) + 1), (0,))


def _before_others(part: Expression, inside: _Inside) -> int:
    """How many items come before one that has the name of a later variable."""
    others = {variable.name for variable in part.variables[inside.variable + 1 :]}
    items = inside.items[inside.at :]
    return next((n for n, item in enumerate(items) if item.partition("=")[0] in others), len(items))


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

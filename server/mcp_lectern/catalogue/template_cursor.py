"""The variable that a half-typed URI ends in, and how its value goes on; must not know who has values for it.

Earlier values are taken as short as possible, as matching takes them; nothing is tried twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcp_lectern.catalogue.template import Template
from mcp_lectern.catalogue.template_expand import Expression, Operator, Value, Variable, encode, expand
from mcp_lectern.catalogue.template_match import understood
from mcp_lectern.catalogue.template_pattern import Parts, stop_of
from mcp_lectern.catalogue.template_reading import Bindings, arguments_of
from mcp_lectern.catalogue.template_values import Binding, Work, both, decoded

_GOES_ON = "/."
"""Operators of expressions that continue a path: their sign is written before anybody asked for it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the URI ends. ``before`` is its text up to the value, with all that has to stand there.

    ``typed`` is the beginning of the value, decoded; ``arguments`` are the values of earlier variables, and
    ``known`` what an earlier variable of the same name has cut off its value.
    ``positional`` is whether another variable follows in the same expression, ``after`` what follows it.
    """

    variable: Variable
    operator: Operator
    before: str
    typed: str
    arguments: Mapping[str, Value]
    positional: bool
    after: Parts
    known: str = ""

    @property
    def beginning(self) -> str:
        """As much of the value as is known from what is written of it anywhere."""
        return max(self.typed, self.known, key=len)

    def continued(self, value: str) -> tuple[str, bool]:
        """The URI with this value and what follows it up to the next variable; whether that ends it."""
        uri = self.before + encode(self.operator, value[: self.variable.prefix])
        if self.positional:
            return uri + self.operator.separator, False
        arguments = {**self.arguments, self.variable.name: value}
        for number, part in enumerate(self.after):
            if isinstance(part, str):
                uri += part
            elif any(each.name in arguments for each in part.variables):
                # What is known goes out wherever it is named: without it no arguments make the URI.
                uri += expand(part, arguments)
            elif part.operator.sign and part.operator.sign in _GOES_ON:
                return uri + part.operator.first, False
            else:
                # A query or a fragment may be left out; whoever wants one types its sign. Nor can be told
                # where a value ends that another one follows at once.
                rest = self.after[number + (number == 0 and not part.operator.first) :]
                return uri, all(_may_be_left_out(part) for part in rest)
        return uri, True


def _may_be_left_out(part: str | Expression) -> bool:
    return not isinstance(part, str) and bool(part.operator.first)


def place_of(template: Template, uri: str, work: Work) -> Place | None:
    """Where a URI that is still being typed ends in the template; None outside every variable.

    ``work`` is what may be spent on understanding the variables in front; where it is short, there is none.
    """
    found = (_place(pattern.parts, uri, work) for pattern in template.patterns)
    return next((place for place in found if place is not None), None)


def _place(parts: Parts, uri: str, work: Work) -> Place | None:
    position = 0
    for number, part in enumerate(parts):
        if isinstance(part, str):
            if not uri.startswith(part, position):
                return None
            position += len(part)
            continue
        end = _end(part, uri, position, parts[number + 1 :])
        stop = stop_of(part.operator, uri, position + len(part.operator.first))
        if stop < (len(uri) if end is None else end):
            return None
        if end is None:
            known = understood(parts[:number], uri[:position], work)
            return None if known is None else _inside(part, uri, position, _Known(known), parts[number + 1 :])
        position = end
    return None


def _end(expression: Expression, uri: str, start: int, after: Parts) -> int | None:
    """Where what follows the expression begins, None where that is not typed yet."""
    if not after:
        return None
    mark = after[0] if isinstance(after[0], str) else after[0].operator.first
    inside = start + len(expression.operator.first)
    end = uri.find(mark, inside) if mark else -1
    return None if end < 0 else end


class _Known:
    """What is known of variables, of those that have a value."""

    def __init__(self, bindings: Bindings) -> None:
        self.bindings = {name: one for name, one in bindings.items() if one.value is not None}

    def note(self, variable: Variable, value: str) -> bool:
        """Whether the value goes with what is known; one that fills its prefix may be a beginning only."""
        whole = variable.prefix is None or len(value) < variable.prefix
        together = both(self.bindings.get(variable.name), Binding(value, whole))
        if together is not None:
            self.bindings[variable.name] = together
        return together is not None

    def beginning(self, variable: Variable) -> str:
        """As much of its value as is known where that is not all of it."""
        known = self.bindings.get(variable.name)
        return known.value if known and not known.whole and isinstance(known.value, str) else ""


def _inside(expression: Expression, uri: str, start: int, known: _Known, after: Parts) -> Place | None:
    operator = expression.operator
    if uri.startswith(operator.first, start):
        start += len(operator.first)
    elif start < len(uri):
        return None
    else:
        uri += operator.first
        start = len(uri)
    items = uri[start:].split(operator.separator)
    if operator.named:
        return _named(expression, uri, items, known, after)
    variables = expression.variables
    if len(variables) == 1 and not variables[0].explode:
        items = [uri[start:]]
    if len(items) > len(variables) and not variables[-1].explode:
        return None
    for variable, item in zip(variables, items[:-1], strict=False):
        value = decoded(item)
        if variable.prefix is not None and len(value) > variable.prefix:
            return None
        if not variable.explode and not known.note(variable, value):
            return None
    index = min(len(items), len(variables)) - 1
    positional = index + 1 < len(variables) and not variables[index].explode
    ending = (variables[index], uri, items[-1])
    return _placed(expression, *ending, known=known, positional=positional, after=after)


def _named(
    expression: Expression, uri: str, items: Sequence[str], known: _Known, after: Parts
) -> Place | None:
    by_name = {variable.name: variable for variable in expression.variables}
    for item in items[:-1]:
        name, _, value = item.partition("=")
        earlier = by_name.pop(name, None)
        if earlier is None:
            return None
        if earlier.explode:
            by_name[name] = earlier
        elif not known.note(earlier, decoded(value)):
            return None
    name, equals, value = items[-1].partition("=")
    if equals:
        variable = by_name.get(name)
    else:
        variable = next((one for one in by_name.values() if one.name.startswith(name)), None)
        if variable is not None:
            uri, value = f"{uri[: len(uri) - len(name)]}{variable.name}=", ""
    if variable is None:
        return None
    return _placed(expression, variable, uri, value, known=known, positional=False, after=after)


def _placed(
    expression: Expression,
    variable: Variable,
    uri: str,
    value: str,
    *,
    known: _Known,
    positional: bool,
    after: Parts,
) -> Place | None:
    typed, begun = decoded(value), known.beginning(variable)
    if variable.prefix is not None and len(typed) > variable.prefix:
        return None
    if not typed.startswith(begun) and not begun.startswith(typed):
        return None
    before = uri[: len(uri) - len(value)]
    arguments = arguments_of({name: one for name, one in known.bindings.items() if one.whole})
    return Place(variable, expression.operator, before, typed, arguments, positional, after, begun)

"""Reads the parts of a URI as what a template's expressions say; must not know how a template is written.

There may be several ways, and what looks like one may not make the URI again: each is proposed in its turn,
from the last part to the first, within a bound on all that is tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from mcp_lectern.catalogue.template import Expression, Variable

Value = str | list[str] | dict[str, str]
Arguments = dict[str, Value]
"""By variable: a value, the members of an exploded list, or those of an exploded associative array."""
Parts = tuple["str | Expression", ...]
Spans = list[tuple["str | Expression", str]]
"""The parts of a template, each with the text of the URI that it stands for."""
Values = list[tuple["Variable", Value]]
Expand = Callable[["Expression", Arguments], str]

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

_MOST_TRIES = 1_000
"""Parts of one URI that are read as an expression's values; a long one counts as several."""
_ONE_TRY = 20
"""Characters of a part that make one of them."""
_ENCODED = 12
"""Characters of a URI that one of a value takes at most."""


class Noted:
    """What the parts that were read so far say; ``beginnings`` of values that were cut, the longest."""

    __slots__ = ("beginnings", "whole")

    def __init__(self, whole: Arguments | None = None, beginnings: dict[str, str] | None = None) -> None:
        self.whole = whole or {}
        self.beginnings = beginnings or {}

    def plus(self, values: Values) -> Noted | None:
        """With these values, too; None where they contradict."""
        noted = Noted(dict(self.whole), dict(self.beginnings))
        return noted if all(noted.note(variable, value) for variable, value in values) else None

    def note(self, variable: Variable, value: Value) -> bool:
        """Whether the value goes with what is known of the variable; a shorter beginning begins a longer."""
        name = variable.name
        if variable.prefix is None or not isinstance(value, str):
            beginning = self.beginnings.get(name, "")
            begins = not beginning or (isinstance(value, str) and value.startswith(beginning))
            return self.whole.setdefault(name, value) == value and begins
        known = self.beginnings.get(name, "")
        longer, shorter = (known, value) if len(known) > len(value) else (value, known)
        self.beginnings[name] = longer
        whole = self.whole.get(name, longer)
        return longer.startswith(shorter) and isinstance(whole, str) and whole.startswith(longer)

    def arguments(self) -> Arguments:
        """A value known only by its beginning counts as that."""
        return {**self.beginnings, **self.whole}


class Search:
    """One look for the readings of one URI. ``reached`` holds the offsets that lead to each part."""

    def __init__(self, parts: Parts, uri: str, reached: Sequence[Sequence[int]]) -> None:
        self._parts = parts
        self._uri = uri
        self._reached = reached
        self._tries = _MOST_TRIES

    def back(self, count: int, end: int, noted: Noted) -> Iterator[tuple[Spans, Noted]]:
        """The readings of the first ``count`` parts that end there, and go with what is noted."""
        if not count:
            yield [], noted
            return
        part = self._parts[count - 1]
        for start, known in self._before(part, self._reached[count - 1], end, noted):
            for spans, all_known in self.back(count - 1, start, known):
                yield [*spans, (part, self._uri[start:end])], all_known

    def _before(
        self, part: str | Expression, starts: Sequence[int], end: int, noted: Noted
    ) -> Iterator[tuple[int, Noted]]:
        """Where the part may begin, and what is known then."""
        if isinstance(part, str):
            start = end - len(part)
            if self._uri.startswith(part, max(start, 0)) and start in starts:
                yield start, noted
            return
        longest = _longest(part)
        for start in starts:
            if start > end:
                return
            if end - start > longest or not _may_be(part, self._uri, start, end):
                continue
            for values in readings(part, self._uri[start:end]):
                if self._tries <= 0:
                    return
                self._tries -= 1 + (end - start) // _ONE_TRY
                if values is not None and (known := noted.plus(values)) is not None:
                    yield start, known


def _longest(expression: Expression) -> float:
    """Characters of a URI that the expression can stand for at most."""
    lengths = [each.prefix or float("inf") for each in expression.variables]
    names = sum(len(each.name) + 2 for each in expression.variables)
    return len(expression.operator.first) + names + _ENCODED * sum(lengths)


def _may_be(expression: Expression, uri: str, start: int, end: int) -> bool:
    if start == end:
        return True
    inside = start + len(expression.operator.first)
    stop = STOPS[expression.operator.sign].search(uri, inside)
    return uri.startswith(expression.operator.first, start, end) and (stop is None or stop.start() >= end)


def readings(expression: Expression, text: str) -> Iterator[Values | None]:
    """What the expression may say where it stands for this text; None for each way that leads nowhere."""
    operator = expression.operator
    if operator.first and not text:
        yield []
        return
    body = text[len(operator.first) :]
    if operator.named:
        yield _named_values(expression, body.split(operator.separator))
        return
    variables = expression.variables
    pieces = body.split(operator.separator)
    if len(variables) == 1 and not variables[0].explode:
        pieces = [body]
    for sizes in _shares(variables, len(pieces)):
        yield _positional_values(expression, pieces, sizes)
    if not text:
        yield []


def _shares(variables: Sequence[Variable], count: int) -> Iterator[list[int]]:
    """How many pieces each variable may have: one each first, and an exploded or the last one the rest."""
    if not count or not variables:
        if not count:
            yield []
        return
    first, rest = variables[0], variables[1:]
    if not rest:
        yield [count]
    elif first.explode:
        for size in range(count, -1, -1):
            yield from ([size, *others] for others in _shares(rest, count - size))
    else:
        for size in (*range(1, count + 1), 0):
            yield from ([size, *others] for others in _shares(rest, count - size))


def _positional_values(expression: Expression, pieces: Sequence[str], sizes: Sequence[int]) -> Values | None:
    values: Values = []
    ends = list(accumulate(sizes))
    for variable, size, end in zip(expression.variables, sizes, ends, strict=False):
        own = pieces[end - size : end]
        if own:
            joined = expression.operator.separator.join(own)
            values.append((variable, [decoded(one) for one in own] if variable.explode else decoded(joined)))
    return values if all(_fits(variable, value) for variable, value in values) else None


def _named_values(expression: Expression, items: Sequence[str]) -> Values | None:
    by_name = {variable.name: variable for variable in expression.variables}
    order = list(by_name)
    lists: dict[str, list[str]] = {}
    others: list[tuple[str, str]] = []
    for item in items:
        name, _, value = item.partition("=")
        if name in by_name:
            lists.setdefault(name, []).append(decoded(value))
        else:
            others.append((decoded(name), decoded(value)))
    # Names that the template does not know are those of an associative array, if it has room for one.
    room = next((v for v in expression.variables if v.explode and v.name not in lists), None)
    for name, values in lists.items():
        if len(values) > 1 and not by_name[name].explode:
            if len(set(values)) == 1 and len(values) == [v.name for v in expression.variables].count(name):
                continue
            if room is None:
                return None
            # One of them is the variable's own, in the order in which the two go out.
            own = -1 if order.index(room.name) < order.index(name) else 0
            lists[name] = [values.pop(own)]
            others += [(name, value) for value in values]
    if others and (room is None or len(dict(others)) < len(others)):
        return None
    found: Values = [
        (by_name[name], values if by_name[name].explode else values[0]) for name, values in lists.items()
    ]
    found += [(room, dict(others))] if room is not None and others else []
    return found if all(_fits(variable, value) for variable, value in found) else None


def _fits(variable: Variable, value: Value) -> bool:
    return variable.prefix is None or len(value) <= variable.prefix


def same(expression: Expression, expanded: str, text: str) -> bool:
    """Whether what was expanded is the text but for its encoding and, where values are named, their order."""
    if expanded == text:
        return True
    operator = expression.operator
    one, other = (each.split(operator.separator) for each in (expanded, text))
    if operator.named:
        first = len(operator.first)
        one, other = (
            sorted(_item(i) for i in each[first:].split(operator.separator)) for each in (expanded, text)
        )
    many = [[_plain(operator.reserved, item) for item in items] for items in (one, other)]
    return many[0] == many[1] or _plain(operator.reserved, expanded) == _plain(operator.reserved, text)


def _item(item: str) -> str:
    name, _, value = item.partition("=")
    return f"{decoded(name)}={decoded(value)}"


def _plain(reserved: bool, text: str) -> str:
    # What is encoded already goes out of a reserved expansion as it is.
    return decoded(decoded(text)) if reserved else decoded(text)


def decoded(text: str) -> str:
    """The text without percent-encoding, or as it is where that is no UTF-8."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text

"""One reader per kind of value: JSON in, checked value out; must not know the names of settings.

A reader raises `WrongValueError` with what it expected; it trusts nothing about its argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from mcp_lectern.settings.model import Filter

Reader: TypeAlias = Callable[[object], object]

LARGEST = 2**53
"""The largest number that every JSON implementation carries exactly."""
DEEPEST = 64
"""Levels of nesting; comparing or printing a much deeper value exhausts Python's stack."""


class WrongValueError(Exception):
    """``str()`` says what would have been right, as in "true or false"."""


def boolean(value: object) -> bool:
    """``true`` or ``false``."""
    if isinstance(value, bool):
        return value
    raise WrongValueError("true or false")


def whole(minimum: int) -> Reader:
    """A whole number from ``minimum`` on; ``5.0`` is one."""

    def reader(value: object) -> int:
        number = _number(value)
        if number is None or number != int(number) or not minimum <= number <= LARGEST:
            raise WrongValueError(f"a whole number, {minimum} or more")
        return int(number)

    return reader


def amount(*, zero: bool) -> Reader:
    """A number above zero, or from zero on."""

    def reader(value: object) -> float:
        number = _number(value)
        if number is None or not 0 <= number <= LARGEST or (number == 0 and not zero):
            raise WrongValueError("a number, 0 or more" if zero else "a number above 0")
        return number

    return reader


def _number(value: object) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def text(value: object) -> str:
    """A string that is not empty."""
    if isinstance(value, str) and value:
        return value
    raise WrongValueError("a text")


def texts(value: object) -> tuple[str, ...]:
    """A list of strings, none of them empty."""
    if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
        return tuple(value)
    raise WrongValueError("a list of texts")


def choice(*words: str) -> Reader:
    """One of these words."""

    def reader(value: object) -> str:
        if isinstance(value, str) and value in words:
            return value
        raise WrongValueError(_any_of(words))

    return reader


def switch_or(*words: str) -> Reader:
    """``true``, ``false`` or one of these words."""

    def reader(value: object) -> bool | str:
        if isinstance(value, bool) or (isinstance(value, str) and value in words):
            return value
        raise WrongValueError("true, false or " + _any_of(words))

    return reader


def subset(words: tuple[str, ...]) -> Reader:
    """A list of some of these words; ``false`` is none of them."""

    def reader(value: object) -> tuple[str, ...]:
        if value is False:
            return ()
        if isinstance(value, list) and all(isinstance(item, str) and item in words for item in value):
            return tuple(dict.fromkeys(value))
        raise WrongValueError("false or a list of " + _any_of(words))

    return reader


def entries(value: object) -> Mapping[str, object]:
    """An object whose members someone else checks; only its depth is bounded here."""
    if not isinstance(value, dict):
        raise WrongValueError("an object with one entry per server")
    if _deeper_than(value, DEEPEST):
        raise WrongValueError(f"an object nested no more than {DEEPEST} levels")
    return cast("Mapping[str, object]", value)


def filters(value: object) -> Mapping[str, Filter]:
    """``{server: {hide, include, exclude, audience}}``; one wrong member makes the whole value wrong."""
    if not isinstance(value, dict):
        raise WrongValueError("an object with one filter per server")
    return {server: _filter(members) for server, members in value.items()}


def _filter(members: object) -> Filter:
    readers: dict[str, Reader] = {"hide": boolean, "include": texts, "exclude": texts, "audience": texts}
    if not isinstance(members, dict) or not members.keys() <= readers.keys():
        raise WrongValueError("for each server an object of " + ", ".join(readers))
    checked: dict[str, object] = {}
    for key, value in members.items():
        try:
            checked[key] = readers[key](value)
        except WrongValueError as expected:
            raise WrongValueError(f"for each server {expected} under “{key}”") from None
    return Filter(**checked)  # type: ignore[arg-type]


def _deeper_than(value: object, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [child for node in level for child in _children(node)]
        if not level:
            return False
    return True


def _children(node: object) -> list[object]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def _any_of(words: tuple[str, ...]) -> str:
    return ", ".join(f"“{word}”" for word in words[:-1]) + f" or “{words[-1]}”"

"""The schema of a form: flat fields of simple types, and what fits them; must not know who fills it in.

Specification 2026-07-28, client/elicitation (requested schema). A schema of any other shape is refused: what
a person cannot be shown they cannot answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

Json = Any

MOST_FIELDS: Final = 100
MOST_OPTIONS: Final = 1000
LONGEST: Final = 100_000
"""Characters of one text, whatever the schema allows."""


@dataclass(frozen=True, slots=True)
class Option:
    """One value to choose, and how it is called."""

    value: str
    title: str


@dataclass(frozen=True, slots=True)
class Field:
    """``kind`` is ``string``, ``number``, ``integer``, ``boolean`` or ``array`` (of some of the options).

    ``least`` and ``most`` bound a number's value, a text's length, or the number of chosen options.
    """

    name: str
    kind: str
    title: str
    description: str
    required: bool
    default: Json = None
    options: tuple[Option, ...] = ()
    least: float | None = None
    most: float | None = None
    format: str | None = None

    def problem(self, value: Json) -> str | None:
        """A sentence about a value that does not fit; None where it does. ``None`` is no value."""
        if value is None:
            return f"“{self.title}” is needed." if self.required else None
        return _CHECKS[self.kind](self, value)

    def within(self, size: float, what: str) -> str | None:
        """A sentence about a size out of bounds."""
        if self.least is not None and size < self.least:
            return f"“{self.title}” needs {what} of at least {self.least:g}."
        if self.most is not None and size > self.most:
            return f"“{self.title}” allows {what} of at most {self.most:g}."
        return None


def read_fields(schema: Mapping[str, Json]) -> tuple[Field, ...]:
    """The fields of a form, in order. Raises ValueError with a phrase for a schema that is none."""
    properties = schema.get("properties", {})
    if schema.get("type", "object") != "object" or not isinstance(properties, dict):
        raise ValueError("it is not a flat object")
    if len(properties) > MOST_FIELDS:
        raise ValueError(f"it has more than {MOST_FIELDS} fields")
    names = schema.get("required", [])
    required = frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()
    if missing := set(required) - properties.keys():
        raise ValueError(f"it needs fields that it does not have ({', '.join(sorted(missing))[:100]})")
    return tuple(_field(name, each, required=name in required) for name, each in properties.items())


def _field(name: str, schema: Json, *, required: bool) -> Field:
    if not isinstance(schema, dict):
        raise ValueError(f"“{name[:50]}” has no schema")
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in _CHECKS:
        raise ValueError(f"“{name[:50]}” is of the type {str(kind)[:20]}")
    options = _options(name, schema, kind)
    least, most = (_number(schema.get(key)) for key in _BOUNDS[kind])
    field = Field(
        name,
        kind,
        _text(schema.get("title")) or name,
        _text(schema.get("description")),
        required,
        None,
        options,
        least,
        most,
        _text(schema.get("format")) or None,
    )
    default = schema.get("default")
    return field if default is None or field.problem(default) else _with_default(field, default)


def _with_default(field: Field, default: Json) -> Field:
    from dataclasses import replace

    return replace(field, default=default)


def _options(name: str, schema: Mapping[str, Json], kind: str) -> tuple[Option, ...]:
    if kind == "array":
        items = schema.get("items")
        options = _listed(items, "anyOf") if isinstance(items, dict) else ()
        if not options:
            raise ValueError(f"“{name[:50]}” is a list of something that is not to be chosen")
        return options
    return _listed(schema, "oneOf") if kind == "string" else ()


def _listed(schema: Mapping[str, Json], titled: str) -> tuple[Option, ...]:
    values, names = schema.get("enum"), schema.get("enumNames")
    if isinstance(values, list):
        titles = names if isinstance(names, list) and len(names) == len(values) else values
        pairs = list(zip(values, titles, strict=True))
    else:
        each = schema.get(titled)
        named = [one for one in each if isinstance(one, dict)] if isinstance(each, list) else []
        pairs = [(one.get("const"), one.get("title", one.get("const"))) for one in named]
    if len(pairs) > MOST_OPTIONS:
        raise ValueError(f"it offers more than {MOST_OPTIONS} choices")
    return tuple(Option(value, str(title)) for value, title in pairs if isinstance(value, str))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Json) -> float | None:
    usable = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if usable and abs(value) <= 1e308 else None


def _check_string(field: Field, value: Json) -> str | None:
    if not isinstance(value, str):
        return f"“{field.title}” has to be text."
    if field.options:
        known = any(option.value == value for option in field.options)
        return None if known else f"“{field.title}” has to be one of the choices."
    if len(value) > LONGEST:
        return f"“{field.title}” is too long."
    shape = _FORMATS.get(field.format or "")
    if shape and not shape(value):
        return f"“{field.title}” has to be of the form {field.format}."
    return field.within(len(value), "a length")


def _check_number(field: Field, value: Json) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
        return f"“{field.title}” has to be a number."
    if field.kind == "integer" and value != int(value):
        return f"“{field.title}” has to be a whole number."
    return field.within(value, "a value")


def _is_finite(value: float) -> bool:
    return isinstance(value, int) or math.isfinite(value)


def _check_boolean(field: Field, value: Json) -> str | None:
    return None if isinstance(value, bool) else f"“{field.title}” has to be yes or no."


def _check_array(field: Field, value: Json) -> str | None:
    known = {option.value for option in field.options}
    if not isinstance(value, list) or not all(isinstance(each, str) and each in known for each in value):
        return f"“{field.title}” has to be some of the choices."
    return field.within(len(value), "a number of choices")


def _is_date(value: str) -> bool:
    return _parses(date.fromisoformat, value)


def _is_moment(value: str) -> bool:
    return "T" in value.upper() and _parses(datetime.fromisoformat, value.replace("z", "Z"))


def _parses(parse: Callable[[str], object], value: str) -> bool:
    try:
        parse(value)
    except ValueError:
        return False
    return True


_CHECKS: Final[Mapping[str, Callable[[Field, Json], str | None]]] = {
    "string": _check_string,
    "number": _check_number,
    "integer": _check_number,
    "boolean": _check_boolean,
    "array": _check_array,
}
_BOUNDS: Final[Mapping[str, tuple[str, str]]] = {
    "string": ("minLength", "maxLength"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "boolean": ("", ""),
    "array": ("minItems", "maxItems"),
}
_FORMATS: Final[Mapping[str, Callable[[str], object]]] = {
    "email": re.compile(r"[^@\s]+@[^@\s]+\Z").match,
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S*\Z").match,
    "date": _is_date,
    "date-time": _is_moment,
}

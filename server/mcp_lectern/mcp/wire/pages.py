"""Pages of ``resources/list`` and ``resources/templates/list``, read field by field; must not ask for them.

The tolerance runs inside pydantic-core's validators, not in Python: a wrong field becomes its default, an
entry that cannot be addressed is left out. Specification 2026-07-28, server/resources.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from pydantic_core import SchemaValidator, core_schema

from .resources import Annotations, Resource, ResourceTemplate

LABEL_CHARACTERS: Final = 2_000
DESCRIPTION_CHARACTERS: Final = 20_000
MIME_CHARACTERS: Final = 500
LARGEST_SIZE: Final = 2**63 - 1
LARGEST_TTL_MS: Final = 365 * 24 * 3600 * 1000

Json = Any
Schema = core_schema.CoreSchema

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_TIMESTAMP = r"^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d([.,]\d+)?)?([Zz]|[+-]\d\d:?\d\d)?)?$"


Entry = TypeVar("Entry", Resource, ResourceTemplate)


@dataclass(frozen=True, slots=True)
class Page(Generic[Entry]):
    """One page. ``left_out`` counts entries without a usable address; ``cursor`` is None on the last page."""

    entries: tuple[Entry, ...]
    cursor: Json
    left_out: int
    ttl_ms: int


def resource_page(result: dict[str, Json]) -> Page[Resource] | None:
    """Read a page of resources; None if ``resources`` is no list."""
    return _page(result, "resources", _RESOURCES, "uri")


def template_page(result: dict[str, Json]) -> Page[ResourceTemplate] | None:
    """Read a page of templates; None if ``resourceTemplates`` is no list."""
    return _page(result, "resourceTemplates", _TEMPLATES, "uri_template")


def ttl_ms(value: Json) -> int:
    """A caching hint in milliseconds: 0 where absent, negative or no number, a year at the most."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        return 0
    return int(min(value, LARGEST_TTL_MS))


def clean_mime_type(value: Json) -> str | None:
    """A MIME type as written, without control characters; None if that leaves nothing usable."""
    if not isinstance(value, str) or len(value) > MIME_CHARACTERS:
        return None
    return _CONTROL.sub("", value).strip() or None


def _page(result: dict[str, Json], key: str, validator: SchemaValidator, address: str) -> Page[Entry] | None:
    raw = result.get(key)
    if not isinstance(raw, list):
        return None
    entries: list[Entry] = validator.validate_python(raw)
    named = tuple(entry if entry.name else _with_name(entry, address) for entry in entries)
    return Page(named, result.get("nextCursor"), len(raw) - len(named), ttl_ms(result.get("ttlMs")))


def _with_name(entry: Entry, address: str) -> Entry:
    return replace(entry, name=entry.title or getattr(entry, address))


def _optional(schema: Schema, default: object = None) -> Schema:
    return core_schema.with_default_schema(schema, default=default, on_error="default")


def _text(limit: int, default: str | None = None) -> Schema:
    """A string that is not empty; a longer one than ``limit`` characters is cut."""
    cut = core_schema.no_info_after_validator_function(
        lambda text: text[: limit - 1] + "…", core_schema.str_schema(strict=True)
    )
    fits = core_schema.str_schema(strict=True, min_length=1, max_length=limit)
    return _optional(core_schema.union_schema([fits, _longer(cut, limit)], mode="left_to_right"), default)


def _longer(schema: Schema, limit: int) -> Schema:
    return core_schema.chain_schema([core_schema.str_schema(strict=True, min_length=limit + 1), schema])


def _mime_type() -> Schema:
    plain = core_schema.str_schema(strict=True, pattern=r"^[!-~][ -~]*$", max_length=MIME_CHARACTERS)
    repaired = core_schema.no_info_plain_validator_function(clean_mime_type)
    return _optional(core_schema.union_schema([plain, repaired], mode="left_to_right"))


def _size() -> Schema:
    whole = core_schema.int_schema(strict=True, ge=0, le=LARGEST_SIZE)
    written_as_float = core_schema.chain_schema(
        [
            core_schema.float_schema(strict=True, ge=0, le=float(2**53), allow_inf_nan=False),
            core_schema.int_schema(),
        ]
    )
    return _optional(core_schema.union_schema([whole, written_as_float], mode="left_to_right"))


def _priority() -> Schema:
    within = core_schema.float_schema(strict=True, ge=0, le=1)
    clamped = core_schema.no_info_after_validator_function(
        lambda number: min(max(number, 0.0), 1.0), core_schema.float_schema(strict=True, allow_inf_nan=False)
    )
    return _optional(core_schema.union_schema([within, clamped], mode="left_to_right"))


def _annotations() -> Schema:
    role = core_schema.with_default_schema(core_schema.literal_schema(["user", "assistant"]), on_error="omit")
    audience = core_schema.tuple_variable_schema(role)
    timestamp = core_schema.str_schema(strict=True, pattern=_TIMESTAMP, max_length=60)
    fields = [
        _field("audience", "audience", _optional(audience, ())),
        _field("priority", "priority", _priority()),
        _field("last_modified", "lastModified", _optional(timestamp)),
    ]
    return _optional(_dataclass(Annotations, fields))


def _described() -> list[core_schema.DataclassField]:
    return [
        _field("name", "name", _text(LABEL_CHARACTERS, "")),
        _field("title", "title", _text(LABEL_CHARACTERS)),
        _field("description", "description", _text(DESCRIPTION_CHARACTERS)),
        _field("mime_type", "mimeType", _mime_type()),
        _field("annotations", "annotations", _annotations()),
    ]


def _field(name: str, key: str, schema: Schema) -> core_schema.DataclassField:
    return core_schema.dataclass_field(name=name, schema=schema, validation_alias=key)


def _dataclass(kind: type[object], fields: list[core_schema.DataclassField]) -> Schema:
    names = [field["name"] for field in fields]
    arguments = core_schema.dataclass_args_schema(kind.__name__, fields)
    return core_schema.dataclass_schema(kind, arguments, names, frozen=True, slots=True)


def _entries(kind: type[object], fields: list[core_schema.DataclassField]) -> SchemaValidator:
    entry = core_schema.with_default_schema(_dataclass(kind, fields), on_error="omit")
    return SchemaValidator(core_schema.list_schema(entry))


_ADDRESS = core_schema.str_schema(strict=True, min_length=1)
_RESOURCES = _entries(
    Resource, [_field("uri", "uri", _ADDRESS), *_described(), _field("size", "size", _size())]
)
_TEMPLATES = _entries(ResourceTemplate, [_field("uri_template", "uriTemplate", _ADDRESS), *_described()])

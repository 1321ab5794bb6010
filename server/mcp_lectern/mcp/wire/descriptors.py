"""How one listed entry becomes a descriptor, field by field; must not know pages or messages.

The tolerance runs inside pydantic-core's validators, not in Python: a wrong field becomes its default, and an
entry that cannot be addressed becomes None. Specification 2026-07-28, server/resources.
"""

from __future__ import annotations

import re
from typing import Any, Final

from pydantic_core import core_schema

from .resources import Annotations, Resource, ResourceTemplate

LABEL_CHARACTERS: Final = 2_000
DESCRIPTION_CHARACTERS: Final = 20_000
MIME_CHARACTERS: Final = 500
LARGEST_SIZE: Final = 2**63 - 1

Json = Any
Schema = core_schema.CoreSchema

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_TIMESTAMP = r"^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d([.,]\d+)?)?([Zz]|[+-]\d\d:?\d\d)?)?$"


def clean_mime_type(value: Json) -> str | None:
    """A MIME type as written, without control characters; None if that leaves nothing usable."""
    if not isinstance(value, str) or len(value) > MIME_CHARACTERS:
        return None
    return _CONTROL.sub("", value).strip() or None


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


def _entries(kind: type[object], fields: list[core_schema.DataclassField]) -> core_schema.ListSchema:
    return core_schema.list_schema(_optional(_dataclass(kind, fields)))


_ADDRESS = core_schema.str_schema(strict=True, min_length=1)
RESOURCE_LIST: Final = _entries(
    Resource, [_field("uri", "uri", _ADDRESS), *_described(), _field("size", "size", _size())]
)
TEMPLATE_LIST: Final = _entries(
    ResourceTemplate, [_field("uri_template", "uriTemplate", _ADDRESS), *_described()]
)

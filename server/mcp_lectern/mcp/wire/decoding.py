"""One JSON text to Python values, with listed entries read into descriptors on the way; must not do I/O.

A page of a thousand entries is parsed and read in one pass inside pydantic-core, without a dictionary for
each. What its parser refuses and Python's takes (lone surrogates, numbers of any length) goes the slow way.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from pydantic_core import SchemaValidator, core_schema

from .descriptors import RESOURCE_LIST, TEMPLATE_LIST

MAX_DIGITS: Final = 400
BOM: Final = b"\xef\xbb\xbf"

Json = Any


def decode(line: bytes) -> Json:
    """The value of a JSON text; ``result.resources`` and ``result.resourceTemplates`` hold descriptors.

    Raises ValueError, or RecursionError where it is nested too deeply.
    """
    line = line.removeprefix(BOM)
    with _no_collection():
        try:
            return _MESSAGE.validate_json(line)
        except ValueError:
            text = line.decode("utf-8", "replace")
            return _MESSAGE.validate_python(json.loads(text, parse_int=_bounded_int))


@contextmanager
def _no_collection() -> Iterator[None]:
    """Hold the cyclic collector: parsing makes no cycles, and looking for them would double its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _bounded_int(digits: str) -> int | float:
    return int(digits) if len(digits) <= MAX_DIGITS else float("nan")


def _or_anything(schema: core_schema.CoreSchema) -> core_schema.CoreSchema:
    return core_schema.union_schema([schema, core_schema.any_schema()], mode="left_to_right")


def _object(**fields: core_schema.CoreSchema) -> core_schema.CoreSchema:
    """An object in which these members are read so, and all others are taken as they are; else anything."""
    members = {
        name: core_schema.typed_dict_field(_or_anything(schema), required=False)
        for name, schema in fields.items()
    }
    return _or_anything(core_schema.typed_dict_schema(members, extra_behavior="allow"))


_MESSAGE = SchemaValidator(_object(result=_object(resources=RESOURCE_LIST, resourceTemplates=TEMPLATE_LIST)))

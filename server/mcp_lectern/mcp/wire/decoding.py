"""One JSON text to Python values, with listed entries read into descriptors on the way; must not do I/O.

A page of a thousand entries is parsed and read in one pass inside pydantic-core, without a dictionary for
each. What its parser refuses and Python's takes (lone surrogates, numbers of any length) goes the slow way.
"""

from __future__ import annotations

import gc
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from pydantic_core import SchemaValidator, core_schema

from .descriptors import RESOURCE_LIST, TEMPLATE_LIST
from .long_messages import LongMessage
from .long_strings import LongString

MAX_DIGITS: Final = 400
BOM: Final = b"\xef\xbb\xbf"

Json = Any


def decode(line: bytes, *, lenient: bool = False) -> Json:
    """The value of a JSON text; ``result.resources`` and ``result.resourceTemplates`` hold descriptors.

    Raises ValueError, or RecursionError where it is nested too deeply. ``lenient``: the fast way is known to
    refuse it.
    """
    line = line.removeprefix(BOM)
    with _no_collection():
        try:
            if not lenient:
                return _MESSAGE.validate_json(line)
        except ValueError:
            pass
        text = line.decode("utf-8", "replace")
        return _MESSAGE.validate_python(json.loads(text, parse_int=_bounded_int))


def decode_long(message: LongMessage) -> Json:
    """The same of a long message; ``result.contents`` holds the long strings that belong there as they are.

    A mark that nobody can guess stands for each string. Where one is not found where contents stand, since it
    means something else or another member of its name came later, the message is put together as it came.
    """
    if message.flaw:
        raise ValueError(message.flaw)
    nonce = secrets.token_hex(16)
    marked = {f"{nonce}{at}": part for at, part in enumerate(message.parts) if not isinstance(part, bytes)}
    lenient = any(string.lenient for string in marked.values())
    skeleton = [
        part if isinstance(part, bytes) else f"{nonce}{at}".encode() for at, part in enumerate(message.parts)
    ]
    value = decode(b"".join(skeleton), lenient=lenient)
    if _put_back(value, marked) == len(marked):
        return value
    whole = [part if isinstance(part, bytes) else _encoded(part) for part in message.parts]
    return decode(b"".join(whole), lenient=lenient)


def _put_back(value: Json, marked: dict[str, LongString]) -> int:
    """Put the strings where contents have their marks; how many there were."""
    result = value.get("result") if isinstance(value, dict) else None
    contents = result.get("contents") if isinstance(result, dict) else None
    count = 0
    for item in contents if isinstance(contents, list) else ():
        for key in ("text", "blob"):
            mark = item.get(key) if isinstance(item, dict) else None
            if isinstance(mark, str) and mark in marked:
                item[key] = marked[mark]
                count += 1
    return count


def _encoded(string: LongString) -> bytes:
    return json.dumps(string.text()).encode("ascii")[1:-1]


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

"""One JSON text to Python values, with listed entries read into descriptors on the way; must not do I/O.

A page of a thousand entries is parsed and read in one pass inside pydantic-core, without a dictionary for
each. What its parser refuses and Python's takes (lone surrogates, numbers of any length) goes the slow way.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import SchemaValidator, core_schema

from .collection import no_collection
from .descriptors import RESOURCE_LIST, TEMPLATE_LIST
from .long_lists import LongList
from .long_messages import LongMessage
from .long_strings import LongString

MAX_DIGITS: Final = 400
BOM: Final = b"\xef\xbb\xbf"

Json = Any


def decode(line: bytes) -> Json:
    """The value of a JSON text; ``result.resources`` and ``result.resourceTemplates`` hold descriptors.

    Raises ValueError, or RecursionError where it is nested too deeply.
    """
    return _decoded(line, _MESSAGE, lenient=False)


def decode_long(message: LongMessage) -> Json:
    """The same of a long message; ``result.contents`` holds the long strings that belong there as they are.

    A mark that nobody can guess stands for what was lifted out. Where one is not found where it belongs (it
    meant something else, or one of its name came later), the message is put together as it came.
    """
    if message.flaw:
        raise ValueError(message.flaw)
    nonce = secrets.token_hex(16)
    marked = {f"{nonce}{at}": part for at, part in enumerate(message.parts) if not isinstance(part, bytes)}
    lenient = any(part.lenient for part in marked.values())
    skeleton = [
        part if isinstance(part, bytes) else _mark(part, f"{nonce}{at}")
        for at, part in enumerate(message.parts)
    ]
    value = _decoded(b"".join(skeleton), _MARKED, lenient=lenient)
    if _put_back(value, marked) == len(marked):
        return value
    whole = [part if isinstance(part, bytes) else _as_it_came(part) for part in message.parts]
    return _decoded(b"".join(whole), _MESSAGE, lenient=lenient)


def _decoded(line: bytes, schema: SchemaValidator, *, lenient: bool) -> Json:
    """``lenient``: the fast way is known to refuse it."""
    line = line.removeprefix(BOM)
    with no_collection():
        try:
            if not lenient:
                return schema.validate_json(line)
        except ValueError:
            pass
        text = line.decode("utf-8", "replace")
        return schema.validate_python(json.loads(text, parse_int=_bounded_int))


def _put_back(value: Json, marked: Mapping[str, LongString | LongList]) -> int:
    """Put what was lifted out where its marks belong; how many there were."""
    result = value.get("result") if isinstance(value, dict) else None
    if not isinstance(result, dict):
        return 0
    return _put_back_strings(result.get("contents"), marked) + sum(
        _put_back_entries(result, name, marked) for name in ("resources", "resourceTemplates")
    )


def _put_back_strings(contents: Json, marked: Mapping[str, LongString | LongList]) -> int:
    count = 0
    for item in contents if isinstance(contents, list) else ():
        for key in ("text", "blob"):
            mark = item.get(key) if isinstance(item, dict) else None
            if isinstance(mark, str) and mark in marked:
                item[key] = marked[mark]
                count += 1
    return count


def _put_back_entries(result: dict[str, Json], name: str, marked: Mapping[str, LongString | LongList]) -> int:
    """The entries that were read before stand first in their list; any other text in it is none."""
    entries = result.get(name)
    if not isinstance(entries, list) or not entries:
        return 0
    first = marked.get(entries[0]) if isinstance(entries[0], str) else None
    rest = [None if isinstance(entry, str) else entry for entry in entries]
    if not isinstance(first, LongList) or first.name != name:
        result[name] = rest
        return 0
    result[name] = first.entries + rest[1:]
    return 1


def _mark(part: LongString | LongList, name: str) -> bytes:
    return f'"{name}",'.encode() if isinstance(part, LongList) else name.encode()


def _as_it_came(part: LongString | LongList) -> bytes:
    return part.raw() if isinstance(part, LongList) else _encoded(part)


def _encoded(string: LongString) -> bytes:
    return json.dumps(string.text()).encode("ascii")[1:-1]


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


def _or_marks(entries: core_schema.ListSchema) -> core_schema.ListSchema:
    """A list of entries in which a text stays what it is."""
    mark = core_schema.str_schema(strict=True)
    return core_schema.list_schema(
        core_schema.union_schema([mark, entries["items_schema"]], mode="left_to_right")
    )


_MESSAGE = SchemaValidator(_object(result=_object(resources=RESOURCE_LIST, resourceTemplates=TEMPLATE_LIST)))
_MARKED = SchemaValidator(
    _object(result=_object(resources=_or_marks(RESOURCE_LIST), resourceTemplates=_or_marks(TEMPLATE_LIST)))
)

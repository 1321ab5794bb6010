"""JSON-RPC 2.0 messages: encoding, tolerant decoding, classification; must not know methods or do I/O.

Whatever arrives becomes one of the classes below; ``Rubbish`` is everything that is no message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .decoding import decode, decode_long
from .long_messages import LongMessage

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

_ID_AT_START = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"[^"]{0,9}"\s*,\s*)?"id"\s*:\s*"?(\d{1,18})"?\s*,')
_ID_AT_END = re.compile(
    rb'[\]}"\dels]\s*,\s*(?:"jsonrpc"\s*:\s*"[^"]{0,9}"\s*,\s*)?'
    rb'"id"\s*:\s*"?(\d{1,18})"?\s*(?:,\s*"jsonrpc"\s*:\s*"[^"]{0,9}"\s*)?\}\s*\Z'
)

Json = Any


@dataclass(frozen=True, slots=True)
class Answer:
    """A response with a result, whatever the result is."""

    id: int
    result: Json


@dataclass(frozen=True, slots=True)
class Refusal:
    """A response with an error; ``code`` is as sent, None where there is none, ``message`` never empty."""

    id: int
    code: int | str | None
    message: str
    data: Json = None


@dataclass(frozen=True, slots=True)
class Call:
    """A request that the peer makes; ``id`` goes back unchanged."""

    id: int | str
    method: str
    params: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that wants no answer."""

    method: str
    params: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Batch:
    """An array of messages (revision 2025-03-26 only), each classified by itself."""

    messages: tuple[Answer | Refusal | Call | Notification | Rubbish, ...]


@dataclass(frozen=True, slots=True)
class Rubbish:
    """No message; ``reason`` is a phrase. ``id`` is the request it was meant for, where that can be told."""

    reason: str
    id: int | None = None


Message = Answer | Refusal | Call | Notification | Batch | Rubbish


def request(identity: int, method: str, params: Mapping[str, Json]) -> dict[str, Json]:
    """A request, ready to encode."""
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}


def notification(method: str, params: Mapping[str, Json] | None = None) -> dict[str, Json]:
    """A notification, ready to encode."""
    message: dict[str, Json] = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def encode(message: Mapping[str, Json] | Sequence[Mapping[str, Json]]) -> bytes:
    """ASCII JSON without newlines: safe for every line reader, and for strings with lone surrogates."""
    return json.dumps(message, separators=(",", ":")).encode("ascii")


def read(message: bytes | LongMessage) -> Message:
    """Decode and classify one message; never raises. What is long in contents is left as a ``LongString``."""
    try:
        value = decode(message) if isinstance(message, bytes) else decode_long(message)
    except (ValueError, RecursionError) as error:
        ends = (message, message) if isinstance(message, bytes) else (message.head, message.tail)
        return Rubbish(f"not JSON that can be read ({_first_line(error)})", find_id(*ends))
    return classify(value)


def classify(value: Json) -> Message:
    """What kind of message a decoded value is. ``jsonrpc`` may be missing, an id may be "3" or 3.0 for 3."""
    if isinstance(value, list):
        if not value:
            return Rubbish("an empty array")
        return Batch(tuple(_classify_object(item) for item in value))
    return _classify_object(value)


def find_id(head: bytes, tail: bytes) -> int | None:
    """The request that a response belongs to, from the line's two ends; None where it cannot be told."""
    found = _ID_AT_START.match(head) or _ID_AT_END.search(tail)
    return int(found.group(1)) if found else None


def is_nested_deeper(value: Json, levels: int) -> bool:
    """Whether arrays and objects are in each other in more levels than that; of very many, none is sent."""
    layer = _nested((value,))
    for _ in range(levels):
        layer = [inner for outer in layer for inner in _nested(outer)]
    return bool(layer)


def _nested(value: Json) -> list[Json]:
    """The arrays and objects right in it."""
    members = value.values() if isinstance(value, dict) else value
    return [member for member in members if isinstance(member, dict | list)]


def _classify_object(value: Json) -> Answer | Refusal | Call | Notification | Rubbish:
    if not isinstance(value, dict):
        return Rubbish(f"a bare {type(value).__name__}")
    method, identity = value.get("method"), value.get("id")
    if isinstance(method, str):
        return _classify_call(method, identity, value)
    if "result" not in value and "error" not in value:
        return Rubbish("an object that is no message")
    number = number_of(identity)
    if number is None:
        return Rubbish(f"a response without a usable id{_error_text(value.get('error'))}")
    if value.get("error") is not None:
        return _refusal(number, value["error"])
    return Answer(number, value.get("result"))


def _classify_call(method: str, identity: Json, value: dict[str, Json]) -> Call | Notification | Rubbish:
    params = value.get("params")
    if not isinstance(params, dict):
        params = {}
    if identity is None:
        return Notification(method, params)
    if isinstance(identity, (int, str)) and not isinstance(identity, bool):
        return Call(identity, method, params)
    return Rubbish(f"a {_shown(method)} request with an unusable id")


def _refusal(identity: int, error: Json) -> Refusal:
    if not isinstance(error, dict):
        said = isinstance(error, str) and error.strip()
        return Refusal(identity, None, _shown(error) if said else "an error without a message")
    code, message = error.get("code"), error.get("message")
    if isinstance(code, float) and code.is_integer():
        code = int(code)
    if isinstance(code, bool) or not isinstance(code, (int, str)):
        code = None
    if not isinstance(message, str) or not message.strip():
        message = "an error without a message"
    return Refusal(identity, code, message, error.get("data"))


def number_of(identity: Json) -> int | None:
    """The request that an id or a progress token stands for, in whatever spelling it came back."""
    if isinstance(identity, bool):
        return None
    if isinstance(identity, str) and identity.isascii() and identity.isdigit() and len(identity) < 19:
        return int(identity)
    if isinstance(identity, float) and identity.is_integer():
        return int(identity)
    return identity if isinstance(identity, int) else None


def _error_text(error: Json) -> str:
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return f": {_shown(error['message'])}"
    return ""


def _shown(text: str) -> str:
    return text if len(text) <= 200 else text[:200] + "…"


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]

"""The ``contents`` of a ``resources/read`` result, item by item; must not ask for them or interpret them.

An item that cannot be decoded becomes an ``UnreadableItem`` and costs nothing else. Specification 2026-07-28,
server/resources.
"""

from __future__ import annotations

import re
from typing import Any

from .base64_text import Base64Decoder
from .descriptors import clean_mime_type
from .long_strings import LongBase64, LongString, LongText
from .pages import ttl_ms
from .resources import BlobItem, Item, ReadResult, TextItem, UnreadableItem

Json = Any

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def read_result(result: dict[str, Json]) -> ReadResult | None:
    """Read the whole result; None if ``contents`` is no list. Takes time in proportion to its size."""
    contents = result.get("contents")
    if not isinstance(contents, list):
        return None
    notes: list[str] = []
    items = tuple(_item(raw, number, notes) for number, raw in enumerate(contents, 1))
    scope = "public" if result.get("cacheScope") == "public" else "private"
    return ReadResult(items, ttl_ms(result.get("ttlMs")), scope, tuple(notes))


def size_of(result: dict[str, Json]) -> int:
    """About how many characters of content there are to decode or to put together."""
    contents = result.get("contents")
    items = contents if isinstance(contents, list) else []
    values = (item.get(key) for item in items if isinstance(item, dict) for key in ("text", "blob"))
    return sum(len(value) for value in values if isinstance(value, str | LongText))


def decode_base64(text: str | LongString) -> bytes:
    """The bytes that a base64 text means. Raises ValueError, with a phrase that says what is wrong."""
    if isinstance(text, LongBase64):
        return text.data()
    decoder = Base64Decoder()
    pieces = [text] if isinstance(text, str) else text.pieces
    pieces.reverse()
    while pieces:
        decoder.feed(pieces.pop())
    return decoder.end()


def _item(raw: Json, number: int, notes: list[str]) -> Item:
    if not isinstance(raw, dict):
        return UnreadableItem(None, None, f"Item {number} of the answer is no object.")
    uri = raw.get("uri")
    if not isinstance(uri, str) or not uri:
        uri = None
    mime_type, text, blob = clean_mime_type(raw.get("mimeType")), raw.get("text"), raw.get("blob")
    if isinstance(text, str | LongText):
        if blob is not None:
            notes.append(f"Item {number} has both text and blob; the text is used.")
        return TextItem(uri, mime_type, _clean(text))
    if not isinstance(blob, str | LongString):
        return UnreadableItem(
            uri, mime_type, f"Item {number} of the answer has neither text nor blob as a string."
        )
    try:
        return BlobItem(uri, mime_type, decode_base64(blob))
    except ValueError as error:
        return UnreadableItem(uri, mime_type, f"The blob of item {number} is not valid base64: {error}.")


def _clean(text: str | LongText) -> str:
    if isinstance(text, str):
        return without_lone_surrogates(text)
    if text.lenient:
        text.pieces[:] = map(without_lone_surrogates, text.pieces)
    return text.text()


def without_lone_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which no encoding can carry."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", text)
    return text

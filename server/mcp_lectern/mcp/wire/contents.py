"""The ``contents`` of a ``resources/read`` result, item by item; must not ask for them or interpret them.

An item that cannot be decoded becomes an ``UnreadableItem`` and costs nothing else. Specification 2026-07-28,
server/resources.
"""

from __future__ import annotations

import binascii
import re
from typing import Any, Final

from .descriptors import clean_mime_type
from .pages import ttl_ms
from .resources import BlobItem, Item, ReadResult, TextItem, UnreadableItem

SLICE_CHARACTERS: Final = 1024 * 1024

Json = Any

_BASE64 = re.compile(r"[A-Za-z0-9+/]*\Z")
_REGULAR = re.compile(r"[A-Za-z0-9+/]*={0,2}\Z")
_WHITE_SPACE = re.compile(r"\s+")
_URL_ALPHABET = str.maketrans("-_", "+/")
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
    """About how many characters of content there are to decode."""
    contents = result.get("contents")
    items = contents if isinstance(contents, list) else []
    values = (item.get(key) for item in items if isinstance(item, dict) for key in ("text", "blob"))
    return sum(len(value) for value in values if isinstance(value, str))


def decode_base64(text: str) -> bytes:
    """Decode base64 that may lack padding, hold white space, or use the URL alphabet (but not both).

    Raises ValueError, with a phrase that says what is wrong. In slices, so that other threads get turns.
    """
    if not text.isascii():
        raise ValueError("it holds characters outside ASCII")
    if not _REGULAR.match(text):
        text = _regular(text)
    # A copy of the whole text would be as large as the document once more.
    length = len(text) - text[-2:].count("=")
    if length % 4 == 1:
        raise ValueError("its length is not one that base64 can have")
    padded = text if len(text) % 4 == 0 else text[:length] + "=" * (-length % 4)
    slices = range(0, len(padded), SLICE_CHARACTERS)
    return b"".join(binascii.a2b_base64(padded[start : start + SLICE_CHARACTERS]) for start in slices)


def _regular(text: str) -> str:
    text = _WHITE_SPACE.sub("", text).rstrip("=")
    if "-" in text or "_" in text:
        if "+" in text or "/" in text:
            raise ValueError("it mixes the two base64 alphabets")
        text = text.translate(_URL_ALPHABET)
    if not _BASE64.match(text):
        raise ValueError("it holds characters that are not base64")
    return text


def _item(raw: Json, number: int, notes: list[str]) -> Item:
    if not isinstance(raw, dict):
        return UnreadableItem(None, None, f"Item {number} of the answer is no object.")
    uri = raw.get("uri")
    if not isinstance(uri, str) or not uri:
        uri = None
    mime_type, text, blob = clean_mime_type(raw.get("mimeType")), raw.get("text"), raw.get("blob")
    if isinstance(text, str):
        if blob is not None:
            notes.append(f"Item {number} has both text and blob; the text is used.")
        return TextItem(uri, mime_type, without_lone_surrogates(text))
    if not isinstance(blob, str):
        return UnreadableItem(
            uri, mime_type, f"Item {number} of the answer has neither text nor blob as a string."
        )
    try:
        return BlobItem(uri, mime_type, decode_base64(blob))
    except ValueError as error:
        return UnreadableItem(uri, mime_type, f"The blob of item {number} is not valid base64: {error}.")


def without_lone_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which no encoding can carry."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", text)
    return text

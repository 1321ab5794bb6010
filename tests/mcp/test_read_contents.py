"""The items of a read, one by one."""

from __future__ import annotations

import base64
import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.mcp.wire.base64_text import SLICE_CHARACTERS
from mcp_lectern.mcp.wire.contents import decode_base64, read_result
from mcp_lectern.mcp.wire.resources import BlobItem, ReadResult, TextItem, UnreadableItem


def items_of(*contents: Any) -> ReadResult:
    result = read_result({"contents": list(contents)})
    assert result is not None
    return result


@pytest.mark.case("RD-03")
@pytest.mark.parametrize(
    "result", [{}, {"contents": None}, {"contents": {}}, {"content": []}, {"contents": "x"}]
)
def test_rd_03_without_a_list_of_contents_there_is_no_result(result: dict[str, Any]) -> None:
    assert read_result(result) is None


@pytest.mark.case("RD-03")
def test_rd_03_an_empty_list_and_an_empty_text_are_results() -> None:
    assert items_of().items == ()
    assert items_of({"uri": "a://1", "text": ""}).items == (TextItem("a://1", None, ""),)


@pytest.mark.case("RD-03")
def test_rd_03_text_wins_over_blob_and_that_is_noted() -> None:
    result = items_of({"uri": "a://1", "text": "t", "blob": "aGk="})
    assert result.items == (TextItem("a://1", None, "t"),)
    assert result.notes == ("Item 1 has both text and blob; the text is used.",)


@pytest.mark.case("RD-03")
@pytest.mark.parametrize(
    "item", [{"uri": "a://1"}, {"uri": "a://1", "text": 123}, {"uri": "a://1", "blob": [1]}, {"text": None}]
)
def test_rd_03_an_item_without_usable_content_is_unreadable_and_costs_no_other(item: dict[str, Any]) -> None:
    first, second = items_of(item, {"text": "fine"}).items
    assert isinstance(first, UnreadableItem)
    assert "item 1" in first.reason.lower()
    assert second == TextItem(None, None, "fine")


def test_an_item_that_is_no_object_is_unreadable() -> None:
    assert all(isinstance(item, UnreadableItem) for item in items_of(7, None, "x", []).items)


@pytest.mark.case("RD-05")
@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"text": "x", "mimeType": "image/png"}, TextItem(None, "image/png", "x")),
        ({"text": "H4sIAAAAAAAA"}, TextItem(None, None, "H4sIAAAAAAAA")),
        ({"blob": "aGk=", "mimeType": "text/plain"}, BlobItem(None, "text/plain", b"hi")),
        ({"blob": "/w==", "mimeType": "text/plain\r\n"}, BlobItem(None, "text/plain", b"\xff")),
        ({"blob": ""}, BlobItem(None, None, b"")),
    ],
)
def test_rd_05_text_stays_text_and_a_blob_is_exactly_its_bytes(
    item: dict[str, Any], expected: object
) -> None:
    assert items_of(item).items == (expected,)


@pytest.mark.case("RD-05")
@given(st.binary(max_size=300), st.booleans(), st.booleans(), st.integers(1, 76))
def test_rd_05_base64_in_every_dialect(data: bytes, padded: bool, urlsafe: bool, width: int) -> None:
    text = (base64.urlsafe_b64encode if urlsafe else base64.b64encode)(data).decode()
    if not padded:
        text = text.rstrip("=")
    wrapped = "\r\n ".join(text[start : start + width] for start in range(0, len(text), width))
    assert decode_base64(text) == data
    assert decode_base64(wrapped) == data


@pytest.mark.parametrize(
    "text", ["a", "aaaaa", "+-aa", "a=aa", "é", "a*aa", "data:image/png;base64,aGk=", "aGk\x00"]
)
def test_what_is_no_base64_is_said_to_be_none(text: str) -> None:
    (item,) = items_of({"uri": "a://1", "blob": text, "mimeType": "image/png"}).items
    assert isinstance(item, UnreadableItem)
    assert (item.uri, item.mime_type) == ("a://1", "image/png")
    assert "base64" in item.reason


@given(st.text())
def test_decoding_raises_nothing_but_value_errors(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(decode_base64(text), bytes)


def test_a_blob_of_several_slices_is_whole() -> None:
    data = bytes(range(256)) * (3 * SLICE_CHARACTERS // 256)
    assert decode_base64(base64.b64encode(data).decode()) == data


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    assert items_of({"text": "a\ud800b"}).items == (TextItem(None, None, "a\ufffdb"),)


def test_hints_and_odd_members() -> None:
    result = read_result({"contents": [{"uri": 7, "text": "x"}], "ttlMs": 60000, "cacheScope": "public"})
    assert result == ReadResult((TextItem(None, None, "x"),), 60000, "public")
    assert read_result({"contents": [], "ttlMs": -1, "cacheScope": "secret"}) == ReadResult(())

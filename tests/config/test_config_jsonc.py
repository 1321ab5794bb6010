"""JSON as people write it in configuration files, and the places of its keys."""

from __future__ import annotations

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.config import jsonc

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
ENTRY = '{"servers": {"docs": {"command": "run", "url": "http://x//y", "note": "/* no */"}}}'


@pytest.mark.case("CFG-01")
@pytest.mark.parametrize(
    "text",
    [
        ENTRY,
        "// first\n" + ENTRY.replace("{", "{ // here\n").replace("}", "/* there */ }"),
        ENTRY.replace('*/"}', '*/",}').replace("}}", "},}"),
        ENTRY.replace('*/"}', '*/", // last\n }'),
        ENTRY.replace(": ", ":\r\n").replace(", ", ",\r\n\t"),
        "/**/" + ENTRY + "/***/ // end",
    ],
)
def test_cfg_01_comments_and_commas_change_nothing(text: str) -> None:
    entry = {"command": "run", "url": "http://x//y", "note": "/* no */"}
    assert jsonc.parse(text).value == {"servers": {"docs": entry}}


@pytest.mark.case("CFG-01")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_cfg_01_a_file_is_read_in_the_encodings_that_editors_write(encoding: str) -> None:
    text = '{"é": "日本😀"}'
    assert jsonc.parse(jsonc.decode(text.encode(encoding))).value == {"é": "日本😀"}


@pytest.mark.case("CFG-01")
@pytest.mark.parametrize(
    ("text", "line", "column", "word"),
    [
        ("", 0, 0, "empty"),
        (" // only a comment\n", 1, 0, "empty"),
        ('{\n  "servers": {\n    "docs": {', 2, 12, "never closed"),
        ('{\n  "servers": ', 0, 0, "never closed"),
        ('{"a": 1 "b": 2}', 0, 8, "“,”"),
        ('{"a" 1}', 0, 5, "“:”"),
        ("{'a': 1}", 0, 1, "double quotes"),
        ('{"a": "x\n"}', 0, 6, "not closed"),
        ('{\r\n"p": "C:\\Users"}', 1, 8, "backslash"),
        ('{"a": 01}', 0, 6, "value"),
        ('{"a": NaN}', 0, 6, "value"),
        ('{"a": 1} {', 0, 9, "follows"),
        ("/* open", 0, 0, "comment"),
        ("[" * 100_000, 0, 64, "Nested"),
        ("[,]", 0, 1, "value"),
    ],
)
def test_cfg_01_a_broken_file_is_reported_at_its_place(text: str, line: int, column: int, word: str) -> None:
    with pytest.raises(jsonc.JsoncError, match=word) as raised:
        jsonc.parse(text)
    assert raised.value.place == (line, column)


@pytest.mark.case("CFG-01")
@pytest.mark.parametrize("data", [b'{\n "a": "\xff"}', b"\xff\xfe{\x00\x00"])
def test_cfg_01_bytes_that_are_no_text_are_reported(data: bytes) -> None:
    with pytest.raises(jsonc.JsoncError, match="UTF"):
        jsonc.decode(data)


def test_a_bad_byte_has_a_place() -> None:
    with pytest.raises(jsonc.JsoncError) as raised:
        jsonc.decode(b'{\n "\xc3\xa9": "\xff"}')
    assert raised.value.place == (1, 7)


def test_every_key_has_its_place() -> None:
    document = jsonc.parse('{\r\n "servers": {\r  "é": {\n   "command": "x"}}}')
    assert document.place("servers") == (1, 1)
    assert document.place("servers", "é") == (2, 2)
    assert document.place("servers", "é", "command") == (3, 3)
    assert document.place("servers", "é", "absent", "deeper") == (2, 2)
    assert document.place("absent") == (0, 0)


def test_the_last_of_two_equal_keys_counts_and_both_are_known() -> None:
    document = jsonc.parse('{"servers": {"a": 1, "b": 2,\n "a": 3}}')
    assert document.value == {"servers": {"b": 2, "a": 3}}
    assert document.duplicates == (("servers", "a"),)
    assert document.place("servers", "a") == (1, 1)


@pytest.mark.parametrize("text", ["9" * 5000, "-" + "9" * 5000, "1e999"])
def test_a_number_that_python_cannot_hold_is_infinite(text: str) -> None:
    value = jsonc.parse(text).value
    assert isinstance(value, float)
    assert abs(value) == float("inf")


@pytest.mark.parametrize(
    "piece", ["/", "/*", "//", '"', "\\", "{", "1", "-", "/* *", '{"":', "[", " ", "tru"]
)
def test_a_mebibyte_of_anything_takes_little_time(piece: str) -> None:
    text = piece * (1024 * 1024 // len(piece))
    begin = time.process_time()
    with pytest.raises(jsonc.JsoncError):
        jsonc.parse(text + "!")
    assert time.process_time() - begin < 2


@given(JSON)
def test_what_json_reads_is_read_alike(value: object) -> None:
    for text in (json.dumps(value), json.dumps(value, indent=2, ensure_ascii=False)):
        assert jsonc.parse(text).value == value


@given(st.text(alphabet='{}[]",:/*\\ \n1truefalsn-.e"', max_size=40))
def test_no_text_raises_anything_else(text: str) -> None:
    with contextlib.suppress(jsonc.JsoncError):
        value = jsonc.parse(text).value
        assert value is None or isinstance(value, (bool, int, float, str, list, dict))


@given(st.binary(max_size=30))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with contextlib.suppress(jsonc.JsoncError):
        assert isinstance(jsonc.decode(data), str)

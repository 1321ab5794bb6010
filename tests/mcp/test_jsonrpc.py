"""What a line is, whatever it holds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.mcp.wire.jsonrpc import (
    Answer,
    Batch,
    Call,
    Message,
    Notification,
    Refusal,
    Rubbish,
    encode,
    find_id,
    is_nested_deeper,
    read,
    request,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.case("IO-01")
@pytest.mark.parametrize(
    "line",
    [
        b"Server running on stdio",
        b"[",
        b"123",
        b'"x"',
        b"null",
        b"{}",
        b'{"foo":1}',
        b"\x1b[32mready\x1b[0m",
        b"\xff",
        b"[]",
    ],
)
def test_io_01_what_is_no_message_is_rubbish_with_a_reason(line: bytes) -> None:
    message = read(line)
    assert isinstance(message, Rubbish)
    assert message.reason
    assert message.id is None


@pytest.mark.case("IO-08")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id":3,"result":{}}', Answer(3, {})),
        ('{"jsonrpc":"2.0","id":"3","result":null}', Answer(3, None)),
        ('{"jsonrpc":"2.0","id":3.0,"result":1}', Answer(3, 1)),
        ('{"id":3,"result":{},"error":null}', Answer(3, {})),
        ('{"id":3,"result":{},"error":{"code":1,"message":"no"}}', Refusal(3, 1, "no")),
        (
            '{"id":3,"error":{"code":"404","message":"gone","data":{"uri":"a"}}}',
            Refusal(3, "404", "gone", {"uri": "a"}),
        ),
        ('{"id":3,"error":" "}', Refusal(3, None, "an error without a message")),
        ('{"id":3,"error":{"code":-32603.0}}', Refusal(3, -32603, "an error without a message")),
        ('{"id":3,"error":"boom"}', Refusal(3, None, "boom")),
        ('{"id":3,"error":{"code":true,"message":7}}', Refusal(3, None, "an error without a message")),
        ('{"id":null,"error":{"code":1,"message":"bad"}}', Rubbish("a response without a usable id: bad")),
        ('{"error":{"code":1,"message":"bad"}}', Rubbish("a response without a usable id: bad")),
        ('{"id":true,"result":{}}', Rubbish("a response without a usable id")),
        ('{"id":"x","method":"ping"}', Call("x", "ping", {})),
        ('{"method":"notifications/stderr","params":[1]}', Notification("notifications/stderr", {})),
        ('{"id":[1],"method":"ping"}', Rubbish("a ping request with an unusable id")),
        ('\ufeff{"id":1,"result":2}', Answer(1, 2)),
    ],
)
def test_io_08_odd_ids_and_shapes(line: str, message: Message) -> None:
    assert read(line.encode()) == message


@pytest.mark.case("IO-01")
def test_io_01_a_batch_is_classified_message_by_message() -> None:
    batch = read(b'[{"id":1,"result":{}},7,{"method":"notifications/x"}]')
    assert batch == Batch((Answer(1, {}), Rubbish("a bare int"), Notification("notifications/x", {})))


@pytest.mark.case("LST-03")
def test_lst_03_odd_numbers_cost_nothing_but_themselves() -> None:
    digits = "9" * 5000
    message = read(f'{{"id":1,"result":{{"a":{digits},"b":1e400,"c":NaN,"a2":1,"d":12}}}}'.encode())
    assert isinstance(message, Answer)
    assert message.result["d"] == 12


@pytest.mark.case("LST-03")
def test_lst_03_nesting_without_end_costs_that_one_message_and_names_its_request() -> None:
    depth = 100_000
    message = read(b'{"jsonrpc":"2.0","id":7,"result":' + b"[" * depth + b"]" * depth + b"}")
    assert isinstance(message, Rubbish)
    assert message.id == 7


def test_lone_surrogates_and_bad_utf8_are_read() -> None:
    assert read(rb'{"id":1,"result":{"t":"\ud800"}}') == Answer(1, {"t": "\ud800"})
    assert read(b'{"id":1,"result":{"t":"\xff"}}') == Answer(1, {"t": "\ufffd"})


@given(st.binary(max_size=200))
def test_reading_bytes_never_raises(line: bytes) -> None:
    read(line)


@given(JSON)
def test_reading_any_json_never_raises(value: object) -> None:
    read(json.dumps(value).encode())
    read(json.dumps({"id": 1, "result": {"resources": value, "resourceTemplates": value}}).encode())
    read(json.dumps({"id": 1, "error": value, "method": value, "params": value}).encode())


@given(st.text(st.characters()), st.text(st.characters(categories=["Cs", "L", "Zl", "Cc"])))
def test_what_is_sent_is_one_ascii_line_that_reads_back(method: str, uri: str) -> None:
    line = encode(request(5, method, {"uri": uri}))
    assert line.isascii()
    assert b"\n" not in line
    assert read(line) == Call(5, method, {"uri": uri})


@pytest.mark.case("RD-08")
@pytest.mark.parametrize(
    ("head", "tail", "found"),
    [
        (b'{"jsonrpc":"2.0","id":12,"result":{"con', b'"}]}}', 12),
        (b'{ "id" : "12", "jsonrpc":"2.0","result":{"con', b'"}]}}', 12),
        (b'{"result":{"contents":[{"text":"', b'"}]},"jsonrpc":"2.0","id":12}', 12),
        (b'{"result":{"contents":[{"text":"', b'"}]},"id":12,"jsonrpc":"2.0"}', 12),
        (b'{"jsonrpc":"2.0","result":{"id":12,"x":"', b'"}}', None),
        (b'{"result":{"x":"', b'","id":12}}', None),
        (b"xxxx", b"xxxx", None),
    ],
)
def test_rd_08_the_id_of_a_line_is_found_at_its_ends(head: bytes, tail: bytes, found: int | None) -> None:
    assert find_id(head, tail) == found


@given(st.recursive(st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_nesting_is_counted_in_arrays_and_objects_alike(value: Any) -> None:
    def depth(inner: Any) -> int:
        members = inner.values() if isinstance(inner, dict) else inner if isinstance(inner, list) else None
        return 0 if members is None else 1 + max(map(depth, members), default=0)

    levels = depth(value)
    assert not is_nested_deeper(value, levels)
    assert is_nested_deeper([value], levels)
    assert is_nested_deeper({"a": value, "b": None}, levels)


def test_a_nesting_that_python_cannot_follow_is_counted_all_the_same() -> None:
    value: Any = None
    for _ in range(100_000):
        value = [value]
    assert is_nested_deeper(value, 200)
    while value:
        (value,) = value

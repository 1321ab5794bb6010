"""Server-sent events out of bytes, whatever the pieces."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.mcp.wire.event_stream import Event, EventStream
from mcp_lectern.mcp.wire.framing import Oversize
from mcp_lectern.mcp.wire.gathering import LONG_MESSAGE
from mcp_lectern.mcp.wire.jsonrpc import Answer, read
from mcp_lectern.mcp.wire.long_messages import LongMessage
from mcp_lectern.mcp.wire.long_strings import LongText

MESSAGE = '{"jsonrpc":"2.0","id":1,"result":{"text":"a\u2028b – é"}}'.encode()


def parsed(
    data: bytes, *, size: int | None = None, limit: int = 1000
) -> tuple[list[Event | Oversize], EventStream]:
    stream = EventStream(limit)
    step = size or max(1, len(data))
    events: list[Event | Oversize] = []
    for start in range(0, len(data), step):
        events.extend(stream.feed(data[start : start + step]))
    return events, stream


SPELLINGS = {
    "LF": b"data: %b\n\n",
    "CRLF": b"data: %b\r\n\r\n",
    "CR": b"data: %b\r\r",
    "mixed": b"event: message\rdata: %b\r\n\n",
    "no space": b"data:%b\n\n",
    "BOM": b"\xef\xbb\xbfdata: %b\n\n",
    "comments": b": keepalive\n\n:\ndata: %b\n: more\n\n",
    "other fields": b"foo: bar\nbaz\nevent: message\ndata: %b\nretry: x\n\n",
    "empty event before": b"\n\ndata: %b\n\n",
    "name of an empty event": b"event: other\n\ndata: %b\n\n",
}


@pytest.mark.case("HTTP-03")
@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_http_03_one_message_each_however_it_is_cut(spelling: bytes) -> None:
    data = spelling % MESSAGE
    for size in range(1, len(data) + 1):
        assert parsed(data, size=size)[0] == [Event("message", MESSAGE)], size


@pytest.mark.case("HTTP-03")
def test_http_03_several_data_lines_are_one_message() -> None:
    assert parsed(b'data: {"a":\ndata: 1}\ndata\n\n')[0] == [Event("message", b'{"a":\n1}\n')]


@pytest.mark.case("HTTP-03")
def test_http_03_an_event_without_data_only_primes() -> None:
    events, stream = parsed(b"id: e1\nretry: 250\ndata:\n\n")
    assert events == []
    assert (stream.last_id, stream.retry) == ("e1", 250)


def test_the_id_counts_from_the_end_of_its_event_and_stays() -> None:
    assert parsed(b"id: 1\ndata: a\n\nid: 2\ndata: b\n")[1].last_id == "1"
    assert parsed(b"id: 1\ndata: a\n\ndata: b\n\n")[1].last_id == "1"
    assert parsed(b"id: 1\ndata: a\n\nid\ndata: b\n\n")[1].last_id == ""
    assert parsed(b"id: 1\ndata: a\n\nid: a\0b\ndata: b\n\n")[1].last_id == "1"


def test_a_truncated_event_is_none() -> None:
    assert parsed(b"data: a\n\ndata: b\n")[0] == [Event("message", b"a")]


def test_other_names_are_told() -> None:
    assert parsed(b"event: endpoint\ndata: /x\n\n")[0] == [Event("endpoint", b"/x")]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_an_oversize_event_is_told_twice_and_the_next_is_whole(size: int) -> None:
    big = b'{"id":1,' + b"x" * 5000 + b"}"
    events, stream = parsed(b"id: 9\ndata: " + big + b"\n\ndata: b\n\n", size=size)
    crossed, ended, after = events
    assert isinstance(crossed, Oversize)
    assert crossed.tail is None
    assert crossed.head.startswith(b'{"id":1,x')
    assert isinstance(ended, Oversize)
    assert ended.tail is not None
    assert ended.tail.endswith(b"xx}")
    assert after == Event("message", b"b")
    assert stream.last_id == "9"


def test_many_small_data_lines_are_bounded_too() -> None:
    events, _ = parsed(b"data: xxxxxxxx\n" * 1000 + b"\n", limit=1000)
    assert [type(event) for event in events] == [Oversize, Oversize]


BREAKS = st.sampled_from([b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r\n", b"\n\n\r\n\n"])
FIELDS = st.sampled_from([b"data: a", b"data:b", b"id: 1", b"event: x", b": c", b"", b"data"])


@given(st.lists(st.tuples(FIELDS, BREAKS), max_size=12))
def test_many_line_ends_together_are_what_they_are_one_by_one(lines: list[tuple[bytes, bytes]]) -> None:
    data = b"".join(field + ends for field, ends in lines)
    (whole, stream), (pieces, slow) = parsed(data), parsed(data, size=1)
    assert (whole, stream.last_id) == (pieces, slow.last_id)


def test_a_flood_of_line_ends_costs_little() -> None:
    began = time.thread_time()
    few = parsed(b": x\n" * 20_000)[0]
    middle = time.thread_time()
    many = parsed(b"\r\n" * 400_000)[0]
    assert (few, many) == ([], [])
    assert time.thread_time() - middle < middle - began


@given(st.binary(max_size=300), st.lists(st.integers(1, 20), max_size=30))
def test_pieces_make_no_difference(data: bytes, cuts: list[int]) -> None:
    whole, reference = parsed(data)
    stream, events, start = EventStream(1000), [], 0
    for length in [*cuts, len(data)]:
        events.extend(stream.feed(data[start : start + length]))
        start += length
    assert events == whole
    assert (stream.last_id, stream.retry) == (reference.last_id, reference.retry)


@given(st.text(alphabet=st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1))
def test_every_line_of_text_comes_back(text: str) -> None:
    assert parsed(b"data: " + text.encode() + b"\n\n", limit=10_000)[0] == [Event("message", text.encode())]


@pytest.mark.parametrize(
    "opening", [b"data: ", b"data:", b"\xef\xbb\xbfdata: ", b"id: 4\r\nevent: message\ndata: "]
)
@pytest.mark.parametrize("size", [1000, 65_536, 10_000_000])
def test_a_long_event_is_taken_apart_while_it_arrives(opening: bytes, size: int) -> None:
    text = "an ä and a line\n" * (3 * LONG_MESSAGE // 16)
    head, body = b'{"id":1,', json.dumps({"result": {"contents": [{"text": text}]}}).encode()[1:]
    data = opening + head + b"\rdata: " + body + b"\r\n\r\ndata: next\n\n"
    events, _ = parsed(data, size=size, limit=10 * LONG_MESSAGE)
    long, after = events
    assert isinstance(long, Event)
    assert isinstance(long.data, LongMessage)
    assert (long.data.head[:9], long.data.tail[-4:]) == (b'{"id":1,\n', b"}]}}")
    answer = read(long.data)
    assert isinstance(answer, Answer)
    (item,) = answer.result["contents"]
    assert isinstance(item["text"], LongText)
    assert item["text"].text() == text
    assert after == Event("message", b"next")


@pytest.mark.parametrize("line", [b": a comment ", b"other: "])
def test_a_long_line_that_is_no_data_is_none(line: bytes) -> None:
    data = line + b"x" * 200_000 + b"\ndata: a\n\n"
    assert parsed(data, size=1000, limit=1_000_000)[0] == [Event("message", b"a")]

"""Lines out of bytes, however the bytes are cut."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.mcp.wire.framing import LineSplitter, Oversize
from mcp_lectern.mcp.wire.gathering import HEAD_BYTES, TAIL_BYTES


def lines_of(chunks: list[bytes], limit: int = 100) -> list[bytes | Oversize]:
    splitter = LineSplitter(limit)
    found = [line for chunk in chunks for line in splitter.feed(chunk)]
    return found + list(splitter.close())


def test_a_stream_split_at_every_byte_gives_the_same_lines() -> None:
    stream = b'{"a":1}\r\n\n  \n' + "é\u2028\u0085x".encode() + b"\n" + b"y" * 150 + b"\nlast without newline"
    whole = [line for line in lines_of([stream]) if isinstance(line, bytes)]
    assert whole == [b'{"a":1}\r', "é\u2028\u0085x".encode(), b"last without newline"]
    for cut in range(len(stream) + 1):
        parts = lines_of([stream[:cut], stream[cut:]])
        assert [line for line in parts if isinstance(line, bytes)] == whole
        ends = [line for line in parts if isinstance(line, Oversize) and line.tail is not None]
        assert [(line.head[:3], line.tail, line.length) for line in ends] == [(b"yyy", b"y" * 150, 150)]
    one_by_one = lines_of([stream[index : index + 1] for index in range(len(stream))])
    assert [line for line in one_by_one if isinstance(line, bytes)] == whole


@given(
    st.lists(
        st.binary(min_size=1, max_size=20).filter(lambda line: not line.isspace() and b"\n" not in line)
    ),
    st.data(),
)
def test_any_lines_in_any_chunks_come_out_whole(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    chunks = []
    while stream:
        cut = data.draw(st.integers(1, len(stream)))
        chunks.append(stream[:cut])
        stream = stream[cut:]
    assert lines_of(chunks) == lines


@pytest.mark.case("RD-08")
def test_rd_08_an_oversize_line_is_reported_when_it_crosses_the_limit_and_at_its_end() -> None:
    splitter = LineSplitter(10)
    assert list(splitter.feed(b"0123456789")) == []
    assert list(splitter.feed(b"a")) == [Oversize(b"0123456789a", None, 11)]
    assert list(splitter.feed(b"b" * 5000)) == []
    assert list(splitter.feed(b"z\nnext\n")) == [
        Oversize(b"0123456789a", b"b" * (TAIL_BYTES - 1) + b"z", 5012),
        b"next",
    ]


@pytest.mark.case("RD-08")
def test_rd_08_a_line_that_never_ends_needs_no_memory() -> None:
    splitter = LineSplitter(1024 * 1024)
    chunk = b"x" * 65536
    tracemalloc.start()
    reports = [report for _ in range(200 * 1024 * 1024 // 65536) for report in splitter.feed(chunk)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [type(report) for report in reports] == [Oversize]
    assert isinstance(reports[0], Oversize)
    assert len(reports[0].head) == HEAD_BYTES
    assert peak < 4 * 1024 * 1024


def test_a_line_of_exactly_the_limit_is_whole() -> None:
    assert lines_of([b"x" * 100 + b"\n"]) == [b"x" * 100]

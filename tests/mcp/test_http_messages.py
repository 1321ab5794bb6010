"""HTTP/1.1 as bytes: responses however they are cut, against h11; requests that cannot be misread."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_lectern.mcp.wire.http_request import header_lines, request_line, with_body
from mcp_lectern.mcp.wire.http_response import (
    MOST_HEAD,
    MOST_INTERIM,
    BadResponseError,
    End,
    Head,
    ResponseReader,
)

Verdict = tuple[Any, ...]
"""Status, fields, body, whether it is complete, whether the connection may be used again."""
FRAMING = ("content-length", "transfer-encoding")
"""What h11 writes anew."""
OK = b"HTTP/1.1 200 OK\r\n"
SIMPLE = OK + b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n3 \r\nabc\r\n0\r\nTrailer: x\r\n\r\n"
BOTH = OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"


def ours(pieces: list[bytes]) -> Verdict:
    reader = ResponseReader()
    events: list[Any] = []
    reusable, complete = False, True
    try:
        for piece in pieces:
            events += reader.feed(piece)
        reusable = reader.reusable
        events += reader.close()
    except BadResponseError:
        complete = False
    heads = [event for event in events if isinstance(event, Head)]
    ends = [event for event in events if isinstance(event, End)]
    body = b"".join(event for event in events if isinstance(event, bytes))
    assert len(heads) <= 1
    assert events[:1] == heads
    assert events[-1:] == ends or not ends
    assert len(ends) == complete
    if not heads:
        return (None, None, b"", complete, reusable)
    fields = [(name.lower(), value) for name, value in heads[0].fields if name.lower() not in FRAMING]
    return (heads[0].status, fields, body, complete, reusable)


def by_h11(pieces: list[bytes]) -> Verdict:
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="POST", target="/", headers=[("host", "x"), ("content-length", "0")]))
    connection.send(h11.EndOfMessage())
    events: list[Any] = []

    def take(piece: bytes) -> None:
        connection.receive_data(piece)
        while not isinstance(event := connection.next_event(), type):
            events.append(event)
            if isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
                break

    reusable = False
    try:
        for piece in filter(None, pieces):
            take(piece)
        reusable = connection.their_state is h11.DONE and not connection.trailing_data[0]
        take(b"")
    except h11.RemoteProtocolError:
        pass
    heads = [event for event in events if isinstance(event, h11.Response)]
    body = b"".join(bytes(event.data) for event in events if isinstance(event, h11.Data))
    complete = any(isinstance(event, h11.EndOfMessage) for event in events)
    if not heads:
        return (None, None, b"", complete, reusable)
    raw = heads[0].headers
    fields = [(decoded(name), decoded(value)) for name, value in raw if decoded(name) not in FRAMING]
    return (heads[0].status_code, fields, body, complete, reusable)


def decoded(text: bytes) -> str:
    return text.decode("latin-1")


@st.composite
def responses(draw: st.DrawFn) -> bytes:
    """Right and nearly right ones, all in ASCII, so that both sides decode alike."""
    lines = [draw(st.sampled_from(["HTTP/1.1 200 OK", "HTTP/1.1 404", "HTTP/1.0 200 OK", "HTTP/1.1 204 No"]))]
    lines += draw(
        st.lists(
            st.sampled_from(
                [
                    "Content-Type: application/json",
                    "Content-Length: 3",
                    "content-length: 3, 3",
                    "Content-Length: 4",
                    "Transfer-Encoding: chunked",
                    "transfer-encoding: Chunked",
                    "Transfer-Encoding: gzip, chunked",
                    "Connection: keep-alive, Close",
                    "X-Folded: a",
                    "\t and more",
                    "X: ",
                    "X:\tb ",
                    "bad header",
                    "X : y",
                    "X: a\x00b",
                ]
            ),
            max_size=4,
            unique=True,
        )
    )
    newline = draw(st.sampled_from(["\r\n", "\r\n", "\n"]))
    bodies = [b"abc", b"abcd", b"", b"3\r\nabc\r\n0\r\n\r\n", b"1;x\r\na\r\n002 \r\nbc\r\n0\r\nT: v\r\n\r\n"]
    head = (newline.join(lines) + newline * 2).encode()
    whole = head + draw(st.sampled_from(bodies)) + draw(st.sampled_from([b"", b"", b"more"]))
    kind = draw(st.sampled_from(["whole", "whole", "truncated", "garbage", "interim"]))
    at = draw(st.integers(0, len(whole)))
    if kind == "truncated":
        return whole[:at]
    if kind == "garbage":
        return whole[:at] + draw(st.text(st.characters(max_codepoint=127), min_size=1)).encode() + whole[at:]
    return b"HTTP/1.1 100 Continue\r\n\r\n" + whole if kind == "interim" else whole


def cut(whole: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted({place % (len(whole) + 1) for place in places}), len(whole)]
    return [whole[start:end] for start, end in pairwise(edges)]


@settings(max_examples=1500, deadline=None)
@given(whole=responses(), places=st.lists(st.integers(0, 10_000), max_size=6))
@example(whole=SIMPLE, places=[])
@example(whole=SIMPLE, places=list(range(len(SIMPLE))))
@example(whole=CHUNKED, places=list(range(len(CHUNKED))))
@example(whole=b"\r\n" + SIMPLE, places=[])
@example(whole=b"HTTP/1.1 200 \x7fOK\r\nX: a\x7fb\r\n\r\nabc", places=[])
def test_a_response_is_what_h11_says_however_it_is_cut(whole: bytes, places: list[int]) -> None:
    pieces = cut(whole, places)
    mine, theirs = ours(pieces), by_h11(pieces)
    assert mine[3] == theirs[3]
    if mine[3]:
        assert mine[:3] == tuple(theirs[:3])
        assert mine[4] <= theirs[4]
        assert mine[4] == theirs[4] or b"length" in whole.lower()
    else:
        # What is seen of one that is wrong depends on how early that is noticed.
        assert not mine[4]


@settings(max_examples=300, deadline=None)
@given(whole=st.one_of(responses(), st.binary(max_size=60)), places=st.lists(st.integers(0, 10_000)))
def test_how_a_response_is_cut_makes_no_difference(whole: bytes, places: list[int]) -> None:
    at_once, in_pieces = ours([whole]), ours(cut(whole, places))
    assert in_pieces[3:] == at_once[3:]
    assert in_pieces[:3] == at_once[:3] or not at_once[3]


def test_a_flood_of_small_chunks_is_one_piece() -> None:
    reader = ResponseReader()
    reader.feed(OK + b"Transfer-Encoding: chunked\r\n\r\n")
    whole = b"".join(b"%x;why=%d\r\n%b\r\n" % (size, size, b"x" * size) for size in [1, 20, 300] * 1000)
    *first, end = reader.feed(whole + b"0\r\n\r\n")
    assert first == [b"x" * 321_000]
    assert isinstance(end, End)
    assert reader.reusable


def test_headers_have_one_name_and_all_values() -> None:
    (head, *_) = ResponseReader().feed(
        OK + "Warn: a\r\nWARN: b\r\nX: ä\r\nContent-Length: 0\r\n\r\n".encode()
    )
    assert isinstance(head, Head)
    assert head.headers == {"warn": "a, b", "x": "ä", "content-length": "0"}
    (head, *_) = ResponseReader().feed(OK + b"X: \xe4\r\nContent-Length: 0\r\n\r\n")
    assert isinstance(head, Head)
    assert head.headers["x"] == "ä"


@pytest.mark.parametrize(
    ("whole", "reusable"),
    [
        (SIMPLE, True),
        (CHUNKED, True),
        (SIMPLE + b"H", False),
        (SIMPLE.replace(b"1.1", b"1.0"), False),
        (SIMPLE.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n"), False),
        (BOTH, False),
        (OK + b"\r\n{}", False),
    ],
)
def test_a_connection_is_used_again_only_where_the_end_is_certain(whole: bytes, reusable: bool) -> None:
    reader = ResponseReader()
    reader.feed(whole)
    assert reader.reusable is reusable


def endless_header() -> bytes:
    return OK + b"X: " + b"a" * (MOST_HEAD + 1)


def endless_headers() -> bytes:
    return OK + b"X: a\r\n" * (MOST_HEAD // 6 + 1) + b"\r\n"


def endless_interim() -> bytes:
    return b"HTTP/1.1 102 Processing\r\n\r\n" * (MOST_INTERIM + 1)


def endless_chunk_line() -> bytes:
    return OK + b"Transfer-Encoding: chunked\r\n\r\n1;" + b"a" * (MOST_HEAD + 1)


def endless_trailers() -> bytes:
    return OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"T: a\r\n" * (MOST_HEAD // 6 + 1)


@pytest.mark.parametrize(
    "endless", [endless_header, endless_headers, endless_interim, endless_chunk_line, endless_trailers]
)
@pytest.mark.parametrize("size", [1009, 1 << 20])
def test_what_never_ends_is_given_up(endless: Callable[[], bytes], size: int) -> None:
    whole = endless()
    reader = ResponseReader()

    def listen() -> None:
        for start in range(0, len(whole), size):
            reader.feed(whole[start : start + size])

    with pytest.raises(BadResponseError, match=r"head has more|comes to the point"):
        listen()


@pytest.mark.parametrize("said", [b"SSH-2.0-OpenSSH_9.2\r\n", b"220 mail", b"\x15\x03\x01", b"HTTPS/1.1 200"])
def test_another_protocol_is_noticed_before_it_ends(said: bytes) -> None:
    with pytest.raises(BadResponseError, match="no HTTP"):
        ResponseReader().feed(said)


@pytest.mark.parametrize("status", [b"101 Switching", b"099 Low", b"+20 OK", b"2000 OK", b""])
def test_a_status_that_ends_nothing_is_refused(status: bytes) -> None:
    with pytest.raises(BadResponseError):
        ResponseReader().feed(b"HTTP/1.1 " + status + b"\r\n\r\n")


def test_the_request_is_what_h11_reads() -> None:
    head = request_line("POST", b"/mcp?a=b") + header_lines([(b"Host", b"x:1"), (b"Mcp-Name", b"a b\tc")])
    server = h11.Connection(h11.SERVER)
    server.receive_data(with_body(head, b"{}") + with_body(request_line("GET", b"/"), None))
    request, data = server.next_event(), server.next_event()
    assert isinstance(request, h11.Request)
    assert isinstance(data, h11.Data)
    assert (request.method, request.target, data.data) == (b"POST", b"/mcp?a=b", b"{}")
    fields = [(b"host", b"x:1"), (b"mcp-name", b"a b\tc"), (b"content-length", b"2")]
    assert list(request.headers) == fields


@given(st.binary(max_size=20), st.binary(max_size=20))
@example(b"X", b"a\r\nY: b")
@example(b"X: y\r\nZ", b"")
def test_no_header_says_more_than_it_should(name: bytes, value: bytes) -> None:
    try:
        line = header_lines([(name, value)])
    except ValueError:
        return
    assert line == name + b": " + value + b"\r\n"
    assert not set(line[:-2]) & {0, 10, 13}


def test_a_value_that_cannot_be_sent_is_not_shown() -> None:
    with pytest.raises(ValueError, match="the header X-Key has a value that cannot be sent") as caught:
        header_lines([(b"X-Key", b"tiger\n")])
    assert "tiger" not in str(caught.value)


@pytest.mark.parametrize("target", [b"", b"/a b", b"/\r\nX: y", b"/\xff"])
def test_a_target_that_would_end_the_line_is_refused(target: bytes) -> None:
    with pytest.raises(ValueError, match="cannot be sent"):
        request_line("GET", target)

"""LSP's base protocol: bytes in, bodies out, however the bytes are cut."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.lsp.stdio import Frames, FramingError

BODIES = [b"{}", json.dumps({"text": "日本 \U0001f642\r\n\r\n"}).encode(), b"", b"x" * 300]


def _framed(body: bytes, header: str = "Content-Length: {}\r\n\r\n") -> bytes:
    return header.format(len(body)).encode() + body


def test_a_stream_of_frames_split_at_every_byte_gives_the_same_bodies() -> None:
    stream = b"".join(map(_framed, BODIES))
    for cut in range(len(stream) + 1):
        frames = Frames()
        assert [*frames.feed(stream[:cut]), *frames.feed(stream[cut:])] == BODIES
    frames = Frames()
    assert [body for at in range(len(stream)) for body in frames.feed(stream[at : at + 1])] == BODIES


@given(st.lists(st.binary(max_size=50), max_size=5), st.lists(st.integers(0, 400), max_size=8))
def test_any_bodies_come_back_whatever_the_cuts(bodies: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(map(_framed, bodies))
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    frames = Frames()
    pieces = [stream[start:end] for start, end in itertools.pairwise(places)]
    assert [body for piece in pieces for body in frames.feed(piece)] == bodies


@pytest.mark.parametrize(
    "header",
    [
        "content-length:{}\r\n\r\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length:  {} \r\n\r\n",
        "X-Unknown: 1\r\nCONTENT-LENGTH: {}\r\nContent-Type: x\r\n\r\n",
    ],
)
def test_a_header_may_be_written_in_any_order_and_case(header: str) -> None:
    assert list(Frames().feed(_framed(b"{}", header))) == [b"{}"]


@pytest.mark.parametrize(
    "noise", [b"Content-Length: -1\r\n\r\n", b"Content-Length: x\r\n\r\n", b"A: 1\r\n\r\n", b"y" * 20_000]
)
def test_what_is_no_frame_is_said_to_be_none_instead_of_being_kept(noise: bytes) -> None:
    with pytest.raises(FramingError, match="Content-Length"):
        list(Frames().feed(noise))

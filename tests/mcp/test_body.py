"""Compressed bodies: every byte of theirs, whatever the cuts, and an end to those that never end."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Iterable
from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.http_mcp import HttpMcp
from tests.support.http_server import HttpServer, Reply, Request

from mcp_lectern.mcp.connect import HttpParameters, connect
from mcp_lectern.mcp.errors import InvalidResult
from mcp_lectern.mcp.transport.body import MEMBERS, PIECE, BadEncodingError, Inflate, decoder

from .conftest import RecordingObserver


def bare(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def inflated(chunks: Iterable[bytes]) -> bytes:
    inflate = Inflate()
    return b"".join(piece for chunk in chunks for piece in inflate.feed(chunk))


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(place % (len(data) + 1) for place in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(places)]


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, bare])
@given(data=st.binary(max_size=2000), cuts=st.lists(st.integers(0, 5000), max_size=8))
def test_every_way_to_deflate_is_read_whatever_the_cuts(pack: object, data: bytes, cuts: list[int]) -> None:
    assert callable(pack)
    assert inflated(cut(pack(data), cuts)) == data


@given(members=st.lists(st.binary(max_size=300), min_size=1, max_size=5), cuts=st.lists(st.integers(0, 2000)))
def test_a_gzip_body_of_several_members_is_all_of_them(members: list[bytes], cuts: list[int]) -> None:
    body = b"".join(map(gzip.compress, members))
    assert inflated(cut(body, cuts)) == b"".join(members)


@pytest.mark.parametrize("tail", [b"\0" * 512, b"\x1f", b"\x1fx", b"end"])
def test_a_little_that_follows_the_end_is_dropped(tail: bytes) -> None:
    assert inflated([gzip.compress(b"text") + tail]) == b"text"


@pytest.mark.case("RD-08")
def test_rd_08_a_body_that_goes_on_after_its_end_has_one() -> None:
    inflate = Inflate()
    assert b"".join(inflate.feed(gzip.compress(b"text"))) == b"text"
    tracemalloc.start()
    with pytest.raises(BadEncodingError, match="after its end"):
        list(chain.from_iterable(inflate.feed(b"x" * 65536) for _ in range(1000)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * PIECE


@pytest.mark.case("RD-08")
def test_rd_08_a_body_of_empty_members_without_end_has_one() -> None:
    with pytest.raises(BadEncodingError, match="members"):
        inflated([gzip.compress(b"") * (MEMBERS + 1)])


def test_a_bomb_comes_in_pieces() -> None:
    sizes = [len(piece) for piece in Inflate().feed(gzip.compress(b"0" * (20 * PIECE)))]
    assert max(sizes) <= PIECE
    assert sum(sizes) == 20 * PIECE


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"content_encoding": "br"}, 'encoded as "br"'),
        ({"content_encoding": "gzip, gzip"}, 'encoded as "gzip, gzip"'),
        ({"content_encoding": "gzip"}, "not encoded as it says"),
    ],
)
@pytest.mark.parametrize("media_type", ["application/json", "text/event-stream"])
async def test_a_body_in_a_way_that_was_not_asked_for_is_named(
    headers: dict[str, str], told: str, media_type: str
) -> None:
    async def encoded(_: Request, reply: Reply) -> None:
        await reply.send(200, b"never compressed at all", content_type=media_type, **headers)

    served = HttpMcp()
    served.on["resources/read"] = encoded
    observer = RecordingObserver()
    async with (
        HttpServer(served) as server,
        connect(HttpParameters(server.url), server="it", observer=observer, version="0") as connection,
    ):
        with pytest.raises(InvalidResult, match=told):
            await connection.read("a://1")


def test_an_encoding_in_capitals_is_the_same() -> None:
    assert list(decoder(" GZIP ").feed(gzip.compress(b"x"))) == [b"x"]

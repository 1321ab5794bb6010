"""A real HTTP server whose bytes are wrong: a read ends in its own answer or in words, and nothing is left.

The faults lie in the status line, the headers, the sizes of chunks, the body and the frames of events; the
bytes come in any pieces, and reads are under way at the same time.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import anyio
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.http_mcp import HttpMcp
from tests.support.http_server import HttpServer, Reply, Request

from mcp_lectern.mcp.connect import Connection, HttpParameters, Limits, Timing, connect
from mcp_lectern.mcp.errors import McpError
from mcp_lectern.mcp.wire.resources import TextItem

from .conftest import RecordingObserver

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(sys.platform == "win32", reason="counts of descriptors are POSIX"),
]

URIS = [f"byte://{number}" for number in range(4)]
LIMIT = 64 * 1024
BOUND = 30
"""Seconds in which everything has to be over, on a machine that has much else to do."""
ENDLESS = b"x" * (20 * LIMIT)
INTACT = ("whole", "twice", "late again")
KEPT = (*INTACT, "short")
"""After these the client knows that the answer has ended, and the connection may be used again."""
LATE = 0.002

STATUS_LINES = [
    b"HTTP/9.9 200 OK\r\n",
    b"HTTP/1.1 999 What\r\n",
    b"HTTP/1.1 20\r\n",
    b"HTTP/1.1 200 \xff\xfe\r\n",
    b"ICY 200 OK\r\n",
    b"\r\n\r\n",
    b"{}\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n",
    ENDLESS,
]
HEADERS = [
    b"no colon here\r\n",
    b": no name\r\n",
    b"X\x00Y: z\r\n",
    b"X: " + ENDLESS + b"\r\n",
    b"Content-Length: 3\r\n",
    b"Content-Length: -3\r\n",
    b"Content-Length: 99999\r\n",
    b"Content-Length: 99999999999999999999\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"Content-Encoding: gzip\r\n",
    b"Content-Type: text/html\r\n",
    b"Mcp-Session-Id: \xff\r\n",
]
CHUNKS = [b"zz", b"-5", b"", b"ffffffffffffffff", b"1", b"5;x=" + ENDLESS, b"\xff"]
FRAMES = [
    b": comment",
    b"data: {",
    b"event: endpoint\ndata: /elsewhere\n",
    b"data: null\n",
    b"data: \xff\xfe\n",
    b'data: {"jsonrpc":"2.0","id":77,"result":{}}\n',
    b"id: \x00\nretry: -1\ndata\n",
    b"data: " + ENDLESS,
]

PLACES = st.integers(0, 400)
FAULTS = st.one_of(
    st.just(("whole", 0)),
    st.just(("twice", 0)),
    st.just(("late again", 0)),
    st.tuples(st.sampled_from(["truncate", "flip"]), PLACES),
    st.tuples(st.just("short"), st.integers(1, 40)),
    st.tuples(st.just("garbage"), st.tuples(PLACES, st.binary(min_size=1, max_size=8))),
    st.tuples(st.just("status"), st.sampled_from(STATUS_LINES)),
    st.tuples(st.just("header"), st.sampled_from(HEADERS)),
    st.tuples(st.just("chunk"), st.sampled_from(CHUNKS)),
    st.tuples(st.just("frame"), st.sampled_from(FRAMES)),
)
SHAPES = st.sampled_from(["json", "json in chunks", "events", "events in chunks"])


@st.composite
def scripts(draw: st.DrawFn) -> dict[str, Any]:
    """By URI: the shape of its answer, what is done to it, and in which pieces it is sent."""
    cuts = st.lists(st.integers(0, 600), max_size=6)
    return {uri: (draw(SHAPES), draw(FAULTS), sorted(draw(cuts))) for uri in URIS}


def response(shape: str, message: bytes, fault: tuple[str, Any]) -> bytes:
    """The bytes of an answer."""
    kind, value = fault
    body = b"data: " + message + b"\n\n" if "events" in shape else message
    if kind == "frame":
        body = value + (b"\n" if "events" in shape else b"") + body
    size = value if kind == "chunk" else b"%x" % len(body)
    framing = b"Content-Length: %d\r\n" % (len(body) - (value if kind == "short" else 0))
    if ("chunks" in shape and kind != "short") or kind == "chunk":
        framing, body = b"Transfer-Encoding: chunked\r\n", size + b"\r\n" + body + b"\r\n0\r\n\r\n"
    status = value if kind == "status" else b"HTTP/1.1 200 OK\r\n"
    media = b"text/event-stream" if "events" in shape else b"application/json"
    extra = value if kind == "header" else b""
    whole = status + b"Content-Type: " + media + b"\r\n" + extra + framing + b"\r\n" + body
    return mangled(whole, kind, value)


def mangled(whole: bytes, kind: str, value: Any) -> bytes:
    """The same after what happens on the way."""
    if kind == "truncate":
        return whole[: value % len(whole)]
    if kind == "flip":
        place = value % len(whole)
        return whole[:place] + bytes([whole[place] ^ 0x80]) + whole[place + 1 :]
    if kind == "garbage":
        place = value[0] % len(whole)
        return whole[:place] + value[1] + whole[place:]
    return whole * 2 if kind == "twice" else whole


def text_of(uri: str) -> str:
    """What is to be read there; it is of more than one byte a character."""
    return f"\u00e4\u20ac\U0001f600 {uri}"


def message_to(request: Request) -> bytes:
    """The right answer to a read."""
    uri = request.message["params"]["uri"]
    result = {"resultType": "complete", "contents": [{"uri": uri, "text": text_of(uri)}]}
    message = {"jsonrpc": "2.0", "id": request.message["id"], "result": result}
    return json.dumps(message, ensure_ascii=False).encode()


class Faulty:
    """The server: the first answer for each URI is as scripted, what is asked again is answered properly."""

    def __init__(self, script: dict[str, Any]) -> None:
        self._left = dict(script)

    async def read(self, request: Request, reply: Reply) -> None:
        shape, fault, cuts = self._left.pop(request.message["params"]["uri"], ("json", ("whole", 0), []))
        data = response(shape, message_to(request), fault)
        for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            await reply.raw(data[begin:end])
            await asyncio.sleep(0)
        if fault[0] == "late again":
            await asyncio.sleep(LATE)
            await reply.raw(data)
        # Of what is not whole the client may wait for more, so that only an end makes it certain.
        if fault[0] not in KEPT:
            reply.cut() if fault[0] == "truncate" else await self._closed(reply)

    async def _closed(self, reply: Reply) -> None:
        reply.keep = False
        reply.writer.close()


@pytest.mark.parametrize("era", ["legacy", "modern"])
@given(script=scripts())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_every_read_ends_in_its_own_answer_or_in_words_and_nothing_is_left(
    era: str, script: dict[str, Any]
) -> None:
    process = psutil.Process()
    descriptors = process.num_fds()
    outcomes = anyio.run(_outcomes, era, script)
    for uri, outcome in outcomes.items():
        judge(uri, script[uri][1][0], outcome)
    assert process.num_fds() <= descriptors


def judge(uri: str, fault: str, outcome: str | McpError) -> None:
    """An answer is one's own, a failure says where it happened, and only what is damaged fails."""
    if isinstance(outcome, McpError):
        assert fault not in INTACT, outcome
        assert outcome.server == "broken"
        assert outcome.method == "resources/read"
        assert '"broken"' in str(outcome)
        assert len(str(outcome)) < 1000
        return
    if fault in INTACT:
        assert outcome == text_of(uri)
    # A byte that no text can hold comes out as U+FFFD; whatever else was damaged, nothing is mixed up.
    assert outcome[-1:] in (uri[-1], "\ufffd")


async def _outcomes(era: str, script: dict[str, Any]) -> dict[str, str | McpError]:
    mcp = HttpMcp(era, capabilities={"resources": {}})
    mcp.on["resources/read"] = Faulty(script).read
    outcomes: dict[str, str | McpError] = {}
    afterwards: dict[str, str | McpError] = {}
    tasks = asyncio.all_tasks()
    with anyio.fail_after(BOUND):
        async with (
            HttpServer(mcp) as server,
            connect(
                HttpParameters(server.url),
                server="broken",
                observer=RecordingObserver(),
                version="1",
                protocol="legacy" if era == "legacy" else "modern",
                timing=Timing(request=BOUND, total=BOUND),
                limits=Limits(read_bytes=LIMIT),
            ) as connection,
        ):
            async with anyio.create_task_group() as readers:
                for uri in URIS:
                    readers.start_soon(_read, connection, uri, outcomes)
            # The connections that were kept may hold, or still get, what nobody asked for.
            for number in range(5, 6 + len(URIS)):
                await _read(connection, f"byte://{number}", afterwards)
            assert not connection.closed
    assert asyncio.all_tasks() == tasks
    late = any(fault[0] == "late again" for _, fault, _ in script.values())
    for uri, outcome in afterwards.items():
        judge(uri, "disturbed" if late else "whole", outcome)
    assert text_of(uri) == outcome
    return outcomes


async def _read(connection: Connection, uri: str, outcomes: dict[str, str | McpError]) -> None:
    try:
        (item,) = (await connection.read(uri)).items
        # An item whose keys were damaged is there, and marked as one that cannot be read.
        outcomes[uri] = item.text if isinstance(item, TextItem) else "\ufffd"
    except McpError as error:
        outcomes[uri] = error

"""Faults in the bytes of a server's stdout: every request ends, and never in the answer to another."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_lectern.mcp.eras.handshake import Handshake
from mcp_lectern.mcp.errors import McpError
from mcp_lectern.mcp.session import Patience, Session
from mcp_lectern.mcp.transport.duplex import Ending, Outgoing
from mcp_lectern.mcp.wire.framing import LineSplitter, Oversize

LIMIT = 4096
REQUESTS = 5
PATIENCE = Patience(5, 5)


class BytesDuplex:
    """What a server wrote, in the pieces in which it arrives; None is a moment without anything."""

    pid: int | None = None

    def __init__(self, pieces: list[bytes | None]) -> None:
        self._pieces = pieces
        self._splitter = LineSplitter(LIMIT)

    def post(self, message: Outgoing) -> None: ...

    def release(self, identity: int, notice: Outgoing | None = None) -> None: ...

    def agreed(self, version: str) -> None: ...

    async def receive(self) -> AsyncIterator[bytes | Oversize]:
        for piece in self._pieces:
            if piece is None:
                await asyncio.sleep(0)
                continue
            for line in self._splitter.feed(piece):
                yield line
        for line in self._splitter.close():
            yield line

    async def ended(self) -> Ending:
        return Ending(0, "")


def answer(identity: int) -> bytes:
    """The whole line of the answer to a request; its text is of more than one byte a character."""
    return (
        json.dumps(
            {"jsonrpc": "2.0", "id": identity, "result": {"text": f"ä€😀 {identity}"}}, ensure_ascii=False
        ).encode()
        + b"\n"
    )


FAULTS = st.one_of(
    st.binary(max_size=60).map(lambda data: ("garbage", data)),
    st.sampled_from(
        [b"\xff\xfe\n", b"\xc3\n", b"\xed\xa0\x80\n", b"[" * 3000 + b"\n", b"null\n", b"x" * 5000 + b"\n"]
    ).map(lambda data: ("garbage", data)),
    st.tuples(st.sampled_from(["truncate", "cut", "flip"]), st.integers(0, 80)),
    st.just(("twice", 0)),
    st.just(("whole", 0)),
)


def damaged(line: bytes, fault: tuple[str, Any]) -> bytes:
    """One answer as a broken server or pipe delivers it."""
    kind, value = fault
    if kind == "garbage":
        return bytes(value) + line
    if kind == "truncate":
        return line[: value % len(line)] + b"\n"
    if kind == "cut":
        return line[value % len(line) :]
    if kind == "flip":
        place = value % len(line)
        return line[:place] + bytes([line[place] ^ 0x80]) + line[place + 1 :]
    return line * 2 if kind == "twice" else line


async def answers(pieces: list[bytes | None]) -> list[Any]:
    """What each of the requests ends in, while these bytes arrive."""
    session = Session(
        BytesDuplex(pieces),
        Handshake("2025-11-25"),
        server="broken",
        limit=LIMIT,
        log=lambda _line: None,
        on_notification=lambda _notification: None,
    )
    outcomes: list[Any] = [None] * REQUESTS

    async def ask(number: int) -> None:
        try:
            outcomes[number] = await session.request(session.asked("resources/read"), {}, PATIENCE)
        except McpError as error:
            outcomes[number] = error

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            for number in range(REQUESTS):
                tasks.start_soon(ask, number)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(session.run)
    return outcomes


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[bytes | None], list[tuple[str, Any]]]:
    """Answers in any order, each with a fault, cut into any pieces; and the fault of each request."""
    faults = draw(st.lists(FAULTS, min_size=REQUESTS, max_size=REQUESTS))
    order = draw(st.permutations(range(REQUESTS)))
    stream = b"".join(damaged(answer(number + 1), faults[number]) for number in order)
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    pieces: list[bytes | None] = []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        pieces += [stream[begin:end], None] if draw(st.booleans()) else [stream[begin:end]]
    return pieces, faults


@given(streams())
@settings(max_examples=200, deadline=None)
def test_every_request_ends_and_no_request_in_the_answer_to_another(
    case: tuple[list[bytes | None], list[tuple[str, Any]]],
) -> None:
    pieces, faults = case
    outcomes = anyio.run(answers, pieces)
    for number, outcome in enumerate(outcomes):
        if isinstance(outcome, McpError):
            continue
        assert isinstance(outcome, dict)
        text = outcome.get("text")
        if faults[number][0] in ("whole", "twice"):
            assert text == f"ä€😀 {number + 1}"
        # A byte that no text can hold comes out as U+FFFD; whatever else was damaged, nothing is mixed up.
        assert text is None or text[-1] in (str(number + 1), "\ufffd")
    if all(kind in ("whole", "twice") for kind, _ in faults):
        assert [outcome["text"] for outcome in outcomes] == [
            f"ä€😀 {number + 1}" for number in range(REQUESTS)
        ]


@pytest.mark.case("RD-08")
@given(st.integers(1, 64), st.booleans())
@settings(max_examples=20, deadline=None)
def test_rd_08_an_endless_line_costs_the_request_that_it_answers_and_no_other(
    size: int, id_first: bool
) -> None:
    head = b'{"jsonrpc":"2.0","id":1,"result":{"text":"' if id_first else b'{"result":{"text":"'
    endless = b"x" * (size * 1024)
    flood: list[bytes | None] = [head, *([endless] * (2 + 64 // size))]
    rest = b'"},"id":1}\n' if not id_first else b'"}}\n'
    after: list[bytes | None] = [rest, *(answer(number) for number in range(2, REQUESTS + 1))]
    outcomes = anyio.run(answers, flood + after)
    assert type(outcomes[0]).__name__ == "TooLarge"
    assert [outcome["text"] for outcome in outcomes[1:]] == [f"ä€😀 {n}" for n in range(2, REQUESTS + 1)]

"""A real process whose bytes are wrong: a read ends in its own answer or in words, and nothing is left."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import scripted_server

from mcp_lectern.mcp.connect import Connection, Limits, StdioParameters, Timing, connect
from mcp_lectern.mcp.errors import McpError
from mcp_lectern.mcp.wire.resources import TextItem

from .conftest import RecordingObserver

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(sys.platform == "win32", reason="counts of descriptors are POSIX"),
]

HOOK = Path(__file__).with_name("byte_faults_hook.py")
URIS = [f"byte://{number}" for number in range(4)]
LIMIT = 64 * 1024
BOUND = 30
"""Seconds in which everything has to be over, on a machine that has much else to do."""
INTACT = ("whole", "twice")

FAULTS = st.one_of(
    st.just(("whole", 0)),
    st.just(("twice", 0)),
    st.tuples(st.sampled_from(["truncate", "behead", "flip"]), st.integers(0, 150)),
    st.binary(max_size=40).map(lambda data: ("garbage", data.hex())),
    st.sampled_from(
        [b"\xff\xfe\n", b"\xc3\n", b"\xed\xa0\x80\n", b"[" * 3000 + b"\n", b"null\n", b'{"id":1}\n', b"\0\n"]
    ).map(lambda data: ("garbage", data.hex())),
    st.sampled_from([LIMIT - 300, LIMIT + 1, 20 * LIMIT]).map(lambda size: ("endless", size)),
)


@st.composite
def scripts(draw: st.DrawFn) -> dict[str, Any]:
    """What the process does; it lives on only where no answer is lost, so that no time-out is waited for."""
    faults = {uri: draw(FAULTS) for uri in URIS}
    harmless = all(kind in INTACT for kind, _ in faults.values())
    cuts = draw(st.lists(st.integers(0, 2000), max_size=8))
    return {
        "of": faults,
        "order": draw(st.permutations(URIS)),
        "cuts": cuts,
        "late": draw(st.lists(st.integers(0, len(cuts)), max_size=3)),
        "ending": "stay"
        if harmless and draw(st.booleans())
        else draw(st.sampled_from(["exit", "exit", "exit", "close"])),
    }


@given(scripts())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_every_read_ends_in_its_own_answer_or_in_words_and_nothing_is_left(script: dict[str, Any]) -> None:
    process = psutil.Process()
    descriptors, children = process.num_fds(), set(process.children(recursive=True))
    with TemporaryDirectory() as folder:
        path = Path(folder, "script.json")
        path.write_text(json.dumps({"hook": str(HOOK), "faults": script}))
        outcomes = anyio.run(_outcomes, path, script["ending"] == "stay")
    for uri, outcome in outcomes.items():
        judge(uri, script["of"][uri][0], outcome)
    assert process.num_fds() <= descriptors
    assert set(process.children(recursive=True)) <= children


def judge(uri: str, fault: str, outcome: str | McpError) -> None:
    """An answer is one's own, a failure says where it happened, and only what is damaged fails."""
    if isinstance(outcome, McpError):
        assert fault not in INTACT, outcome
        assert outcome.server == "broken"
        assert outcome.method == "resources/read"
        assert '"broken"' in str(outcome)
        assert "resources/read" in str(outcome)
        return
    if fault in INTACT:
        assert outcome == f"\u00e4\u20ac\U0001f600 {uri}"
    elif fault == "endless":
        assert set(outcome) == {"x"}
    else:
        # A byte that no text can hold comes out as U+FFFD; whatever else was damaged, nothing is mixed up.
        assert outcome[-1] in (uri[-1], "\ufffd")


async def _outcomes(script: Path, lives_on: bool) -> dict[str, str | McpError]:
    command = ("-S", "-u", str(scripted_server.PROGRAM), "--script", str(script))
    parameters = StdioParameters(sys.executable, command, dict(os.environ), script.parent)
    outcomes: dict[str, str | McpError] = {}
    tasks = asyncio.all_tasks()
    with anyio.fail_after(BOUND):
        async with connect(
            parameters,
            server="broken",
            observer=RecordingObserver(),
            version="1",
            protocol="legacy",
            timing=Timing(request=BOUND, total=BOUND),
            limits=Limits(read_bytes=LIMIT),
        ) as connection:
            async with anyio.create_task_group() as readers:
                for uri in URIS:
                    readers.start_soon(_read, connection, uri, outcomes)
            if lives_on:
                afterwards: dict[str, str | McpError] = {}
                await _read(connection, "byte://after", afterwards)
                assert afterwards == {"byte://after": "\u00e4\u20ac\U0001f600 byte://after"}
            else:
                await connection.wait_closed()
    assert asyncio.all_tasks() == tasks
    return outcomes


async def _read(connection: Connection, uri: str, outcomes: dict[str, str | McpError]) -> None:
    try:
        (item,) = (await connection.read(uri)).items
        # An item whose keys were damaged is there, and marked as one that cannot be read.
        outcomes[uri] = item.text if isinstance(item, TextItem) else "\ufffd"
    except McpError as error:
        outcomes[uri] = error

"""A program that floods its stdout: others have their turns, and what can be no message costs little."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.mcp.transport import stdio
from mcp_lectern.mcp.transport.stdio import NOISE_LINES, _without_noise
from mcp_lectern.mcp.wire import jsonrpc

from .conftest import Connect, Script

LINES = 20_000
NOTICE = json.dumps({"jsonrpc": "2.0", "method": "notifications/x", "params": {}}) + "\n"


@pytest.mark.anyio
@pytest.mark.case("IO-01")
async def test_io_01_a_flood_of_messages_leaves_others_their_turns(
    script: Script, connected: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However fast the machine is, each line takes long.
    monkeypatch.setattr(stdio, "STRETCH", 0.0)
    flood = {"before": [{"repeat": NOTICE, "times": LINES}]}
    server = script(answers={"resources/read": flood}, contents={"memo://a": "x"})
    async with connected(server) as connection:
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                await anyio.lowlevel.checkpoint()
                turns += 1

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(others)
            assert (await connection.read("memo://a")).items
            tasks.cancel_scope.cancel()
    assert turns > LINES // 2


@pytest.mark.anyio
@pytest.mark.case("IO-01")
@pytest.mark.parametrize("line", ["{", "  }", "{}", '    "level": "information",', "[", "\t\t[null],"])
async def test_io_01_a_flood_of_what_is_no_message_is_hardly_looked_at(
    script: Script, connected: Connect, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    looked_at = 0
    read = jsonrpc.read

    def counted(message: Any) -> jsonrpc.Message:
        nonlocal looked_at
        looked_at += 1
        return read(message)

    monkeypatch.setattr(jsonrpc, "read", counted)
    flood = {"before": [{"repeat": line + "\n", "times": LINES}]}
    server = script(answers={"resources/read": flood}, contents={"memo://a": "x"})
    async with connected(server) as connection:
        assert (await connection.read("memo://a")).items
    assert looked_at < LINES // 4


MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0"),
        "id": st.integers(1, 3) | st.text(max_size=2),
        "method": st.text(min_size=1, max_size=3),
        "result": st.none() | st.integers(0, 9),
        "error": st.integers(0, 9) | st.dictionaries(st.text(), st.none()),
    },
)


@given(MESSAGES | st.lists(MESSAGES), st.text(" \t\r", max_size=200), st.booleans())
def test_no_message_is_taken_for_noise(message: Any, indentation: str, marked: bool) -> None:
    line = indentation.encode() + json.dumps(message, separators=(",", ":")).encode()
    if marked:
        line = b"\xef\xbb\xbf" + line
    heard = jsonrpc.read(line)
    messages = heard.messages if isinstance(heard, jsonrpc.Batch) else (heard,)
    if any(not isinstance(each, jsonrpc.Rubbish) for each in messages):
        assert list(_without_noise([b"noise"] * NOISE_LINES + [line]))[-1] == line

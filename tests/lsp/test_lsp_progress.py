"""Work that lasts is shown in the editor, and can be cancelled there; quick work is not shown."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from tests.support.lsp_client import CONTENT, Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

ONE = [{"uri": "a://1", "name": "one", "mimeType": "text/plain"}]
SHOWS: dict[str, Any] = {**CONTENT, "window": {"workDoneProgress": True}}


def begun(editor: Editor, words: str) -> list[Any]:
    """The tokens of what was shown under such a title."""
    shown = editor.progress
    return [token for token, value in shown if value["kind"] == "begin" and words in value["title"]]


def kinds(editor: Editor, token: Any) -> list[str]:
    return [value["kind"] for each, value in editor.progress if each == token]


async def test_a_slow_read_is_shown_until_it_ends(tmp_path: Path) -> None:
    slow = {"resources/read": {"gate": "go"}}
    with ScriptedServer(tmp_path, resources=ONE, contents={"a://1": "x"}, answers=slow) as server:
        async with running(tmp_path, {"it": server.entry()}, capabilities=SHOWS) as editor:
            await editor.listed()
            opening = begin(editor, "open", server="it", uri="a://1", reveal=False)
            await editor.until(lambda: bool(begun(editor, "Reading one from it")))
            (token,) = begun(editor, "Reading")
            server.open("go")
            assert await opening
            await editor.until(lambda: kinds(editor, token) == ["create", "begin", "end"])


async def test_a_slow_read_can_be_cancelled(tmp_path: Path) -> None:
    slow = {"resources/read": [{"gate": "never"}, {}]}
    with ScriptedServer(tmp_path, resources=ONE, contents={"a://1": "x"}, answers=slow) as server:
        async with running(tmp_path, {"it": server.entry()}, capabilities=SHOWS) as editor:
            await editor.listed()
            opening = begin(editor, "open", server="it", uri="a://1", reveal=False)
            await editor.until(lambda: bool(begun(editor, "Reading")))
            (token,) = begun(editor, "Reading")
            cancel(editor, token)
            with pytest.raises(JsonRpcException) as error:
                await opening
            assert error.value.code == -32800
            await server.wait_received("notifications/cancelled")
            await editor.until(lambda: kinds(editor, token)[-1] == "end")
            assert await editor.command("open", server="it", uri="a://1", reveal=False)


def begin(editor: Editor, command: str, **argument: Any) -> asyncio.Task[Any]:
    """Give a command, and do not wait for it."""
    return asyncio.get_running_loop().create_task(editor.command(command, **argument))


def cancel(editor: Editor, token: Any) -> None:
    params = types.WorkDoneProgressCancelParams(token)
    editor.client.window_work_done_progress_cancel(params)


async def test_a_slow_start_is_shown_and_cancelling_it_stops_the_server(tmp_path: Path) -> None:
    slow = {"resources/list": {"gate": "go"}}
    with ScriptedServer(tmp_path, resources=ONE, answers=slow) as server:
        status = {"status": True}
        async with running(
            tmp_path, {"it": server.entry()}, capabilities=SHOWS, experimental=status
        ) as editor:
            uri = editor.open("notes.md", "@")
            await editor.complete(uri, 0, 1)
            await editor.until(lambda: bool(begun(editor, "Starting it")))
            (token,) = begun(editor, "Starting it")
            cancel(editor, token)
            await editor.until(lambda: kinds(editor, token)[-1] == "end")
            await server.wait_ended()
            await editor.until(lambda: editor.statuses[-1]["it"]["state"] == "stopped")


async def test_a_slow_listing_by_command_is_shown(tmp_path: Path) -> None:
    slow = {"resources/list": [{}, {"gate": "go"}, {}]}
    with ScriptedServer(tmp_path, resources=ONE, answers=slow) as server:
        async with running(tmp_path, {"it": server.entry()}, capabilities=SHOWS) as editor:
            await editor.listed()
            again = begin(editor, "refresh")
            await editor.until(lambda: bool(begun(editor, "Listing the resources of all servers")))
            server.open("go")
            assert await again


async def test_quick_work_and_poor_clients_are_shown_nothing(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE, contents={"a://1": "x"}) as server:
        async with running(tmp_path, {"it": server.entry()}, capabilities=SHOWS) as editor:
            await editor.listed()
            before = len(editor.progress)
            for _ in range(3):
                await editor.command("open", server="it", uri="a://1", reveal=False)
            cancel(editor, "no such token")
            assert await editor.command("open", server="it", uri="a://1", reveal=False)
            assert len(editor.progress) == before


async def test_a_client_without_progress_waits_all_the_same(tmp_path: Path) -> None:
    slow = {"resources/read": {"gate": "go"}}
    with ScriptedServer(tmp_path, resources=ONE, contents={"a://1": "x"}, answers=slow) as server:
        async with running(tmp_path, {"it": server.entry()}) as editor:
            opening = begin(editor, "open", server="it", uri="a://1", reveal=False)
            await server.wait_waiting("go")
            server.open("go")
            assert await opening
            assert not editor.progress

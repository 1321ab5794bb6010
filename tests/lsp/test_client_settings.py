"""What a client tells of its settings stays true until it tells something else, however it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException
from tests.support.lsp_client import environment
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.lsp import client_settings
from mcp_lectern.lsp.client_settings import ClientSettings
from mcp_lectern.lsp.editor import CAPABILITIES, Editor, serving, started

pytestmark = pytest.mark.anyio

ONE = {"diagnostics": False}
OTHER = {"diagnostics": True}
TRUSTED = {
    **CAPABILITIES,
    "experimental": {"lectern": {"trustedSettings": True, "status": True}},
    "workspace": {**CAPABILITIES["workspace"], "codeLens": {"refreshSupport": True}},
}
ASKED = "workspace/configuration"
APPLIED = "workspace/codeLens/refresh"
STATUS = "lectern/status"
ODD: Mapping[str, Callable[[Any], Any] | None] = {
    "an error": None,
    "a number": lambda _params: 7,
    "a list of something else": lambda _params: ["docs"],
}


@pytest.mark.parametrize("way", ODD)
async def test_an_answer_that_tells_nothing_takes_no_server_away(tmp_path: Path, way: str) -> None:
    """A server that was configured was ended, and all its mentions were warned about."""
    with ScriptedServer(tmp_path, resources=[{"uri": "memo://a", "name": "a"}]) as server:
        command = serving("--no-discover")
        async with started(command, folder=tmp_path, environment=environment(tmp_path)) as editor:
            editor.answers[ASKED] = lambda _params: [{"servers": {"docs": server.entry()}}]
            await editor.initialize(capabilities=TRUSTED)
            await editor.command("lectern.refresh")
            if (odd := ODD[way]) is None:
                del editor.answers[ASKED]
            else:
                editor.answers[ASKED] = odd
            await _settled(editor)
            (still,) = (await editor.command("lectern.servers"))["servers"]
            assert (still["name"], still["state"], server.starts) == ("docs", "ready", 1)
            editor.answers[ASKED] = lambda _params: [None]
            before = len(editor.notifications)
            editor.notify("workspace/didChangeConfiguration", {"settings": None})
            async with asyncio.timeout(60):
                # Lenses may still be told anew for what was before, so that says nothing here.
                await editor.heard(STATUS, lambda _: _left(editor, before) == [])


def _left(editor: Editor, since: int) -> object:
    """The servers in the last status of those notifications."""
    told = [params["servers"] for method, params in editor.notifications[since:] if method == STATUS]
    return told[-1] if told else None


async def _settled(editor: Editor) -> None:
    """Let the settings be asked for, and wait until what came of it is applied."""
    before = len(editor.requests)

    def since(method: str) -> bool:
        return method in [each for each, _ in editor.requests[before:]]

    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    await editor.heard(ASKED, lambda _: since(ASKED))
    before = len(editor.requests)
    # What lenses offer is told anew whenever a configuration was applied.
    await editor.heard(APPLIED, lambda _: since(APPLIED))


async def test_a_late_answer_counts_when_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_settings, "PATIENCE", 0.0)
    asked: list[asyncio.Future[Any]] = []
    changed = asyncio.Event()

    def ask() -> asyncio.Future[Any]:
        asked.append(asyncio.get_running_loop().create_future())
        return asked[-1]

    settings = ClientSettings(ask, changed.set)
    assert await settings.pull() is None
    asked[-1].set_result([ONE])
    await changed.wait()
    assert await settings.pull() == ONE, "the client is as slow as before"
    changed.clear()
    asked[-1].set_result([ONE])
    assert await settings.pull() == ONE
    assert not changed.is_set(), "what is known already is no change, or a slow client is asked for ever"


async def test_of_two_answers_the_one_to_the_last_question_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_settings, "PATIENCE", 0.0)
    asked: list[asyncio.Future[Any]] = []
    changed = asyncio.Event()

    def ask() -> asyncio.Future[Any]:
        asked.append(asyncio.get_running_loop().create_future())
        return asked[-1]

    settings = ClientSettings(ask, changed.set)
    await settings.pull()
    await settings.pull()
    asked[1].set_result([OTHER])
    await changed.wait()
    asked[0].set_result([ONE])
    monkeypatch.setattr(client_settings, "PATIENCE", 60.0)
    refused: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    refused.set_exception(JsonRpcException("busy"))
    asked_again = ClientSettings(lambda: refused, changed.set)
    assert await asked_again.pull() is None
    monkeypatch.setattr(settings, "_ask", lambda: refused)
    assert await settings.pull() == OTHER

"""A request that the editor gives up costs nothing further, and nothing pending holds the end."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from tests.support.lsp_client import Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

ONE = [{"uri": "memo://plan", "name": "plan"}]
SLOW = {"resources/read": {"gate": "go"}}


def _begin(editor: Editor, method: str, params: object, number: int) -> asyncio.Future[object]:
    return asyncio.ensure_future(
        editor.client.protocol.send_request_async(method, params, msg_id=f"test-{number}")
    )


def _cancel(editor: Editor, number: int) -> None:
    editor.client.cancel_request(types.CancelParams(id=f"test-{number}"))


@pytest.mark.case("LSP-06")
@pytest.mark.parametrize("by_command", [False, True], ids=["content", "command"])
async def test_lsp_06_cancelled_reads_are_answered_at_once_and_share_one_read(
    tmp_path: Path, by_command: bool
) -> None:
    with ScriptedServer(tmp_path, resources=ONE, contents={"memo://plan": "x"}, answers=SLOW) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            await editor.listed()
            (link,) = await editor.links(editor.open("a.md", "@docs:memo://plan"))
            if by_command:
                method, params = (
                    "workspace/executeCommand",
                    types.ExecuteCommandParams(
                        "lectern.open", [{"server": "docs", "uri": "memo://plan", "reveal": False}]
                    ),
                )
            else:
                method = "workspace/textDocumentContent"
                params = types.TextDocumentContentParams(link.target or "")  # type: ignore[assignment]
            requests = [_begin(editor, method, params, number) for number in range(70)]
            await server.wait_waiting("go")
            for number in range(69):
                _cancel(editor, number)
            for request in requests[:69]:
                with pytest.raises(JsonRpcException) as cancelled:
                    await request
                assert cancelled.value.code == types.LSPErrorCodes.RequestCancelled
            server.open("go")
            assert await requests[69]
            assert len(server.received("resources/read")) == 1


@pytest.mark.case("LSP-06")
async def test_lsp_06_a_command_given_up_by_all_cancels_its_read(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE, answers=SLOW) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            await editor.listed()
            argument = {"server": "docs", "uri": "memo://plan", "reveal": False}
            params = types.ExecuteCommandParams("lectern.open", [argument])
            request = _begin(editor, "workspace/executeCommand", params, 1)
            await server.wait_waiting("go")
            _cancel(editor, 1)
            with pytest.raises(JsonRpcException):
                await request
            await server.wait_received("notifications/cancelled")


@pytest.mark.case("LSP-06")
async def test_lsp_06_a_cancel_for_nothing_is_ignored(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            _cancel(editor, 999)
            assert "docs" in await editor.servers()


@pytest.mark.case("LSP-06")
async def test_lsp_06_shutdown_waits_for_no_read(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE, answers=SLOW) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            await editor.listed()
            argument = {"server": "docs", "uri": "memo://plan", "reveal": False}
            params = types.ExecuteCommandParams("lectern.open", [argument])
            requests = [_begin(editor, "workspace/executeCommand", params, number) for number in range(5)]
            await server.wait_waiting("go")
            began = time.monotonic()
            await editor.client.shutdown_async(None)
            assert time.monotonic() - began < 2
            for outcome in await asyncio.gather(*requests, return_exceptions=True):
                assert isinstance(outcome, JsonRpcException)
            editor.client.exit(None)
            assert await editor.process.wait() == 0
            editor.client.capabilities = None

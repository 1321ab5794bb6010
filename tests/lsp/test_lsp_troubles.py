"""What is wrong with a server is said where its name is typed, not in its log alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from tests.support.lsp_client import Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

NOTES = [{"uri": "a://1", "name": "apple"}]
FAILS = {"error": {"code": -32603, "message": "disk on fire [x](command:evil)"}}


async def _remark(editor: Editor) -> types.CompletionItem:
    """The row of the list after a bare @ that stands for no resource."""
    answer = await editor.complete(editor.open("a.md", "@"), 0, 1)
    assert answer is not None
    (item,) = (item for item in answer.items if item.command)
    return item


def _documentation(item: types.CompletionItem) -> str:
    assert isinstance(item.documentation, types.MarkupContent)
    return item.documentation.value


@pytest.mark.case("PAG-03")
@pytest.mark.case("LSP-07")
@pytest.mark.parametrize("answers", [FAILS, [{}, FAILS]], ids=["first walk", "later walk"])
async def test_pag_03_a_list_that_fails_is_a_remark_and_accepting_it_lists_again(
    tmp_path: Path, answers: object
) -> None:
    with ScriptedServer(tmp_path, resources=NOTES, answers={"resources/list": answers}) as server:
        async with running(tmp_path, {"it": server.entry()}) as editor:
            await editor.listed()
            await editor.command("refresh")
            remark = await _remark(editor)
            assert remark.label.startswith("it did not list everything")
            assert "disk on fire" in _documentation(remark)
            assert "](" not in _documentation(remark)
            assert "disk on fire" in (await editor.servers())["it"]["lastError"]
            assert remark.command is not None
            assert remark.command.command == "lectern.refresh"
            assert list(remark.command.arguments or ()) == [{"server": "it"}]


async def test_a_server_that_cannot_start_says_why_in_the_list_and_in_the_hover(tmp_path: Path) -> None:
    entries = {"no": {"command": "no-such-program"}}
    async with running(tmp_path, entries) as editor:
        assert "no-such-program" in _documentation(await _remark(editor))
        uri = editor.open("b.md", "see @no:a://1")
        hover = await editor.hover(uri, 0, 6)
        assert "no-such-program" in (hover or "")


async def test_a_server_that_died_says_its_last_words(tmp_path: Path) -> None:
    entries = {"dead": {"command": sys.executable, "args": ["-c", "import sys; sys.exit('no such luck')"]}}
    async with running(tmp_path, entries) as editor:
        await editor.listed()
        assert "no such luck" in _documentation(await _remark(editor))
        hover = await editor.hover(editor.open("b.md", "see @dead:a://1"), 0, 6)
        assert "no such luck" in (hover or "")


async def test_every_command_says_that_a_server_is_not_configured(tmp_path: Path) -> None:
    """Three answered in the words of Python, since the refusal came out of a group of tasks."""
    whole = {"uri": "a://1", "uriTemplate": "a://{b}", "argument": "b", "value": "", "fingerprint": "f"}
    commands = ("open", "resources", "complete", "expandTemplate", "log", "approve", "revoke", "signIn")
    async with running(tmp_path, {"it": {"command": "unused"}}) as editor:
        for name in (*commands, "signOut", "stop", "restart", "refresh"):
            with pytest.raises(JsonRpcException) as refused:
                await editor.command(name, server="gone", **whole)
            message = "No server “gone” is configured. Configured: “it”."
            assert (name, refused.value.code, refused.value.message) == (name, -32803, message)
            assert refused.value.data == {"kind": "unknownServer", "server": "gone"}

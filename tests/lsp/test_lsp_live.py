"""An open document changes by itself when its resource does, as an editor sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from tests.support.lsp_client import Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

OFFERED = {"resources": {"subscribe": True, "listChanged": True}}
ONE = [{"uri": "a://1", "name": "one", "mimeType": "text/plain"}]
UPDATED = "notifications/resources/updated"
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])


async def opened(editor: Editor) -> str:
    """Open the resource by command, and its document as an editor does; its address."""
    answer = await editor.command("open", server="it", uri="a://1", reveal=False)
    document: str = answer["documents"][0]["document"]
    editor.open(document, await editor.content(document), "plaintext")
    return document


async def subscriptions(editor: Editor, count: int) -> None:
    """Wait until the status tells so many."""

    def told() -> bool:
        return bool(editor.statuses) and editor.statuses[-1].get("it", {}).get("subscriptions") == count

    await editor.until(told)
    assert (await editor.servers())["it"]["subscriptions"] == count


@ERAS
async def test_an_open_document_changes_when_its_resource_does(tmp_path: Path, era: str) -> None:
    with ScriptedServer(
        tmp_path, era=era, capabilities=OFFERED, resources=ONE, contents={"a://1": "old"}
    ) as it:
        async with running(tmp_path, {"it": it.entry()}, experimental={"status": True}) as editor:
            document = await opened(editor)
            await subscriptions(editor, 1)
            assert len(it.received("resources/read")) == 1
            it.change(contents={"a://1": "new"}, notify=False)
            it.notify(UPDATED, {"uri": "a://1"})
            await editor.until(lambda: editor.refreshed == [document])
            assert await editor.content(document) == "new"
            assert len(it.received("resources/read")) == 2
            editor.close(document)
            await subscriptions(editor, 0)


@ERAS
async def test_a_notice_without_a_change_refreshes_nothing(tmp_path: Path, era: str) -> None:
    with ScriptedServer(
        tmp_path, era=era, capabilities=OFFERED, resources=ONE, contents={"a://1": "same"}
    ) as it:
        async with running(tmp_path, {"it": it.entry()}, experimental={"status": True}) as editor:
            document = await opened(editor)
            await subscriptions(editor, 1)
            it.notify(UPDATED, {"uri": "a://1"})
            await it.wait_received("resources/read", 2)
            it.change(contents={"a://1": "other"}, notify=False)
            it.notify(UPDATED, {"uri": "a://1"})
            await editor.until(lambda: bool(editor.refreshed))
            assert editor.refreshed == [document]


async def test_a_failed_refresh_keeps_the_text_and_shows_in_the_status(tmp_path: Path) -> None:
    answers = {"resources/read": [{}, {"error": {"code": -32603, "message": "disk on fire"}}, {}]}
    with ScriptedServer(
        tmp_path, capabilities=OFFERED, resources=ONE, contents={"a://1": "old"}, answers=answers
    ) as it:
        async with running(tmp_path, {"it": it.entry()}, experimental={"status": True}) as editor:
            document = await opened(editor)
            await subscriptions(editor, 1)
            it.notify(UPDATED, {"uri": "a://1"})
            await editor.until(lambda: "disk on fire" in editor.statuses[-1]["it"].get("lastError", ""))
            assert await editor.content(document) == "old"
            assert not editor.refreshed
            assert not editor.messages


async def test_without_a_status_a_failed_refresh_is_told_once_until_a_read_goes_well(tmp_path: Path) -> None:
    failing = {"error": {"code": -32603, "message": "disk on fire"}}
    answers = {"resources/read": [{}, failing, failing, {}, failing, {}]}
    with ScriptedServer(
        tmp_path, capabilities=OFFERED, resources=ONE, contents={"a://1": "old"}, answers=answers
    ) as it:
        async with running(tmp_path, {"it": it.entry()}) as editor:
            document = await opened(editor)
            await it.wait_received("resources/subscribe")
            it.notify(UPDATED, {"uri": "a://1"})
            await editor.until(lambda: bool(editor.messages))
            assert "a://1" in editor.messages[0].message
            assert "disk on fire" in editor.messages[0].message
            it.notify(UPDATED, {"uri": "a://1"})
            await it.wait_received("resources/read", 3)
            it.change(contents={"a://1": "new"}, notify=False)
            it.notify(UPDATED, {"uri": "a://1"})
            await editor.until(lambda: editor.refreshed == [document])
            assert len(editor.messages) == 1
            it.notify(UPDATED, {"uri": "a://1"})
            await editor.until(lambda: len(editor.messages) == 2)
            assert await editor.content(document) == "new"


async def test_an_older_copy_is_told_of_when_its_document_opens(tmp_path: Path) -> None:
    first = {"result": {"contents": [{"uri": "a://1", "text": "old"}], "ttlMs": 1}}
    answers = {"resources/read": [first, {"error": {"code": -32603, "message": "disk on fire"}}]}
    with ScriptedServer(tmp_path, capabilities=OFFERED, resources=ONE, answers=answers) as it:
        async with running(tmp_path, {"it": it.entry()}) as editor:
            await editor.command("open", server="it", uri="a://1", reveal=False)
            assert not editor.messages
            await opened(editor)
            await editor.until(lambda: len(editor.messages) == 1)
            assert "disk on fire" in editor.messages[0].message


async def test_a_client_with_a_status_is_told_which_documents_are_older_and_when_none_is(
    tmp_path: Path,
) -> None:
    failing = {"error": {"code": -32603, "message": "disk on fire"}}
    answers = {"resources/read": [{}, failing, {}]}
    contents = {"a://1": "old"}
    with ScriptedServer(
        tmp_path, capabilities=OFFERED, resources=ONE, contents=contents, answers=answers
    ) as it:
        async with running(tmp_path, {"it": it.entry()}, experimental={"status": True}) as editor:
            document = await opened(editor)
            await subscriptions(editor, 1)
            it.notify("notifications/resources/updated", {"uri": "a://1"})
            await editor.until(lambda: bool(editor.older))
            (older,) = editor.older
            assert older["document"] == document
            assert "disk on fire" in older["reason"]
            assert not editor.messages
            it.change(contents={"a://1": "new"}, notify=False)
            it.notify("notifications/resources/updated", {"uri": "a://1"})
            await editor.until(lambda: not editor.older)
            assert await editor.content(document) == "new"


async def test_a_read_that_fails_at_once_is_its_own_message_and_nothing_is_called_old(tmp_path: Path) -> None:
    gone = {"resources/read": {"error": {"code": -32002, "message": "gone"}}}
    with ScriptedServer(tmp_path, capabilities=OFFERED, resources=ONE, answers=gone) as it:
        async with running(tmp_path, {"it": it.entry()}) as editor:
            await editor.listed()
            (link,) = await editor.links(editor.open("a.md", "@it:a://1"))
            editor.open(link.target or "", "", "plaintext")
            with pytest.raises(Exception, match="gone"):
                await editor.content(link.target or "")
            await editor.listed()
            assert not editor.messages


async def test_a_page_that_only_offers_to_read_is_never_subscribed_to(tmp_path: Path) -> None:
    from mcp_lectern.documents.address import address

    with ScriptedServer(tmp_path, capabilities=OFFERED, resources=ONE, contents={"b://2": "x"}) as it:
        async with running(tmp_path, {"it": it.entry()}, experimental={"status": True}) as editor:
            await editor.listed()
            page = address("it", "b://2", None, None, binary_extension=False)
            editor.open(page, await editor.content(page), "markdown")
            await opened_other(editor, it)
            assert not it.received("resources/read")[:-1]
            watched = [message["params"]["uri"] for message in it.received("resources/subscribe")]
            assert watched == ["a://1"]


async def opened_other(editor: Editor, it: ScriptedServer) -> None:
    """Another document, opened later: when that one is subscribed to, the first had its chance."""
    it.change(contents={"a://1": "x"}, notify=False)
    await opened(editor)
    await subscriptions(editor, 1)


async def test_refresh_by_command_reads_open_documents_again(tmp_path: Path) -> None:
    with ScriptedServer(
        tmp_path, capabilities={"resources": {}}, resources=ONE, contents={"a://1": "old"}
    ) as it:
        async with running(tmp_path, {"it": it.entry()}) as editor:
            document = await opened(editor)
            it.change(contents={"a://1": "new"}, notify=False)
            await editor.command("refresh")
            await editor.until(lambda: editor.refreshed == [document])
            assert await editor.content(document) == "new"
            assert types.WORKSPACE_TEXT_DOCUMENT_CONTENT in {each.method for each in editor.registered}


@pytest.mark.case("RD-10")
async def test_rd_10_an_older_copy_is_opened_when_the_server_fails_and_marked_as_such(tmp_path: Path) -> None:
    first = {"result": {"contents": [{"uri": "a://1", "text": "old"}], "ttlMs": 1}}
    failing = {"error": {"code": -32603, "message": "disk on fire"}}
    answers = {"resources/read": [first, failing]}
    with ScriptedServer(tmp_path, capabilities=OFFERED, resources=ONE, answers=answers) as it:
        async with running(tmp_path, {"it": it.entry()}) as editor:
            fresh = await editor.command("open", server="it", uri="a://1", reveal=False)
            assert "stale" not in fresh["documents"][0]
            stale = await editor.command("open", server="it", uri="a://1", reveal=False)
            assert "disk on fire" in stale["documents"][0]["stale"]
            assert await editor.content(stale["documents"][0]["document"]) == "old"


async def test_a_document_that_was_closed_is_read_again_when_it_is_opened_again(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE, contents={"a://1": "old"}) as it:
        async with running(tmp_path, {"it": it.entry()}) as editor:
            document = await opened(editor)
            it.change(contents={"a://1": "new"}, notify=False)
            assert await editor.content(document) == "old"
            editor.close(document)
            assert await editor.content(document) == "new"


async def test_a_server_that_comes_back_serves_what_is_still_open(tmp_path: Path) -> None:
    """Whoever took an entry out and put it back had a document that never changed again, without a sign."""
    config = tmp_path / "lectern-config.json"

    def save(text: str) -> None:
        config.write_text(text, encoding="utf-8")
        event = types.FileEvent(config.as_uri(), types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    with ScriptedServer(tmp_path, capabilities=OFFERED, resources=ONE, contents={"a://1": "old"}) as it:
        async with running(tmp_path, {"it": it.entry()}, experimental={"status": True}) as editor:
            document = await opened(editor)
            await subscriptions(editor, 1)
            before = config.read_text(encoding="utf-8")
            save("{}")
            await editor.until(lambda: editor.statuses[-1] == {})
            it.change(contents={"a://1": "new"}, notify=False)
            save(before)
            await editor.until(lambda: editor.refreshed == [document])
            assert await editor.content(document) == "new"
            await subscriptions(editor, 1)

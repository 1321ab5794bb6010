"""Signing in to a remote server and out of it, as an editor does it for its user."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from pygls.exceptions import JsonRpcException
from tests.support.lsp_client import Editor, plain, running
from tests.support.oauth import World

pytestmark = pytest.mark.anyio


async def agree(address: str, *, through: str = "") -> None:
    """What a person does in the browser; ``through`` is an address that an editor forwards."""
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(address)
        back = answer.headers["location"]
        if through:
            forwarded, _, query = back.partition("?")
            assert forwarded == "https://forwarded.example/callback"
            back = f"{through}?{query}"
        page = await client.get(back)
    assert page.status_code == 200


async def signed_in(editor: Editor, **browser: Any) -> Any:
    before = len(editor.shown)
    answer = asyncio.ensure_future(editor.command("signIn", server="docs"))
    await editor.until(lambda: len(editor.shown) > before or answer.done())
    assert editor.shown[-1].external
    await agree(editor.shown[-1].uri, **browser)
    return await answer


async def test_an_editor_signs_in_reads_and_signs_out(tmp_path: Path) -> None:
    world = World()
    async with world.serve(), running(tmp_path, {"docs": {"url": world.server_url}}) as editor:
        uri = editor.open("a.md", "see @")
        await editor.labels(uri, 0, 5)
        with pytest.raises(JsonRpcException) as refused:
            await editor.command("open", server="docs", uri="res://secret")
        assert refused.value.data["kind"] == "needsSignIn"
        assert (await editor.servers())["docs"]["state"] == "needsSignIn"
        assert editor.shown == []
        await signed_in(editor)
        opened = await editor.command("open", server="docs", uri="res://secret", reveal=False)
        document = opened["documents"][0]["document"]
        assert await editor.content(document) == "for the signed-in only"
        answer = await editor.command("signOut", server="docs")
        assert [server["state"] for server in answer["servers"]] == ["needsSignIn"]
        assert len(world.revoked) == 1
        assert "for the signed-in only" not in await editor.content(document)
        log = (await editor.command("log", server="docs"))["text"]
        assert [token for token in world.tokens if token in log] == []


async def test_the_completion_list_offers_to_sign_in(tmp_path: Path) -> None:
    world = World()
    async with world.serve(), running(tmp_path, {"docs": {"url": world.server_url}}) as editor:
        await editor.command("refresh")
        uri = editor.open("a.md", "see @")
        answer = await editor.complete(uri, 0, 5)
        assert answer is not None
        commands = [item.command.command for item in answer.items if item.command]
        assert commands == ["lectern.signIn"]


async def test_the_browser_may_be_on_another_machine(tmp_path: Path) -> None:
    world = World()
    asked: list[str] = []
    options: dict[str, Any] = {"experimental": {"externalUri": True}}
    async with world.serve(), running(tmp_path, {"docs": {"url": world.server_url}}, **options) as editor:

        @editor.client.feature("lectern/externalUri")
        def external(params: Any) -> dict[str, str]:
            asked.append(params.uri)
            return {"uri": "https://forwarded.example/callback"}

        answer = asyncio.ensure_future(editor.command("signIn", server="docs"))
        await editor.until(lambda: bool(editor.shown) or answer.done())
        await agree(editor.shown[0].uri, through=asked[0])
        await answer
        assert asked[0].startswith("http://127.0.0.1:")
        (registered,) = world.registrations.values()
        assert registered["redirect_uris"] == ["https://forwarded.example/callback"]


async def test_a_sign_in_that_is_cancelled_ends_and_another_one_works(tmp_path: Path) -> None:
    world = World()
    async with world.serve(), running(tmp_path, {"docs": {"url": world.server_url}}) as editor:
        first = asyncio.ensure_future(editor.command("signIn", server="docs"))
        await editor.until(lambda: bool(editor.shown) or first.done())
        answer = await signed_in(editor)
        with pytest.raises(JsonRpcException, match="another sign-in"):
            await first
        assert [server["name"] for server in answer["servers"]] == ["docs"]


def keeping(editor: Editor, kept: dict[str, str], asked: list[str]) -> None:
    """The editor has a secret storage of its own."""

    @editor.client.feature("lectern/secret")
    def secret(params: Any) -> dict[str, str]:
        given = plain(params)
        asked.append(given["action"])
        if given["action"] == "set":
            kept[given["key"]] = given["value"]
        if given["action"] == "delete":
            kept.pop(given["key"], None)
        found = kept.get(given["key"])
        return {"value": found} if given["action"] == "get" and found is not None else {}


async def test_the_editor_keeps_the_sign_in_and_nobody_else_does(tmp_path: Path) -> None:
    world, kept, asked = World(), dict[str, str](), list[str]()
    log = tmp_path / "serve.log"
    options: dict[str, Any] = {
        "experimental": {"secrets": True},
        "arguments": ("--no-discover", "--log-level", "debug", "--log-file", str(log)),
    }
    async with world.serve():
        entry = {"docs": {"url": world.server_url}}
        async with running(tmp_path, entry, **options) as editor:
            keeping(editor, kept, asked)
            await signed_in(editor)
            (text,) = kept.values()
            assert any(token in text for token in world.tokens)
        async with running(tmp_path, entry, **options) as editor:
            keeping(editor, kept, asked)
            opened = await editor.command("open", server="docs", uri="res://secret", reveal=False)
            assert opened["documents"]
            assert not editor.shown
            await editor.command("signOut", server="docs")
        assert kept == {}
    assert {"get", "set", "delete"} == set(asked)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert log in written
    found = [path for path in written for token in world.tokens if token.encode() in path.read_bytes()]
    assert found == []


async def test_an_editor_whose_storage_fails_still_signs_in(tmp_path: Path) -> None:
    world = World()
    options: dict[str, Any] = {"experimental": {"secrets": True, "externalUri": True}}
    async with world.serve(), running(tmp_path, {"docs": {"url": world.server_url}}, **options) as editor:
        # It answers neither lectern/secret nor lectern/externalUri, although it says that it does.
        await signed_in(editor)
        assert (await editor.command("open", server="docs", uri="res://secret", reveal=False))["documents"]


@pytest.mark.parametrize("command", ["signIn", "signOut"])
async def test_what_cannot_be_signed_in_to_is_refused(tmp_path: Path, command: str) -> None:
    entries = {"local": {"command": "python3"}}
    async with running(tmp_path, entries) as editor:
        for argument, kind in (
            ({"server": "local"}, "invalidArgument"),
            ({"server": "nobody"}, "unknownServer"),
            ({}, "invalidArgument"),
        ):
            with pytest.raises(JsonRpcException) as refused:
                await editor.command(command, **argument)
            assert refused.value.data["kind"] == kind

"""After a restart ``@`` answers from what was remembered, before its server has spoken; and nothing more."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.lsp_client import Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

PLANS = [{"uri": f"memo://plan/{n}", "name": f"plan {n}", "mimeType": "text/plain"} for n in range(3)]
HELD = {"initialize": {"gate": "speak"}}


def file_of(folder: Path) -> Path:
    return folder / "home" / "xdg_cache_home" / "mcp-lectern" / "catalogue" / "catalogue.sqlite3"


async def until_written(folder: Path, text: bytes = b"memo://plan/0") -> None:
    """Nothing tells when a file was written."""
    async with asyncio.timeout(20):
        while not file_of(folder).exists() or text not in file_of(folder).read_bytes():
            await asyncio.sleep(0.02)


async def remember(folder: Path, servers: dict[str, Any], **more: Any) -> None:
    async with running(folder, servers, **more) as editor:
        await editor.listed()
        await until_written(folder)


async def until_shown(editor: Editor, uri: str, *expected: str) -> None:
    async with asyncio.timeout(20):
        while await editor.labels(uri, 0, 5) != [*expected]:
            await asyncio.sleep(0.02)


async def test_a_restart_answers_from_what_is_remembered_while_the_server_is_silent(tmp_path: Path) -> None:
    contents = {"memo://plan/1": "the plan"}
    with ScriptedServer(tmp_path, resources=PLANS, contents=contents) as server:
        servers = {"docs": server.entry()}
        await remember(tmp_path, servers)
        server.change(answers=HELD, resources=[{"uri": "memo://plan/9", "name": "plan 9"}])
        async with running(tmp_path, servers) as editor:
            uri = editor.open("a.md", "@plan and @docs:memo://plan/7 and @docs:memo://plan/1")
            assert await editor.labels(uri, 0, 5) == ["plan 0", "plan 1", "plan 2"]
            await server.wait_waiting("speak")
            answer = await editor.command("resources", query="plan")
            assert [item["name"] for item in answer["items"]] == ["plan 0", "plan 1", "plan 2"]
            assert answer["incomplete"]
            assert (await editor.servers())["docs"]["state"] == "starting"
            assert editor.diagnostics(uri) == []
            server.open("speak")
            await until_shown(editor, uri, "plan 9")
            found = await editor.until_diagnostics(uri)
            assert sorted(one.code for one in found if isinstance(one.code, str)) == ["unknownResource"] * 2
            assert not (await editor.command("resources", query="plan"))["incomplete"]


async def test_a_remembered_uri_may_be_followed_and_nothing_starts_by_looking(tmp_path: Path) -> None:
    contents = {"memo://plan/1": "the plan"}
    with ScriptedServer(tmp_path, resources=PLANS, contents=contents) as server:
        servers = {"docs": server.entry()}
        await remember(tmp_path, servers)
        async with running(tmp_path, servers) as editor:
            uri = editor.open("a.md", "see @docs:memo://plan/1")
            async with asyncio.timeout(20):
                while "plan 1" not in (await editor.hover(uri, 0, 10) or ""):
                    await asyncio.sleep(0.02)
            links = await editor.links(uri)
            assert (await editor.servers())["docs"]["state"] == "idle"
            assert server.starts == 1
            assert links[0].target is not None
            assert await editor.content(links[0].target) == "the plan"
            assert server.starts == 2


async def test_remember_false_keeps_nothing_and_purges(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=PLANS) as server:
        servers = {"docs": server.entry()}
        await remember(tmp_path, servers)
        server.change(answers=HELD)
        async with running(tmp_path, servers, settings={"remember": False}) as editor:
            assert await editor.labels(editor.open("a.md", "@plan"), 0, 5) != ["plan 0", "plan 1", "plan 2"]
            assert not file_of(tmp_path).exists()
            server.open("speak")


async def test_a_broken_file_is_no_reason_to_fail(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=PLANS) as server:
        servers = {"docs": server.entry()}
        await remember(tmp_path, servers)
        file_of(tmp_path).write_bytes(b"broken" * 3000)
        async with running(tmp_path, servers) as editor:
            await until_shown(editor, editor.open("a.md", "@plan"), "plan 0", "plan 1", "plan 2")
            await until_written(tmp_path)


async def test_two_editors_share_what_is_remembered(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=PLANS) as server:
        servers = {"docs": server.entry()}
        async with running(tmp_path, servers) as one, running(tmp_path, servers) as other:
            await asyncio.gather(one.listed(), other.listed())
            await until_written(tmp_path)
        server.change(answers=HELD)
        async with running(tmp_path, servers) as one, running(tmp_path, servers) as other:
            for editor in (one, other):
                uri = editor.open("a.md", "@plan")
                assert await editor.labels(uri, 0, 5) == ["plan 0", "plan 1", "plan 2"]
            server.open("speak")


async def test_a_revoked_server_is_forgotten(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=PLANS) as server:
        workspace = tmp_path / "workspace"
        workspace.mkdir()
        config = workspace / ".mcp.json"
        config.write_text(json.dumps({"mcpServers": {"docs": server.entry()}}), encoding="utf-8")
        async with running(tmp_path, arguments=(), options={"discover": ["workspace"]}) as editor:
            trust = (await editor.servers())["docs"]["trust"]
            await editor.command("approve", server="docs", fingerprint=trust["fingerprint"])
            await editor.listed()
            await until_written(tmp_path)
            await editor.command("revoke", server="docs")
            assert b"memo://plan/0" not in file_of(tmp_path).read_bytes()
        async with running(tmp_path, arguments=(), options={"discover": ["workspace"]}) as editor:
            assert "plan 0" not in await editor.labels(editor.open("a.md", "@plan"), 0, 5)
            assert server.starts == 1

"""An approval is looked up at the last moment before a start, and again when somebody else gave it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException
from tests.support.lsp_client import Editor, environment, running

pytestmark = pytest.mark.anyio

SERVER = """\
import os, sys
open({marker!r}, "a").write({word!r} + "\\n")
{more}
os.execv(sys.executable, [sys.executable, "-P", "-m", "mcp_lectern", "demo-server"])
"""


class World:
    """A workspace whose one entry runs a script that notes each of its starts in ``marker``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "cloned"
        self.workspace.mkdir()
        (folder / "home").mkdir()
        self.marker = folder / "marker"
        self.write("good")
        entry = {"command": sys.executable, "args": ["server.py"]}
        (self.workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"it": entry}}))

    def write(self, word: str, more: str = "") -> None:
        text = SERVER.format(marker=str(self.marker), word=word, more=more)
        (self.workspace / "server.py").write_text(text)

    @property
    def starts(self) -> list[str]:
        return self.marker.read_text().split() if self.marker.exists() else []

    def cli(self, *words: str) -> None:
        subprocess.run(
            [sys.executable, "-P", "-m", "mcp_lectern", *words, "--workspace", str(self.workspace)],
            env=environment(self.folder / "home"),
            cwd=self.folder,
            check=True,
            capture_output=True,
            timeout=60,
        )

    def running(self):  # type: ignore[no-untyped-def]
        return running(self.folder, workspace=self.workspace, arguments=(), experimental={"status": True})


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def refused(editor: Editor) -> str:
    with pytest.raises(JsonRpcException) as refusal:
        await editor.command("open", server="it", uri="tour://welcome")
    assert refusal.value.data["kind"] == "notTrusted"
    return str(refusal.value)


async def type_at(editor: Editor) -> None:
    uri = editor.open("a.md", "see @")
    await editor.complete(uri, 0, 5)


def state(editor: Editor) -> str | None:
    return editor.statuses[-1]["it"]["state"] if editor.statuses else None


@pytest.mark.case("SEC-02")
@pytest.mark.parametrize("wish", ["open", "restart", "refresh"])
async def test_sec_02_a_script_swapped_after_its_approval_is_not_run(world: World, wish: str) -> None:
    world.cli("approve", "it", "--json")
    async with world.running() as editor:
        assert (await editor.servers())["it"]["state"] == "idle"
        world.write("evil")
        if wish == "open":
            assert "content of “server.py” changed" in await refused(editor)
        else:
            await editor.command(wish)
        server = (await editor.servers())["it"]
        assert (server["state"], server["trust"]["approved"]) == ("notTrusted", False)
        assert "content of “server.py” changed" in server["lastError"]
        await editor.until(lambda: any("has changed" in message.message for message in editor.messages))
        assert world.starts == []
        world.write("good")
        await editor.command("open", server="it", uri="tour://welcome")
    assert world.starts == ["good"]


@pytest.mark.case("SEC-02")
async def test_sec_02_a_script_swapped_while_it_runs_is_not_run_by_a_restart(world: World) -> None:
    world.cli("approve", "it", "--json")
    async with world.running() as editor:
        await editor.command("open", server="it", uri="tour://welcome")
        world.write("evil")
        await editor.command("restart")
        assert (await editor.servers())["it"]["state"] == "notTrusted"
        await refused(editor)
    assert set(world.starts) == {"good"}


@pytest.mark.case("SEC-02")
async def test_sec_02_a_script_that_replaces_itself_and_dies_is_not_run_again(world: World) -> None:
    """Neither after a back-off, nor for the second start that a death of the probe causes."""
    evil = f'open({str(world.marker)!r}, "a").write("evil\\n")\n'
    world.write("good", f"open(__file__, 'w').write({evil!r}); sys.exit(3)")
    world.cli("approve", "it", "--json")
    async with world.running() as editor:
        await type_at(editor)
        await editor.until(lambda: state(editor) == "notTrusted" and bool(world.starts))
        await type_at(editor)
        await refused(editor)
    assert world.starts == ["good"]


@pytest.mark.case("SEC-02")
async def test_sec_02_a_crashed_server_whose_script_changed_is_not_restarted_by_the_back_off(
    world: World,
) -> None:
    world.cli("approve", "it", "--json")
    async with world.running() as editor:
        await editor.command("open", server="it", uri="tour://welcome")
        before = len(world.starts)
        world.write("evil")
        os.kill((await editor.servers())["it"]["pid"], 9)
        await editor.until(lambda: state(editor) == "notTrusted")
    assert world.starts == ["good"] * before


@pytest.mark.case("SEC-02")
async def test_sec_02_what_a_terminal_revoked_is_not_started(world: World) -> None:
    world.cli("approve", "it", "--json")
    async with world.running() as editor:
        assert (await editor.servers())["it"]["state"] == "idle"
        world.cli("revoke", "it")
        await type_at(editor)
        await editor.until(lambda: state(editor) == "notTrusted")
        assert "is not approved" in await refused(editor)
    assert world.starts == []


@pytest.mark.parametrize("wish", ["open", "restart", "refresh", "resources", "at"])
async def test_what_a_terminal_approved_starts_in_a_running_editor(world: World, wish: str) -> None:
    async with world.running() as editor:
        await type_at(editor)
        assert "is not approved" in await refused(editor)
        world.cli("approve", "it", "--json")
        if wish == "open":
            assert await editor.command("open", server="it", uri="tour://welcome")
        elif wish == "at":
            await type_at(editor)
        else:
            await editor.command(wish)
        await editor.until(lambda: state(editor) == "ready")
    assert world.starts

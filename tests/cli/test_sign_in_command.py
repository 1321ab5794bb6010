"""Signing in from a terminal: the page's address is printed, and what follows knows who is asking."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
from tests.support.oauth import World

PROGRAM = ("-P", "-m", "mcp_lectern")

pytestmark = pytest.mark.anyio


class Terminal:
    """Commands that run beside the server of this process."""

    def __init__(self, environment: Mapping[str, str], workspace: Path, world: World) -> None:
        self.environment = {
            name: text for name, text in environment.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")
        }
        self.workspace = workspace
        self.config = workspace / "servers.json"
        self.config.write_text(json.dumps({"servers": {"docs": {"url": world.server_url}}}))

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        import sys

        options = ("--config", str(self.config), "--no-discover")
        return await asyncio.create_subprocess_exec(
            sys.executable, *PROGRAM, *words, *options,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            cwd=self.workspace, env=self.environment,
        )  # fmt: skip

    async def run(self, *words: str) -> tuple[int | None, str, str]:
        process = await self.start(*words)
        out, err = await process.communicate()
        return process.returncode, out.decode(), err.decode()

    async def sign_in(self, *words: str) -> tuple[int | None, str]:
        process = await self.start("sign-in", "docs", *words)
        assert process.stderr is not None
        address = None
        while address is None:
            line = (await process.stderr.readline()).decode()
            assert line, "the command ended without an address"
            address = re.search(r"https?://\S+", line)
        async with httpx.AsyncClient(trust_env=False, follow_redirects=True) as client:
            assert (await client.get(address[0])).status_code == 200
        out, _ = await process.communicate()
        return process.returncode, out.decode()


async def test_a_terminal_signs_in_reads_and_signs_out(
    environment: Mapping[str, str], workspace: Path, home: Path
) -> None:
    world = World()
    async with world.serve():
        terminal = Terminal(environment, workspace, world)
        code, _, err = await terminal.run("read", "@docs:res://secret")
        assert (code, "sign-in" in err) == (1, True)
        assert await terminal.sign_in() == (0, "Signed in to “docs”.\n")
        assert await terminal.run("read", "@docs:res://secret") == (0, "for the signed-in only", "")
        kept = [path for path in home.rglob("*.json") if "tokens" in path.parts]
        assert [path.stat().st_mode & 0o777 for path in kept] == [0o600]
        assert await terminal.run("sign-out", "docs") == (0, "Signed out of “docs”.\n", "")
        assert not [path for path in home.rglob("*.json") if "tokens" in path.parts]
        assert len(world.revoked) == 1
        assert (await terminal.run("read", "@docs:res://secret"))[0] == 1


async def test_answers_for_programs_are_json(environment: Mapping[str, str], workspace: Path) -> None:
    world = World()
    async with world.serve():
        terminal = Terminal(environment, workspace, world)
        code, out = await terminal.sign_in("--json")
        assert (code, json.loads(out)) == (0, {"server": "docs", "signedIn": True})
        code, out, _ = await terminal.run("sign-out", "docs", "--json")
        assert (code, json.loads(out)) == (0, {"server": "docs", "signedIn": False})


async def test_a_sign_in_that_fails_names_its_step(environment: Mapping[str, str], workspace: Path) -> None:
    world = World()
    async with world.serve():
        world.change_metadata(registration_endpoint=None)
        terminal = Terminal(environment, workspace, world)
        code, out, err = await terminal.run("sign-in", "docs")
        assert (code, out) == (1, "")
        assert "while registering" in err
        assert (await terminal.run("sign-in", "nobody"))[0] == 2

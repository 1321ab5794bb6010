"""Sessions that share a sign-in renew it one after the other, so that none ends the others'."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import anyio
import httpx
import pytest
from tests.support.oauth import Browser, World, form_of

from mcp_lectern.mcp.auth import renewal
from mcp_lectern.mcp.auth.renewal import AmongProcesses, InProcess, Turns
from mcp_lectern.mcp.auth.tokens import InMemory

pytestmark = pytest.mark.anyio


class Slow(httpx.AsyncBaseTransport):
    """Answers of the token endpoint take a moment to arrive, as over a network."""

    def __init__(self, world: World, delays: list[float]) -> None:
        self._world = world
        self._delays = delays

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        response = self._world.handle(request)
        if request.url.path == "/token" and self._delays:
            await anyio.sleep(self._delays.pop(0))
        return response


async def _about_to_end(world: World) -> InMemory:
    """A sign-in whose access token is worth nothing any more."""
    storage = InMemory()
    await world.authorization(storage).sign_in(Browser(world))
    ((key, text),) = storage._kept.items()
    grant = json.loads(text)
    grant["tokens"]["expires_at"] = time.time() + 1
    storage.save(key, json.dumps(grant))
    world.tokens.clear()
    return storage


def _one_turn_each(tmp_path: Path, kind: str) -> tuple[Turns, Turns]:
    if kind == "in process":
        turns = InProcess()
        return turns, turns
    return AmongProcesses(tmp_path / "turns"), AmongProcesses(tmp_path / "turns")


@pytest.mark.parametrize("kind", ["in process", "among processes"])
@pytest.mark.parametrize("delays", [[0.02, 0.03], [0.05, 0.02], [0.02, 0.1]])
async def test_two_sessions_that_renew_at_once_ask_once_and_both_go_on(
    tmp_path: Path, kind: str, delays: list[float]
) -> None:
    """Even where a refresh token that comes twice ends everything, as OAuth 2.1 advises."""
    world = World()
    storage = await _about_to_end(world)
    honest = world._token

    def strict(request: httpx.Request) -> httpx.Response:
        if form_of(request).get("refresh_token") not in (None, *world.refresh_tokens):
            world.refresh_tokens.clear()
            world.tokens.clear()
        return honest(request)

    world._token = strict  # type: ignore[method-assign]
    left = list(delays)

    def slow() -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=Slow(world, left))

    sessions = [
        world.authorization(storage, clients=slow, turns=turns) for turns in _one_turn_each(tmp_path, kind)
    ]
    before = len(world.forms())
    async with anyio.create_task_group() as tasks:
        for session in sessions:
            tasks.start_soon(world.call, session)
    assert len(world.forms()) == before + 1
    for session in (*sessions, world.authorization(storage)):
        assert (await world.call(session)).status_code == 200


async def test_a_turn_of_another_process_is_waited_for(tmp_path: Path) -> None:
    hold = (
        "import anyio, sys\n"
        "from pathlib import Path\n"
        "from mcp_lectern.mcp.auth.renewal import AmongProcesses\n"
        "async def main():\n"
        "    async with AmongProcesses(Path(sys.argv[1])).of('key'):\n"
        "        print('held', flush=True)\n"
        "        sys.stdin.readline()\n"
        "        print('given back', flush=True)\n"
        "anyio.run(main)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        async with AmongProcesses(tmp_path).of("another key"):
            pass
        with anyio.move_on_after(0.3) as waiting:
            async with AmongProcesses(tmp_path).of("key"):
                pass
        assert waiting.cancelled_caught
        other.stdin.write("\n")
        other.stdin.flush()
        async with AmongProcesses(tmp_path).of("key"):
            assert other.stdout.readline() == "given back\n"


@pytest.mark.parametrize("why", ["held for ever", "no folder"])
async def test_a_turn_that_cannot_be_had_is_done_without(
    tmp_path: Path, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renewal, "PATIENCE", 0.2)
    if why == "no folder":
        (tmp_path / "file").write_text("")
        async with AmongProcesses(tmp_path / "file" / "folder").of("key"):
            return
    async with AmongProcesses(tmp_path).of("key"), AmongProcesses(tmp_path).of("key"):
        return

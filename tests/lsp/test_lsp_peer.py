"""The language server as a peer: odd clients and loud servers cost a request, never the session."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.support.lsp_client import environment
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.lsp.editor import CAPABILITIES, Editor, ResponseError, serving, started

pytestmark = pytest.mark.anyio

DEMO = {"command": sys.executable, "args": ["-P", "-m", "mcp_lectern", "demo-server"]}


@asynccontextmanager
async def _editing(tmp_path: Path, servers: dict[str, object]) -> AsyncIterator[Editor]:
    config, home = tmp_path / "config.json", tmp_path / "home"
    config.write_text(json.dumps({"servers": servers}), encoding="utf-8")
    home.mkdir()
    command = serving("--config", str(config), "--no-discover")
    async with started(command, folder=home, environment=environment(home)) as editor:
        yield editor


async def test_requests_out_of_turn_are_refused_as_lsp_says(tmp_path: Path) -> None:
    async with _editing(tmp_path, {}) as editor:
        with pytest.raises(ResponseError) as early:
            await editor.request("textDocument/hover", {})
        assert early.value.code == -32002
        await editor.initialize()
        with pytest.raises(ResponseError) as twice:
            await editor.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        assert twice.value.code == -32600
        with pytest.raises(ResponseError) as unknown:
            await editor.request("textDocument/foldingRange", {"textDocument": {"uri": "a:b"}})
        assert unknown.value.code == -32601
        for params in (["x"], {"command": "lectern.servers", "arguments": [{}, {}]}, {"command": "no.such"}):
            with pytest.raises(ResponseError) as wrong:
                await editor.request("workspace/executeCommand", params)
            assert (wrong.value.code, wrong.value.data) == (-32602, {"kind": "invalidArgument"})
        await editor.request("shutdown")
        with pytest.raises(ResponseError) as late:
            await editor.command("lectern.servers")
        assert late.value.code == -32600


async def test_words_that_lsp_does_not_know_yet_are_no_obstacle(tmp_path: Path) -> None:
    capabilities = {
        **CAPABILITIES,
        "textDocument": {
            "hover": {"contentFormat": ["rtf", "markdown"]},
            "completion": {"completionItem": {"documentationFormat": ["rtf"]}},
        },
        "general": {"positionEncodings": ["ebcdic", "utf-8"]},
    }
    async with _editing(tmp_path, {"demo": DEMO}) as editor:
        result = await editor.initialize(capabilities=capabilities, process_id=2**40)
        assert result["capabilities"]["positionEncoding"] == "utf-8"
        await editor.command("lectern.refresh")
        editor.open("file:///a.md", "@welc @demo:tour://welcome")
        context = {"triggerKind": 9}
        answer = await editor.at("textDocument/completion", "file:///a.md", 0, 5, context=context)
        assert answer["items"]
        hover = await editor.at("textDocument/hover", "file:///a.md", 0, 10)
        assert hover["contents"]["kind"] == "markdown"


@pytest.mark.parametrize("behaviour", ["silent", "error"])
async def test_a_client_that_tells_no_settings_still_gets_its_servers(tmp_path: Path, behaviour: str) -> None:
    async with _editing(tmp_path, {"demo": DEMO}) as editor:
        if behaviour == "error":
            del editor.answers["workspace/configuration"]
        else:
            editor.silent.add("workspace/configuration")
        await editor.initialize()
        async with asyncio.timeout(15):
            servers = await editor.command("lectern.servers")
        assert [server["name"] for server in servers["servers"]] == ["demo"]


@pytest.mark.case("LSP-06")
async def test_lsp_06_shutdown_is_quick_though_a_server_ignores_its_end(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, ignore_eof=True, ignore_sigterm=True) as server:
        async with _editing(tmp_path, {"stubborn": server.entry()}) as editor:
            await editor.initialize()
            await editor.command("lectern.refresh")
            began = time.monotonic()
            await editor.request("shutdown")
            assert time.monotonic() - began < 2


@pytest.mark.case("IO-01")
@pytest.mark.skipif(sys.platform == "win32", reason="yes and sh are POSIX")
@pytest.mark.parametrize("stream", ["", ">&2"], ids=["stdout", "stderr"])
async def test_io_01_a_server_that_floods_its_output_holds_nobody_up(tmp_path: Path, stream: str) -> None:
    loud = {"command": "sh", "args": ["-c", f"yes {stream}"]}
    async with _editing(tmp_path, {"loud": loud, "demo": DEMO}) as editor:
        await editor.initialize()
        await editor.command("lectern.refresh", {"server": "demo"})
        await editor.command("lectern.resources")
        editor.open("file:///a.md", "@welc")
        times = []
        for _ in range(10):
            began = time.monotonic()
            answer = await editor.at("textDocument/completion", "file:///a.md", 0, 5)
            times.append(time.monotonic() - began)
            assert answer["items"]
        assert sorted(times)[5] < 0.3

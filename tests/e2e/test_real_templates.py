"""Templates of servers that we did not write: their values, and a text expanded with what they make."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from lsprotocol import types
from tests.lsp.test_lsp_values import accepted, offered, until_offered
from tests.support.lsp_client import Editor, environment, running

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

SDK_SERVER = """
from mcp.server import MCPServer
from mcp.types import Completion

server = MCPServer("sdk")


@server.resource("gh://{owner}/{repo}")
def repository(owner: str, repo: str) -> str:
    return f"{owner}'s {repo}"


@server.completion()
async def values(reference, argument, context):
    chosen = (context and context.arguments) or {}
    if argument.name == "owner":
        known = ["a b", "octo"]
    else:
        known = [f"{chosen.get('owner')} one", f"{chosen.get('owner')} two"]
    return Completion(values=[value for value in known if value.startswith(argument.value)])


server.run("stdio")
"""


@pytest.fixture
def everything(part: Callable[[str], Path]) -> dict[str, object]:
    """The reference server of the TypeScript SDK."""
    return {"command": str(part("npm-servers") / "mcp-server-everything"), "args": ["stdio"]}


@pytest.fixture
def sdk(tmp_path: Path) -> dict[str, object]:
    """A server on the Python SDK whose second value depends on the first."""
    program = tmp_path / "sdk_server.py"
    program.write_text(SDK_SERVER)
    return {"command": sys.executable, "args": [str(program)]}


async def _values(editor: Editor, uri: str, text: str) -> Sequence[types.CompletionItem]:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        items = await offered(editor, uri, text)
        values = [item for item in items if item.kind == types.CompletionItemKind.Value]
        if values:
            return values
    raise TimeoutError(f"no value for {text}")


@pytest.mark.case("CMP-02")
async def test_cmp_02_the_second_value_depends_on_the_first(tmp_path: Path, sdk: dict[str, object]) -> None:
    async with running(tmp_path, {"sdk": sdk}) as editor:
        await editor.listed()
        uri = editor.open("a.md", "")
        items = await until_offered(editor, uri, "@sdk:gh://a", "a b")
        text = accepted("@sdk:gh://a", items, "a b")
        assert text == "@sdk:gh://a%20b/"
        items = await until_offered(editor, uri, text, "a b two")
        text = accepted(text, items, "a b two")
        assert text == "@sdk:gh://a%20b/a%20b%20two"
        answer = await editor.command("expand", text=f"see {text}", unlisted=True)
        assert "a b's a b two" in answer["text"]


@pytest.mark.case("CMP-02")
async def test_cmp_02_values_of_the_reference_server(tmp_path: Path, everything: dict[str, object]) -> None:
    async with running(tmp_path, {"everything": everything}) as editor:
        await editor.listed()
        uri = editor.open("a.md", "")
        begun = "@everything:demo://resource/dynamic/text/"
        found = await editor.command("resources", query="", server="everything")
        assert any(each["uriTemplate"].startswith(begun.partition(":")[2]) for each in found["templates"])
        values = await _values(editor, uri, begun + "1")
        text = accepted(begun + "1", values, values[0].label)
        assert text.startswith(begun)
        assert "Resource" in (await editor.command("expand", text=text, unlisted=True))["text"]


def test_the_command_line_expands_what_real_servers_have(
    tmp_path: Path, everything: dict[str, object], sdk: dict[str, object]
) -> None:
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"everything": everything, "sdk": sdk}}))
    home = tmp_path / "home"
    home.mkdir()
    text = "@everything:demo://resource/static/document/architecture.md and @sdk:gh://o/r"
    done = subprocess.run(
        [sys.executable, "-P", "-m", "mcp_lectern", "expand", "-", "--unlisted", "--config", str(config),
         "--no-discover"],
        input=text, capture_output=True, text=True, timeout=100, check=False, env=environment(home), cwd=home,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.index("Everything Server") < done.stdout.index("o's r")
    assert done.stdout.endswith(text)

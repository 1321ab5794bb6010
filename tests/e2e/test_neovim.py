"""A person's way through a real Neovim, set up with the very lines that ``docs/editors.md`` gives."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import parts
from tests.support.neovim import Neovim
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.timeout(120)

PYTHON_OPTIONS = ["-P", "-m", "mcp_lectern"]
NUMBERS = range(10_000)


def made_up(number: int) -> str:
    """Ids such as ``aa-149``: after the hyphen an editor asks again only because it is told to."""
    return f"item://{'abcde'[number % 5]}{'abcde'[number // 5 % 5]}-{number // 25}"


def documented() -> str:
    """The Lua of the documentation."""
    page = (parts.ROOT / "docs" / "editors.md").read_text()
    return "\n".join(re.findall(r"^```lua\n(.*?)^```", page, re.DOTALL | re.MULTILINE))


@pytest.fixture
def many(tmp_path: Path) -> Iterator[ScriptedServer]:
    resources = [{"uri": made_up(number), "name": f"Item {number}"} for number in NUMBERS]
    with ScriptedServer(tmp_path, name="many", resources=resources, page_size=500) as server:
        yield server


@pytest.fixture
def neovim(tmp_path: Path, part: Callable[[str], Path], many: ScriptedServer) -> Iterator[Neovim]:
    servers = {
        "tour": {"command": sys.executable, "args": [*PYTHON_OPTIONS, "demo-server"]},
        "many": many.entry(),
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    command = [
        sys.executable,
        *PYTHON_OPTIONS,
        "serve",
        "--no-discover",
        "--config",
        str(tmp_path / "mcp.json"),
    ]
    lua = documented()
    literal = "{ 'mcp-lectern', 'serve' }"
    assert literal in lua
    home = tmp_path / "home"
    home.mkdir()
    with Neovim(
        part("neovim"), home, lua.replace(literal, f"vim.json.decode([==[{json.dumps(command)}]==])")
    ) as neovim:
        yield neovim


@pytest.fixture
def note(neovim: Neovim, tmp_path: Path) -> Path:
    """An empty Markdown file, open and attached; all servers have told what they have."""
    file = tmp_path / "note.md"
    file.write_text("")
    neovim.edit(file)
    neovim.until(lambda: attached(neovim), "Lectern was not attached")
    refresh = "'workspace/executeCommand', { command = 'lectern.refresh' }, 20000"
    assert neovim.lua(f"vim.lsp.get_clients({{ bufnr = 0 }})[1]:request_sync({refresh}).err") is None
    return file


def attached(neovim: Neovim) -> bool:
    initialized = "vim.tbl_map(function(c) return c.initialized end, vim.lsp.get_clients({ bufnr = 0 }))"
    return bool(neovim.lua(initialized) == [True])


@pytest.mark.usefixtures("note")
def test_a_mention_is_completed_hovered_and_followed(neovim: Neovim) -> None:
    neovim.keys("iRead<Space>")
    neovim.type("@")
    neovim.until(neovim.menu, "typing @ opened no menu")
    neovim.type("welc")
    neovim.until(lambda: neovim.menu()[:1] == ["@tour:tour://welcome"], "the menu did not narrow")
    neovim.keys("<C-n><C-y>")
    neovim.until(lambda: neovim.lines() == ["Read @tour:tour://welcome"], "the mention was not inserted")
    neovim.keys("<Esc>")
    neovim.lua("vim.lsp.buf.definition()")
    neovim.until(
        lambda: neovim.lua("vim.api.nvim_buf_get_name(0)").startswith("lectern://"), "it was not followed"
    )
    neovim.until(lambda: len(neovim.lines()) > 1, "the resource is empty")
    assert neovim.lua("vim.bo.modifiable") is False
    assert neovim.lua("vim.bo.readonly") is True
    assert neovim.lua("vim.bo.filetype") == "markdown"


@pytest.mark.case("PAG-06")
@pytest.mark.usefixtures("note")
@pytest.mark.parametrize("number", [0, 149, 4711, 9999])
def test_pag_06_an_id_typed_in_full_is_the_one_inserted(neovim: Neovim, number: int) -> None:
    uri = made_up(number)
    neovim.keys("i")
    neovim.type("@")
    neovim.until(neovim.menu, "typing @ opened no menu")
    neovim.type(uri.removeprefix("item://"))
    neovim.until(lambda: neovim.menu()[:1] == [f"@many:{uri}"], "the menu does not lead with what was typed")
    neovim.keys("<C-n><C-y>")
    neovim.until(lambda: neovim.lines() == [f"@many:{uri}"], "another resource was inserted")


@pytest.mark.case("UI-01")
@pytest.mark.usefixtures("note")
@pytest.mark.parametrize("key", ["<CR>", "<Space>"])
def test_ui_01_prose_stays_prose(neovim: Neovim, key: str) -> None:
    prose = ["thanks @bob", "@dg", "cc @all,"]
    neovim.keys("i")
    for line in prose:
        neovim.type(line)
        neovim.keys(key)
    text = "".join(line + ("\n" if key == "<CR>" else " ") for line in prose)
    assert "\n".join(neovim.lines()) == text


@pytest.mark.usefixtures("note")
def test_an_open_document_changes_by_itself(neovim: Neovim) -> None:
    neovim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { '@tour:tour://clock' })")
    neovim.lua("vim.lsp.buf.definition()")
    neovim.until(lambda: neovim.lines()[0].startswith("It is"), "the clock was not followed")
    first = neovim.lines()[0]
    neovim.until(lambda: neovim.lines()[0] != first, "the clock stands still")
    assert neovim.lines()[0].startswith("It is")
    assert neovim.lua("vim.bo.modifiable") is False
    assert neovim.lua("vim.bo.modified") is False

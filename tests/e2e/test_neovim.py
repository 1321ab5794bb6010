"""A person's way through a real Neovim, set up with the very lines that ``docs/editors.md`` gives."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.documented import snippets
from tests.support.neovim import Neovim
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.timeout(120)

PYTHON_OPTIONS = ["-P", "-m", "mcp_lectern"]
NUMBERS = range(10_000)
HOSTILE = "first\nvim: set filetype=lua modifiable noreadonly tabstop=3 :"
MEMOS = {"memo://short": "one\ntwo\n", "memo://hostile": HOSTILE}


def made_up(number: int) -> str:
    """Ids such as ``aa-149``: after the hyphen an editor asks again only because it is told to."""
    return f"item://{'abcde'[number % 5]}{'abcde'[number // 5 % 5]}-{number // 25}"


@pytest.fixture
def many(tmp_path: Path) -> Iterator[ScriptedServer]:
    resources = [{"uri": made_up(number), "name": f"Item {number}"} for number in NUMBERS]
    with ScriptedServer(tmp_path, name="many", resources=resources, page_size=500) as server:
        yield server


@pytest.fixture
def memos(tmp_path: Path) -> Iterator[ScriptedServer]:
    resources = [{"uri": uri, "name": uri[7:], "mimeType": "text/plain"} for uri in MEMOS]
    capabilities = {"resources": {"subscribe": True}}
    with ScriptedServer(
        tmp_path, name="memos", resources=resources, contents=MEMOS, capabilities=capabilities
    ) as server:
        yield server


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[ScriptedServer]:
    with ScriptedServer(tmp_path, name="vault") as server:
        yield server


@pytest.fixture
def neovim(
    tmp_path: Path,
    part: Callable[[str], Path],
    many: ScriptedServer,
    memos: ScriptedServer,
    vault: ScriptedServer,
) -> Iterator[Neovim]:
    servers = {
        "tour": {"command": sys.executable, "args": [*PYTHON_OPTIONS, "demo-server"]},
        "many": many.entry(),
        "memos": memos.entry(),
    }
    asking = {
        "inputs": [
            {"id": "key", "description": "the key", "password": True},
            {"type": "pickString", "id": "where", "options": ["eu", {"label": "America", "value": "us"}]},
        ],
        "servers": {"vault": vault.entry(env={"KEY": "${input:key}", "WHERE": "${input:where}"})},
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers, **asking}))
    command = [
        sys.executable,
        *PYTHON_OPTIONS,
        "serve",
        "--no-discover",
        "--config",
        str(tmp_path / "mcp.json"),
    ]
    lua = "\n".join(snippets("Neovim", "lua"))
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


def write(neovim: Neovim, *lines: str) -> None:
    """Replace the text, and put the cursor on its first character."""
    text = f"vim.json.decode({json.dumps(json.dumps(lines))})"
    neovim.lua(f"vim.api.nvim_buf_set_lines(0, 0, -1, false, {text})")
    neovim.lua("vim.api.nvim_win_set_cursor(0, { 1, 0 })")


def act(neovim: Neovim, title: str) -> None:
    """Choose a code action at the cursor."""
    chosen = f"filter = function(one) return one.title == {json.dumps(title)} end"
    neovim.lua(f"vim.lsp.buf.code_action({{ apply = true, {chosen} }})")


@pytest.mark.usefixtures("note")
def test_a_template_continues_into_its_variables(neovim: Neovim) -> None:
    neovim.keys("i")
    neovim.type("@keys")
    for word, text in [
        ("@tour:tour://keys/", "@tour:tour://keys/"),
        ("@tour:tour://keys/Neovim/", "@tour:tour://keys/Neovim/"),
        ("@tour:tour://keys/Neovim/hover", "@tour:tour://keys/Neovim/hover"),
    ]:
        neovim.until(lambda word=word: word in neovim.menu(), f"{word} is not in the list")
        while neovim.lua("vim.fn.complete_info({'selected'}).selected") != neovim.menu().index(word):
            neovim.keys("<C-n>")
        neovim.keys("<C-y>")
        neovim.until(lambda text=text: neovim.lines() == [text], f"{text} was not inserted")
    neovim.keys("<Esc>0")
    hovered = (
        "vim.lsp.buf_request_sync(0, 'textDocument/hover', vim.lsp.util.make_position_params(0, 'utf-8'))"
    )
    text = neovim.lua(f"vim.tbl_values({hovered})[1].result.contents.value")
    assert "Neovim" in text
    assert "Keys by editor" in text


@pytest.mark.usefixtures("note")
def test_a_text_is_expanded(neovim: Neovim) -> None:
    write(neovim, "🙂 summarise @memos:memo://short please")
    neovim.keys(":LecternExpand<CR>")
    neovim.until(lambda: len(neovim.lines()) > 3, "nothing was shown")
    lines = [line for line in neovim.lines() if line]
    assert lines[-1] == "🙂 summarise @memos:memo://short please"
    assert [line for line in lines if line in ("one", "two")] == ["one", "two"]
    assert neovim.lua("vim.bo.buftype") == "nofile"


@pytest.mark.usefixtures("note")
def test_a_mention_gives_way_to_its_content(neovim: Neovim) -> None:
    write(neovim, "@memos:memo://short is 🙂", "more")
    act(neovim, "Lectern: Replace by its content")
    neovim.until(lambda: neovim.lines() == ["one", "two is 🙂", "more"], "the content did not come")
    neovim.keys("u")
    neovim.until(lambda: neovim.lines() == ["@memos:memo://short is 🙂", "more"], "it cannot be undone")


@pytest.mark.usefixtures("note")
def test_other_mentions_of_a_resource_are_found(neovim: Neovim, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "other.md").write_text("far away: @memos:memo://short")
    write(neovim, "@memos:memo://short", "and memo://short, 🙂 @memo://short")
    neovim.lua("vim.lsp.buf.references()")
    found = "vim.tbl_map(function(one) return { one.lnum, one.col } end, vim.fn.getqflist())"
    neovim.until(lambda: len(neovim.lua(found)) >= 2, "no references were found")
    assert [1, 1] in neovim.lua(found)
    assert [2, len("and memo://short, 🙂 ".encode()) + 1] in neovim.lua(found)


@pytest.mark.usefixtures("note")
def test_a_mistake_is_shown_and_what_was_meant_is_written_instead(neovim: Neovim) -> None:
    write(neovim, "🙂 see @memos:memo://shrt")
    said = "vim.tbl_map(function(one) return one.message end, vim.diagnostic.get(0))"
    neovim.until(lambda: "memo://short" in str(neovim.lua(said)), "nothing was said of the mistake")
    assert neovim.lua("vim.diagnostic.get(0)[1].col") == len("🙂 see ".encode())
    neovim.lua("vim.api.nvim_win_set_cursor(0, { 1, 12 })")
    act(neovim, "Write @memos:memo://short")
    neovim.until(lambda: neovim.lines() == ["🙂 see @memos:memo://short"], "it was not corrected")
    neovim.until(lambda: neovim.lua("#vim.diagnostic.get(0)") == 0, "the mistake is gone, and still shown")


@pytest.mark.usefixtures("note")
def test_an_unlisted_resource_is_opened_by_a_code_action_on_its_page(neovim: Neovim) -> None:
    write(neovim, "@tour:tour://glossary/cursor")
    neovim.lua("vim.lsp.buf.definition()")
    neovim.until(lambda: neovim.lines()[0].startswith("Nothing was read yet"), "there is no page")
    act(neovim, "Lectern: Read this resource")
    neovim.until(lambda: "bookmark" in "\n".join(neovim.lines()), "what was read is not shown")


@pytest.mark.case("SEC-01")
@pytest.mark.usefixtures("note")
def test_sec_01_a_resource_sets_no_option(neovim: Neovim) -> None:
    write(neovim, "@memos:memo://hostile")
    neovim.lua("vim.lsp.buf.definition()")
    neovim.until(lambda: neovim.lines() == HOSTILE.split("\n"), "it was not followed")
    options = "{ vim.bo.filetype, vim.bo.modifiable, vim.bo.readonly, vim.bo.tabstop }"
    assert neovim.lua(options) == ["text", False, True, 8]


@pytest.mark.usefixtures("note")
def test_a_document_that_is_older_than_its_resource_says_so(neovim: Neovim, memos: ScriptedServer) -> None:
    write(neovim, "@memos:memo://short")
    neovim.lua("vim.lsp.buf.definition()")
    neovim.until(lambda: neovim.lines()[0] == "one", "it was not followed")
    neovim.until(lambda: memos.received("resources/subscribe"), "it is not subscribed to")
    memos.change(answers={"resources/read": {"error": {"code": -32603, "message": "on fire"}}}, notify=False)
    memos.notify("notifications/resources/updated", {"uri": "memo://short"})
    neovim.until(lambda: "on fire" in neovim.messages(), "nothing was said of a text that is old")
    assert neovim.lines()[0] == "one"
    memos.change(answers={}, contents={**MEMOS, "memo://short": "three"}, notify=False)
    memos.notify("notifications/resources/updated", {"uri": "memo://short"})
    neovim.until(lambda: neovim.lines() == ["three"], "the new text did not come")


@pytest.mark.usefixtures("note")
def test_what_an_entry_asks_for_is_typed_hidden(neovim: Neovim, vault: ScriptedServer) -> None:
    sign_in = "{ command = 'lectern.signIn', arguments = { { server = 'vault' } } }"
    neovim.lua(f"vim.lsp.get_clients({{ bufnr = 0 }})[1]:request('workspace/executeCommand', {sign_in})")
    neovim.until(lambda: neovim.lua("vim.fn.mode()") == "c", "nothing was asked for")
    assert neovim.lua("vim.fn.getcmdprompt()") == "vault asks for the key: "
    neovim.keys("hush-hush<CR>")
    asked = "vim.fn.getcmdprompt()"
    neovim.until(
        lambda: neovim.lua(asked) == "vault asks for where (eu, us): ", "the second was not asked for"
    )
    neovim.keys("us<CR>")
    neovim.until(lambda: vault.starts, "it was not started")
    assert (vault.started[0]["env"]["KEY"], vault.started[0]["env"]["WHERE"]) == ("hush-hush", "us")
    assert "hush-hush" not in neovim.messages()

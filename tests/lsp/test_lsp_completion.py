"""The list after ``@`` as an editor gets it, and what is inserted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.support.lsp_client import CONTENT, Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

DEMO = {"command": sys.executable, "args": ["-P", "-m", "mcp_lectern", "demo-server"]}


async def _accepted(editor: Editor, uri: str, text: str, label: str) -> str:
    """The line after accepting the item with this label at its end."""
    answer = await editor.complete(uri, 0, len(text))
    assert answer is not None
    item = next(item for item in answer.items if item.label == label)
    edit = item.text_edit
    assert edit is not None
    span = edit.range  # type: ignore[union-attr]
    return text[: span.start.character] + edit.new_text + text[span.end.character :]


@pytest.mark.case("LSP-04")
async def test_lsp_04_the_list_is_incomplete_throughout_a_half_typed_mention(tmp_path: Path) -> None:
    slow = {"resources/list": {"gate": "go"}}
    with ScriptedServer(tmp_path, resources=[{"uri": "a://1", "name": "apple"}], answers=slow) as server:
        async with running(tmp_path, {"a": server.entry()}) as editor:
            uri = editor.open("a.md", "see @appl")
            first = await editor.complete(uri, 0, 9)
            assert first is not None
            assert (first.is_incomplete, list(first.items)) == (True, [])
            await server.wait_waiting("go")
            server.open("go")
            await editor.listed()
            second = await editor.complete(uri, 0, 9)
            assert second is not None
            assert (second.is_incomplete, [item.label for item in second.items]) == (True, ["apple"])
            nothing = editor.open("b.md", "see @zzzz")
            third = await editor.complete(nothing, 0, 9)
            assert third is not None
            assert (third.is_incomplete, list(third.items)) == (True, [])
            assert await editor.complete(uri, 0, 3) is None, "outside a mention there is no list"


async def test_what_is_inserted_names_the_resource_and_can_be_followed(tmp_path: Path) -> None:
    async with running(tmp_path, {"demo": DEMO}) as editor:
        await editor.listed()
        uri = editor.open("a.md", "see @welc")
        line = await _accepted(editor, uri, "see @welc", "Welcome to Lectern")
        assert line == "see @demo:tour://welcome"
        editor.change(uri, 2, (None, line))
        (link,) = await editor.links(uri)
        assert link.target
        assert "Lectern" in await editor.content(link.target)


async def test_documentation_is_added_when_an_item_is_looked_at(tmp_path: Path) -> None:
    async with running(tmp_path, {"demo": DEMO}) as editor:
        await editor.listed()
        answer = await editor.complete(editor.open("a.md", "@welc"), 0, 5)
        assert answer is not None
        assert answer.items[0].documentation is None
        item = await editor.client.completion_item_resolve_async(answer.items[0])
        assert "Start here." in str(item.documentation)


@pytest.mark.case("URI-05")
@pytest.mark.parametrize("order", [["a", "b"], ["b", "a"]])
async def test_uri_05_two_servers_with_one_uri_stay_two(tmp_path: Path, order: list[str]) -> None:
    resources = [{"uri": "config://app", "name": "config"}]
    with (
        ScriptedServer(tmp_path, name="a", resources=resources, contents={"config://app": "text of a"}) as a,
        ScriptedServer(tmp_path, name="b", resources=resources, contents={"config://app": "text of b"}) as b,
    ):
        entries = {"a": a.entry(), "b": b.entry()}
        async with running(tmp_path, {name: entries[name] for name in order}) as editor:
            await editor.listed()
            uri = editor.open("a.md", "@a:config://app @b:config://app @config://app")
            answer = await editor.complete(editor.open("b.md", "@conf"), 0, 5)
            assert answer is not None
            inserted = {item.text_edit.new_text for item in answer.items if item.text_edit}
            assert {"@a:config://app", "@b:config://app"} <= inserted
            (ambiguous,) = await editor.until_diagnostics(uri)
            assert "“a”" in ambiguous.message
            assert "“b”" in ambiguous.message
            texts = [await editor.content(link.target or "") for link in await editor.links(uri)]
            assert texts == ["text of a", "text of b"]


@pytest.mark.case("URI-06")
async def test_uri_06_names_with_delimiters_stay_distinct_and_come_back(tmp_path: Path) -> None:
    names = ["Slack Local", "a:b", "a.b", "a/b", "日本", "a"]
    uris = dict.fromkeys(names, "x://same") | {"a": "b:c://x", "a:b": "c://x"}
    servers = {
        name: ScriptedServer(
            tmp_path,
            name=f"s{number}",
            resources=[{"uri": uris[name], "name": "thing"}],
            contents={uris[name]: f"of {name}"},
        )
        for number, name in enumerate(names)
    }
    try:
        async with running(tmp_path, {**{n: s.entry() for n, s in servers.items()}, "": DEMO}) as editor:
            await editor.listed()
            answer = await editor.complete(editor.open("a.md", "@thin"), 0, 5)
            assert answer is not None
            inserted = [item.text_edit.new_text for item in answer.items if item.text_edit]
            assert len(set(inserted)) == len(names)
            uri = editor.open("b.md", " and ".join(inserted))
            texts = [await editor.content(link.target or "") for link in await editor.links(uri)]
            assert sorted(texts) == sorted(f"of {name}" for name in names)
            assert "" not in await editor.servers()
    finally:
        for server in servers.values():
            server.close()


@pytest.mark.case("URI-04")
async def test_uri_04_the_first_colon_ends_a_name_only_where_a_server_has_it(tmp_path: Path) -> None:
    listed = {
        "file": ["memo://a"],
        "https": ["x://1"],
        "docs": ["file:///C:/Users/x%20y.txt", "memo://only"],
    }
    servers = {
        name: ScriptedServer(
            tmp_path,
            name=name,
            resources=[{"uri": uri, "name": uri} for uri in uris],
            contents={uri: f"{name} {uri}" for uri in uris},
        )
        for name, uris in listed.items()
    }
    try:
        async with running(tmp_path, {n: s.entry() for n, s in servers.items()}) as editor:
            await editor.listed()
            text = (
                r"@docs:file:///C:/Users/x%20y.txt @file:memo://a @C:\tmp\a.txt @memo://only @nope:memo://x"
            )
            uri = editor.open("a.md", text)
            links = await editor.links(uri)
            assert [await editor.content(link.target or "") for link in links] == [
                "docs file:///C:/Users/x%20y.txt",
                "file memo://a",
                "docs memo://only",
            ]
            found = await editor.until_diagnostics(uri)
            assert [diagnostic.range.start.character for diagnostic in found] == [text.index("@nope")]
    finally:
        for server in servers.values():
            server.close()


@pytest.mark.case("PAG-06")
async def test_pag_06_any_item_of_a_long_list_is_reached_by_typing_on(tmp_path: Path) -> None:
    resources = [
        {"uri": f"tickets://{letters}/{number}", "name": f"{letters}-{number}"}
        for letters in ("aa", "ab", "ba", "bb")
        for number in range(2500)
    ]
    with ScriptedServer(tmp_path, resources=resources, page_size=100) as server:
        async with running(tmp_path, {"t": server.entry()}) as editor:
            await editor.listed()
            uri = editor.open("a.md", "")
            version = 1
            for wanted in ("aa-149", "bb-2499", "ab-7"):
                for length in range(len(wanted) + 1):
                    version += 1
                    editor.change(uri, version, (None, "@" + wanted[:length]))
                    answer = await editor.complete(uri, 0, length + 1)
                    assert answer is not None
                    assert answer.is_incomplete
                    assert len(answer.items) <= 100
                assert answer.items[0].label == wanted
            assert not server.received("resources/read")


@pytest.mark.case("UI-01")
@pytest.mark.parametrize("prose", ["thanks @bob", "@dg", "cc @all,", "@ob", "see @lice."])
async def test_ui_01_prose_gets_no_list(tmp_path: Path, prose: str) -> None:
    resources = [{"uri": f"x://{n}", "name": f"knob-edge calling {n} alice's abcd"} for n in range(2000)]
    with ScriptedServer(tmp_path, resources=resources) as server:
        async with running(tmp_path, {"s": server.entry()}) as editor:
            await editor.listed()
            answer = await editor.complete(editor.open("a.md", prose), 0, len(prose))
            assert answer is None or not answer.items


async def test_a_half_typed_mention_in_code_or_in_another_language_is_none(tmp_path: Path) -> None:
    async with running(tmp_path, {"demo": DEMO}) as editor:
        await editor.listed()
        assert await editor.complete(editor.open("a.py", "@welc", "python"), 0, 5) is None
        assert await editor.complete(editor.open("a.md", "```\n@welc\n```\n"), 1, 5) is None
        assert await editor.complete(editor.open("b.md", "`@welc`"), 0, 6) is None
        assert await editor.labels(editor.open("c.txt", "`@welc", "plaintext"), 0, 6)


async def test_a_server_that_waits_for_approval_is_one_quiet_item(tmp_path: Path) -> None:
    folder = tmp_path / "cloned"
    folder.mkdir()
    (folder / ".mcp.json").write_text('{"mcpServers": {"theirs": {"command": "true"}}}', encoding="utf-8")
    async with running(tmp_path, workspace=folder, arguments=(), capabilities=CONTENT) as editor:
        await editor.servers()
        answer = await editor.complete(editor.open("a.md", "@"), 0, 1)
        assert answer is not None
        notices = [item for item in answer.items if item.command]
        assert [item.command.command for item in notices if item.command] == ["lectern.approve"]
        await editor.until(lambda: any("theirs" in message.message for message in editor.messages))

"""Values for a template's variables as an editor gets them, however slow or odd the server is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from tests.lsp.test_lsp_completion import DEMO
from tests.support.lsp_client import CONTENT, Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

TEMPLATES = [{"uriTemplate": "gh://{owner}/{repo}", "name": "repository"}]
CAPABLE = {"resources": {}, "completions": {}}


def scripted(folder: Path, answer: Any, **more: Any) -> ScriptedServer:
    script = {
        "templates": TEMPLATES,
        "capabilities": CAPABLE,
        "answers": {"completion/complete": answer},
        **more,
    }
    return ScriptedServer(folder, **script)


def proposed(*values: Any, **more: Any) -> dict[str, Any]:
    return {"result": {"completion": {"values": list(values), **more}}}


async def offered(editor: Editor, uri: str, text: str) -> Sequence[types.CompletionItem]:
    """The items at the end of this line, which becomes the whole text."""
    version = editor._version = editor._version + 1
    editor.change(uri, version, (None, text))
    answer = await editor.complete(uri, 0, len(text))
    assert answer is not None
    assert answer.is_incomplete
    return list(answer.items)


async def until_offered(editor: Editor, uri: str, text: str, label: str) -> Sequence[types.CompletionItem]:
    """Ask again, as an editor does, until this is among the items."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        items = await offered(editor, uri, text)
        if label in [item.label for item in items]:
            return items
    raise TimeoutError(label)


def accepted(text: str, items: Sequence[types.CompletionItem], label: str) -> str:
    item = next(item for item in items if item.label == label)
    edit = item.text_edit
    assert isinstance(edit, types.TextEdit)
    return text[: edit.range.start.character] + edit.new_text + text[edit.range.end.character :]


@pytest.mark.case("CMP-02")
@pytest.mark.case("TPL-03")
async def test_cmp_02_tpl_03_from_the_at_sign_to_a_resource_of_a_template(tmp_path: Path) -> None:
    experimental = {"triggerSuggest": "editor.again"}
    async with running(tmp_path, {"demo": DEMO}, experimental=experimental) as editor:
        await editor.listed()
        uri = editor.open("a.md", "")
        text = accepted("@keys", await offered(editor, uri, "@keys"), "Keys by editor")
        assert text == "@demo:tour://keys/"
        items = await until_offered(editor, uri, text, "VS Code")
        assert [item.label for item in items][:4] == ["VS Code", "Neovim", "Emacs", "Helix"]
        assert all(item.command and item.command.command == "editor.again" for item in items[:4])
        assert all(item.insert_text_format != types.InsertTextFormat.Snippet for item in items)
        text = accepted(text, items, "VS Code")
        assert text == "@demo:tour://keys/VS%20Code/"
        items = await until_offered(editor, uri, text + "o", "open")
        assert [item.label for item in items if item.kind == types.CompletionItemKind.Value] == ["open"]
        assert items[0].command is None
        text = accepted(text + "o", items, "open")
        assert text == "@demo:tour://keys/VS%20Code/open"
        editor.change(uri, 99, (None, text))
        shown = await editor.hover(uri, 0, 5)
        assert shown is not None
        assert "`editor`: `VS Code`" in shown
        assert "`action`: `open`" in shown
        opened = await editor.command("open", mention=text, reveal=False)
        assert "Lectern: Open Resource" in await editor.content(opened["documents"][0]["document"])
        assert not editor.diagnostics(uri)


@pytest.mark.case("CMP-02")
async def test_cmp_02_the_server_is_asked_as_the_specification_says(tmp_path: Path) -> None:
    with scripted(tmp_path, proposed("foo/bar", "x y", "<b>", "$1}")) as server:
        async with running(tmp_path, {"hub": server.entry()}) as editor:
            await editor.listed()
            uri = editor.open("a.md", "")
            items = await until_offered(editor, uri, "@hub:gh://a%2Fb/x%20", "x y")
            texts = [
                accepted("@hub:gh://a%2Fb/x%20", items, label) for label in ("foo/bar", "x y", "<b>", "$1}")
            ]
            assert texts == [
                "@hub:gh://a%2Fb/foo%2Fbar",
                "@hub:gh://a%2Fb/x%20y",
                "@hub:gh://a%2Fb/%3Cb%3E",
                "@hub:gh://a%2Fb/%241%7D",
            ]
            params = server.received("completion/complete")[0]["params"]
            assert params["ref"] == {"type": "ref/resource", "uri": "gh://{owner}/{repo}"}
            assert params["argument"] == {"name": "repo", "value": "x "}
            assert params["context"] == {"arguments": {"owner": "a/b"}}


@pytest.mark.case("CMP-01")
async def test_cmp_01_nothing_at_hand_waits_for_a_slow_server(tmp_path: Path) -> None:
    resources = [{"uri": "gh://octo/readme", "name": "readme"}]
    with scripted(tmp_path, {**proposed("octo"), "gate": "go"}, resources=resources) as server:
        async with running(tmp_path, {"hub": server.entry()}) as editor:
            await editor.listed()
            uri = editor.open("a.md", "")
            began = time.monotonic()
            items = await offered(editor, uri, "@hub:gh://octo")
            assert [item.label for item in items] == ["readme"]
            items = await offered(editor, uri, "@hub:gh://zz")
            assert list(items) == []
            assert time.monotonic() - began < 3, "the server answers only when the test lets it"
            await server.wait_waiting("go")
            server.open("go")
            await until_offered(editor, uri, "@hub:gh://zz", "octo")


@pytest.mark.case("CMP-01")
async def test_cmp_01_ten_letters_typed_fast_are_few_requests(tmp_path: Path) -> None:
    with scripted(tmp_path, proposed("abcdefghij")) as server:
        async with running(tmp_path, {"hub": server.entry()}) as editor:
            await editor.listed()
            uri = editor.open("a.md", "")
            identifier = types.TextDocumentIdentifier(uri)
            requests = []
            for number in range(1, 11):
                text = f"@hub:gh://{'abcdefghij'[:number]}"
                editor.change(uri, number, (None, text))
                params = types.CompletionParams(identifier, types.Position(0, len(text)))
                requests.append(editor.client.text_document_completion_async(params))
            for request in requests:
                await request
            editor._version = 10
            asked: list[str] = []
            while "abcdefghij" not in asked:
                await offered(editor, uri, "@hub:gh://abcdefghij")
                asked = [
                    each["params"]["argument"]["value"] for each in server.received("completion/complete")
                ]
            assert len(asked) <= 3


@pytest.mark.case("CMP-01")
@pytest.mark.parametrize(
    ("answer", "labels"),
    [
        (proposed(*[f"v{n}" for n in range(250)], hasMore=True, total=2), [f"v{n}" for n in range(60)]),
        ({"result": {"completion": {"values": None}}}, []),
        ({"result": {}}, []),
        (proposed("", 7, None, "a\nb", ["x"], "c"), ["a b", "c"]),
        ({"error": {"code": -32603, "message": "broken"}}, []),
    ],
    ids=["many", "null", "shapeless", "odd", "failing"],
)
async def test_cmp_01_odd_answers(tmp_path: Path, answer: Any, labels: list[str]) -> None:
    with scripted(tmp_path, answer) as server:
        async with running(tmp_path, {"hub": server.entry()}) as editor:
            await editor.listed()
            uri = editor.open("a.md", "")
            await offered(editor, uri, "@hub:gh://a/")
            await server.wait_received("completion/complete")
            if labels:
                items = await until_offered(editor, uri, "@hub:gh://a/", labels[0])
                assert [item.label for item in items if item.kind == types.CompletionItemKind.Value] == labels
            assert [item.label for item in await offered(editor, uri, "@hub:gh")] == ["repository"]
            assert (await editor.servers())["hub"]["state"] == "ready"


@pytest.mark.case("CMP-01")
@pytest.mark.parametrize("refusing", [False, True])
async def test_cmp_01_a_server_without_completions_is_not_asked_again(tmp_path: Path, refusing: bool) -> None:
    missing = {"error": {"code": -32601, "message": "Method not found"}}
    capabilities = CAPABLE if refusing else {"resources": {}}
    with scripted(tmp_path, missing, capabilities=capabilities) as server:
        async with running(tmp_path, {"hub": server.entry()}) as editor:
            await editor.listed()
            uri = editor.open("a.md", "")
            for letter in "abcd":
                assert await offered(editor, uri, f"@hub:gh://{letter}") == []
            await editor.listed()
            assert await offered(editor, uri, "@hub:gh://e") == []
            assert len(server.received("completion/complete")) == (1 if refusing else 0)


async def test_what_fits_of_known_values_is_there_at_once_and_a_new_list_forgets_them(tmp_path: Path) -> None:
    answers = [proposed("octo", "other"), {**proposed("octo", "octopus"), "gate": "go"}]
    with scripted(tmp_path, answers) as server:
        async with running(tmp_path, {"hub": server.entry()}, capabilities=CONTENT) as editor:
            await editor.listed()
            uri = editor.open("a.md", "")
            await until_offered(editor, uri, "@hub:gh://", "octo")
            assert [item.label for item in await offered(editor, uri, "@hub:gh://OC")] == ["octo"]
            await server.wait_waiting("go")
            server.open("go")
            await until_offered(editor, uri, "@hub:gh://OC", "octopus")
            await editor.listed()
            assert [item.label for item in await offered(editor, uri, "@hub:gh")] == ["repository"]
            await until_offered(editor, uri, "@hub:gh://", "octopus")


@pytest.mark.case("TPL-03")
async def test_tpl_03_what_a_template_makes_is_never_unknown(tmp_path: Path) -> None:
    slow = {"resources/list": {"gate": "go"}}
    templates = [
        {"uriTemplate": "echo://{message}", "name": "a"},
        {"uriTemplate": "echo://{input}", "name": "b"},
    ]
    resources = [{"uri": "echo://test", "name": "test"}]
    with ScriptedServer(tmp_path, resources=resources, templates=templates, answers=slow) as server:
        async with running(tmp_path, {"s": server.entry()}) as editor:
            uri = editor.open("a.md", "@s:echo://zzz @s:nope://zzz @")
            await editor.complete(uri, 0, 29)
            await server.wait_waiting("go")
            assert editor.diagnostics(uri) == []
            server.open("go")
            (unknown,) = await editor.until_diagnostics(uri)
            assert "nope://zzz" in unknown.message
            assert {"a", "b"} <= set(await editor.labels(editor.open("b.md", "@s:echo"), 0, 7))


ODD = [
    ("r://{+path}/at{?rev}", [("path", "src/a b.py"), ("rev", "v1&2")], "r://src/a%20b.py/at?rev=v1%262"),
    ("f://{book}{#part,line}", [("book", "b/1"), ("part", "2.1"), ("line", "7")], "f://b%2F1#2.1,7"),
    ("q://s?all=1{&word,lang}", [("word", "a=b"), ("lang", "日本")], "q://s?all=1&word=a%3Db&lang=%E6%97%A5%E6%9C%AC"),
    ("p://{sha:2}/{sha}", [("sha", "abcdef")], "p://ab/abcdef"),
    ("e://h{/dir*}{;v}", [("dir", "one"), ("v", "50%")], "e://h/one;v=50%25"),
    ("t://{a}/{b}{?a,c}", [("a", "x"), ("b", "y")], "t://x/y?a=x"),
]  # fmt: skip


@pytest.mark.case("CMP-02")
@pytest.mark.case("TPL-02")
@pytest.mark.parametrize(("template", "chosen", "uri"), ODD, ids=[each[0] for each in ODD])
async def test_cmp_02_tpl_02_odd_templates_are_walked_to_a_mention_that_is_known(
    tmp_path: Path, template: str, chosen: list[tuple[str, str]], uri: str
) -> None:
    values = proposed(*(value for _, value in chosen))
    listed = [{"uriTemplate": template, "name": "odd"}]
    with scripted(tmp_path, values, templates=listed) as server:
        async with running(tmp_path, {"hub": server.entry()}) as editor:
            await editor.listed()
            document = editor.open("a.md", "")
            text = accepted("@hub:", await offered(editor, document, "@hub:"), "odd")
            for _, value in chosen:
                if text != f"@hub:{uri}":
                    # Nothing is inserted for what may be left out: whoever wants it types its sign.
                    text += uri[len(text) - len("@hub:")] if _stands_before_a_sign(text, uri) else ""
                    text = accepted(text, await until_offered(editor, document, text, value), value)
            assert text == f"@hub:{uri}"
            await offered(editor, document, text)
            shown = await editor.hover(document, 0, 7)
            assert shown is not None
            for name, value in chosen:
                assert f"`{name}`: `{value}`" in shown
            judged = editor.open("b.md", f"{text}\n@hub:nosuch://x")
            (only,) = await editor.until_diagnostics(judged)
            assert only.range.start.line == 1
            for each in server.received("completion/complete"):
                assert each["params"]["ref"] == {"type": "ref/resource", "uri": template}
                context = each["params"].get("context", {"arguments": {}})["arguments"]
                names = [name for name, _ in chosen]
                before = names[: names.index(each["params"]["argument"]["name"])]
                assert set(context) <= set(before)


def _stands_before_a_sign(text: str, uri: str) -> bool:
    return uri[len(text) - len("@hub:") :][:1] in ("?", "#", "&", ";")

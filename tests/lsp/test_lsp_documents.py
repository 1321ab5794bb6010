"""What is behind a mention, as an editor opens it: virtual documents, files, and pages that only offer."""

from __future__ import annotations

import base64
import resource
import stat
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from tests.support.lsp_client import PLAIN, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

PNG = bytes.fromhex("89504e470d0a1a0a") + bytes(range(64))
BLOB = base64.b64encode(PNG).decode()
RESOURCES = [
    {"uri": "memo://text", "name": "text", "mimeType": "text/markdown"},
    {"uri": "memo://image", "name": "image", "mimeType": "image/png"},
    {"uri": "memo://many", "name": "many"},
    {"uri": "memo://empty", "name": "empty", "mimeType": "text/plain"},
    {"uri": "memo://none", "name": "none"},
]
CONTENTS = {
    "memo://text": [{"mimeType": "text/markdown", "text": "# Hello\r\n\ud800 lone"}],
    "memo://image": [{"uri": "memo://image", "mimeType": "image/png", "blob": BLOB}],
    "memo://many": [
        {"uri": "memo://many/1", "mimeType": "application/json", "text": "{}"},
        {"uri": "memo://many/2", "blob": "!!! no base64 !!!"},
        {"uri": "memo://many/3", "mimeType": "image/png", "blob": BLOB},
    ],
    "memo://empty": "",
    "memo://none": {"contents": []},
    "memo://unlisted": "secret plan",
}


@pytest.fixture
def server(tmp_path: Path) -> ScriptedServer:  # type: ignore[misc]
    with ScriptedServer(tmp_path, resources=RESOURCES, contents=CONTENTS) as scripted:
        yield scripted


@pytest.mark.case("RD-03")
@pytest.mark.case("RD-05")
async def test_rd_03_rd_05_every_item_is_opened_as_what_it_is(tmp_path: Path, server: ScriptedServer) -> None:
    async with running(tmp_path, {"docs": server.entry()}) as editor:
        await editor.listed()
        (text,) = (await editor.command("open", mention="@docs:memo://text", reveal=False))["documents"]
        assert (text["kind"], text["languageId"], text["uri"]) == ("text", "markdown", "memo://text")
        assert await editor.content(text["document"]) == "# Hello\r\n\ufffd lone"
        (image,) = (await editor.command("open", server="docs", uri="memo://image", reveal=False))[
            "documents"
        ]
        assert (image["kind"], image["size"]) == ("binary", len(PNG))
        shown = await editor.content(image["document"])
        assert "SHA-256" in shown
        assert BLOB[:16] not in shown
        many = (await editor.command("open", server="docs", uri="memo://many", reveal=False))["documents"]
        assert [document["uri"] for document in many] == ["memo://many/1", "memo://many/2", "memo://many/3"]
        assert ["error" in document for document in many] == [False, True, False]
        assert await editor.content(many[0]["document"]) == "{}"
        (empty,) = (await editor.command("open", server="docs", uri="memo://empty", reveal=False))[
            "documents"
        ]
        assert await editor.content(empty["document"]) == ""
        none = await editor.command("open", server="docs", uri="memo://none", reveal=False)
        assert none == {"documents": []}
        assert len(server.received("resources/read")) == 5, (
            "a document shows what the read that opened it returned"
        )


async def test_a_binary_item_becomes_a_private_file_with_exactly_its_bytes(
    tmp_path: Path, server: ScriptedServer
) -> None:
    async with running(tmp_path, {"docs": server.entry()}) as editor:
        await editor.listed()
        (image,) = (await editor.command("open", server="docs", uri="memo://image", reveal=False))[
            "documents"
        ]
        file = await editor.command("materialize", document=image["document"])
        path = Path(file["path"])
        assert (path.read_bytes(), file["size"], file["mimeType"]) == (PNG, len(PNG), "image/png")
        assert path.suffix == ".png"
        assert stat.S_IMODE(path.stat().st_mode) == 0o400
        assert path.is_relative_to(tmp_path)


async def test_an_editor_that_shows_documents_is_asked_to(tmp_path: Path, server: ScriptedServer) -> None:
    async with running(tmp_path, {"docs": server.entry()}) as editor:
        await editor.listed()
        answer = await editor.command("open", mention="@docs:memo://text")
        await editor.until(lambda: bool(editor.shown))
        assert editor.shown[0].uri == answer["documents"][0]["document"]


@pytest.mark.case("RD-05")
async def test_rd_05_a_part_that_cannot_be_kept_as_a_file_costs_the_others_nothing(tmp_path: Path) -> None:
    """A limit on the size of files answers as a full disk does."""
    parts = [
        {"uri": f"memo://parts/{n}", "text": text} for n, text in enumerate(("one", "x" * 70_000, "three"))
    ]
    with ScriptedServer(tmp_path, resources=RESOURCES, contents={"memo://many": parts}) as server:
        async with running(tmp_path, {"docs": server.entry()}, capabilities=PLAIN) as editor:
            await editor.listed()
            resource.prlimit(editor.process.pid, resource.RLIMIT_FSIZE, (50_000, 50_000))
            answer = await editor.command("open", server="docs", uri="memo://many", reveal=False)
            first, second, third = answer["documents"]
            assert [Path(each["path"]).read_text() for each in (first, third)] == ["one", "three"]
            assert "error" not in {**first, **third}
            assert "path" not in second
            assert second["error"].startswith("memo://many of “docs” cannot be kept as a file: ")
            assert "File too large" in second["error"]
            (folder,) = {Path(each["path"]).parent.parent for each in (first, third)}
            assert len([path for path in folder.rglob("*") if path.is_file()]) == 2, "nothing half written"
            index = await editor.definition(editor.open("a.md", "@docs:memo://many"), 0, 5)
            assert index is not None
            assert "File too large" in _file(index.uri).read_text(encoding="utf-8")


async def test_an_editor_without_virtual_documents_gets_read_only_files(
    tmp_path: Path, server: ScriptedServer
) -> None:
    async with running(tmp_path, {"docs": server.entry()}, capabilities=PLAIN) as editor:
        await editor.listed()
        uri = editor.open("a.md", "@docs:memo://text @docs:memo://unlisted")
        assert await editor.links(uri) == []
        location = await editor.definition(uri, 0, 5)
        assert location is not None
        path = _file(location.uri)
        assert path.read_bytes().decode() == "# Hello\r\n\ufffd lone"
        assert path.suffix == ".md"
        assert stat.S_IMODE(path.stat().st_mode) == 0o400
        assert await editor.definition(uri, 0, 25) is None, "following does not read what is not listed"
        await editor.command("open", mention="@docs:memo://text")
        await editor.until(lambda: bool(editor.shown))
        assert editor.shown[0].uri == location.uri


async def test_an_editor_without_virtual_documents_can_follow_an_index(
    tmp_path: Path, server: ScriptedServer
) -> None:
    """Its links led to addresses that only other editors can open."""
    async with running(tmp_path, {"docs": server.entry()}, capabilities=PLAIN) as editor:
        await editor.listed()
        uri = editor.open("a.md", "@docs:memo://many @docs:memo://none")
        location = await editor.definition(uri, 0, 5)
        assert location is not None
        lines = _file(location.uri).read_text(encoding="utf-8").splitlines()
        assert lines[0] == "# many"
        first, second, third = (line for line in lines if line[:2] in ("1.", "2.", "3."))
        assert "lectern:" not in "".join(lines)
        assert "](" not in second, "what cannot be decoded leads nowhere"
        assert "cannot be shown" in second
        contents = [_file(line.split("](")[1].split(")")[0]).read_bytes() for line in (first, third)]
        assert contents == [b"{}", PNG]
        empty = await editor.definition(uri, 0, 25)
        assert empty is not None
        assert "no content" in _file(empty.uri).read_text(encoding="utf-8")


async def test_an_index_of_very_many_parts_leads_to_the_first_and_names_all(tmp_path: Path) -> None:
    """Each became a file, and room was looked for after each: a thousand took half a minute."""
    parts = [{"uri": f"memo://many/{number}", "text": "x"} for number in range(1_010)]
    listed = [{"uri": "memo://many", "name": "many"}]
    with ScriptedServer(tmp_path, resources=listed, contents={"memo://many": parts}) as server:
        async with running(tmp_path, {"docs": server.entry()}, capabilities=PLAIN) as editor:
            await editor.listed()
            location = await editor.definition(editor.open("a.md", "@docs:memo://many"), 0, 5)
            assert location is not None
            index = _file(location.uri)
            named = [line for line in index.read_text(encoding="utf-8").splitlines() if "/many/" in line]
            assert [bool("](" in line) for line in named] == [True] * 1_000 + [False] * 10
            files = [path for path in index.parent.parent.rglob("*") if path.is_file()]
            assert len(files) == 1_001


def _file(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))


@pytest.mark.case("SEC-01")
async def test_sec_01_a_document_does_nothing_by_being_looked_at(
    tmp_path: Path, server: ScriptedServer
) -> None:
    from mcp_lectern.documents.address import address

    forged = address("docs", "memo://text", None, None, binary_extension=False)
    lines = [f"@docs:memo://{word} and @docs:memo://text/{word}" for word in map(str, range(50))]
    async with running(tmp_path, {"docs": server.entry()}) as editor:
        uri = editor.open("hostile.md", "\n".join([*lines, f"[a link]({forged})"]))
        for line in range(0, 50, 10):
            await editor.hover(uri, line, 3)
            await editor.definition(uri, line, 3)
        links = await editor.links(uri)
        await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams("text"))
        pages = [await editor.content(link.target or "") for link in links[:5]]
        pages.append(await editor.content(forged))
        assert all(page.startswith("Nothing was read yet.") for page in pages)
        with pytest.raises(JsonRpcException):
            await editor.command("materialize", document=forged)
        assert server.starts == 0
        await editor.listed()
        unlisted = address("docs", "memo://unlisted", None, None, binary_extension=False)
        assert "memo://unlisted" in await editor.content(unlisted)
        assert not server.received("resources/read")
        assert "# Hello" in await editor.content(forged), "a listed resource may be read by following"


@pytest.mark.case("SEC-01")
async def test_sec_01_what_a_command_opened_may_be_read_again_after_a_restart(
    tmp_path: Path, server: ScriptedServer
) -> None:
    async with running(tmp_path, {"docs": server.entry()}) as editor:
        opened = await editor.command("open", server="docs", uri="memo://unlisted", reveal=False)
        document = opened["documents"][0]["document"]
    async with running(tmp_path, {"docs": server.entry()}) as editor:
        assert await editor.content(document) == "secret plan"
    async with running(tmp_path, {"docs": server.entry()}, workspace=_other(tmp_path)) as editor:
        assert (await editor.content(document)).startswith("Nothing was read yet.")


def _other(tmp_path: Path) -> Path:
    folder = tmp_path / "other"
    folder.mkdir()
    return folder


async def test_another_path_with_a_valid_key_is_not_found(tmp_path: Path, server: ScriptedServer) -> None:
    async with running(tmp_path, {"docs": server.entry()}) as editor:
        await editor.listed()
        (link,) = await editor.links(editor.open("a.md", "@docs:memo://text"))
        assert link.target
        head, _, key = link.target.partition("?")
        with pytest.raises(JsonRpcException) as refusal:
            await editor.content(f"{head.rpartition('/')[0]}/evil.sh?{key}")
        assert refusal.value.data["kind"] == "notFound"
        with pytest.raises(JsonRpcException):
            await editor.content("lectern://mcp/docs/text.md?AAAA")


@pytest.mark.parametrize(
    ("argument", "kind"),
    [
        ({"mention": "@nope:memo://x"}, "unknownServer"),
        ({"mention": "no mention at all"}, "invalidArgument"),
        ({"mention": "@memo://nowhere"}, "unknownResource"),
        ({"server": "docs"}, "invalidArgument"),
        ({"server": "docs", "uri": 7}, "invalidArgument"),
        ({"server": "docs", "uri": "memo://gone"}, "notFound"),
    ],
)
async def test_a_wrong_argument_is_answered_with_what_to_do(
    tmp_path: Path, server: ScriptedServer, argument: dict[str, object], kind: str
) -> None:
    async with running(tmp_path, {"docs": server.entry()}) as editor:
        with pytest.raises(JsonRpcException) as refusal:
            await editor.command("open", **argument)
        assert refusal.value.data["kind"] == kind
        assert refusal.value.code == (-32602 if kind == "invalidArgument" else -32803)
        assert refusal.value.message.endswith(".")


@pytest.mark.case("IO-09")
async def test_io_09_initialize_and_the_first_list_wait_for_no_server(tmp_path: Path) -> None:
    slow = {"initialize": {"gate": "go"}}
    with (
        ScriptedServer(tmp_path, name="a", resources=[{"uri": "a://1", "name": "apple"}], answers=slow) as a,
        ScriptedServer(tmp_path, name="b", resources=[{"uri": "b://1", "name": "apricot"}]) as b,
    ):
        async with running(tmp_path, {"a": a.entry(), "b": b.entry()}) as editor:
            uri = editor.open("a.md", "@ap")
            await editor.complete(uri, 0, 3)
            await a.wait_waiting("go")
            await editor.command("refresh", server="b")
            assert await editor.labels(uri, 0, 3) == ["apricot"]
            assert (await editor.command("resources", query=""))["incomplete"] is True
            a.open("go")
            await editor.command("refresh", server="a")
            assert sorted(await editor.labels(uri, 0, 3)) == ["apple", "apricot"]
            assert (await editor.command("resources", query=""))["incomplete"] is False


@pytest.mark.case("LSP-07")
async def test_lsp_07_a_servers_words_stay_inert_wherever_they_appear(tmp_path: Path) -> None:
    evil = (
        "x [click](command:evil) ![i](http://127.0.0.1:1/p.png) <b>b</b> ``` \u202e\U000e0041 " + "y" * 20_000
    )
    resources = [
        {"uri": "memo://evil", "name": evil, "title": evil, "description": evil, "mimeType": "a/b\r\nX: y"}
    ]
    answers = {"resources/read": {"error": {"code": -32000, "message": evil}}}
    with ScriptedServer(tmp_path, resources=resources, answers=answers) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            await editor.listed()
            uri = editor.open("a.md", "@docs:memo://evil @x")
            answer = await editor.complete(uri, 0, 20)
            assert answer is not None
            item = await editor.client.completion_item_resolve_async(answer.items[0])
            with pytest.raises(JsonRpcException) as refusal:
                await editor.command("open", server="docs", uri="memo://evil")
            documentation = item.documentation
            assert isinstance(documentation, types.MarkupContent)
            hover = await editor.hover(uri, 0, 3) or ""
            texts = [item.label, documentation.value, hover, refusal.value.message]
            for text in texts:
                assert "](command" not in text.replace("\\]", "]").replace("\\(", "(") or "\\[" in text
                assert "\u202e" not in text
                assert "\U000e0041" not in text
                assert len(text) < 10_000
            assert "](" not in refusal.value.message
            assert "\n" not in item.label


async def test_a_language_comes_from_a_name_only_where_the_user_wants_that(tmp_path: Path) -> None:
    """The setting was read, and nothing came of it."""
    named = [
        {"uri": "memo://a/run.py?v=2#top", "name": "run"},
        {"uri": "memo://a/typed.py", "name": "typed", "mimeType": "text/plain"},
        {"uri": "memo://a/table.csv", "name": "table"},
        {"uri": "memo://a/bytes.py", "name": "bytes"},
        {"uri": "memo://.py", "name": "dot"},
    ]
    contents: dict[str, object] = {entry["uri"]: [{"text": "x"}] for entry in named}
    contents["memo://a/bytes.py"] = [{"blob": BLOB}]
    names = {"run": "top.py", "table": "table.csv", "bytes": "bytes.py"}
    with ScriptedServer(tmp_path, resources=named, contents=contents) as server:
        for wanted in (False, True):
            settings = {"documents": {"languageFromName": wanted}}
            async with running(tmp_path, {"docs": server.entry()}, settings=settings) as editor:
                await editor.listed()
                text = editor.open("a.md", "\n".join(f"@docs:{entry['uri']}" for entry in named))
                links = [link.target for link in await editor.links(text)]
                shown = {}
                for entry, link in zip(named, links, strict=True):
                    answer = await editor.command("open", server="docs", uri=entry["uri"], reveal=False)
                    (shown[entry["name"]],) = answer["documents"]
                    assert shown[entry["name"]]["document"] == link
                    assert await editor.content(str(link))
                for name, expected in names.items():
                    path = shown[name]["document"].partition("?")[0]
                    assert path.endswith(f"/{expected}") == wanted
                    assert "mimeType" not in shown[name]
                assert shown["run"]["languageId"] == ("python" if wanted else "plaintext")
                assert shown["table"].get("languageId") == (None if wanted else "plaintext")
                assert shown["bytes"]["kind"] == "binary"
                assert shown["typed"]["languageId"] == shown["dot"]["languageId"] == "plaintext"

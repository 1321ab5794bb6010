"""What an entry asks a person for (``${input:id}``): asked by an editor, kept, forgotten, not leaked."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from tests.lsp.test_lsp_sign_in import keeping, signed_in
from tests.support.http_mcp import HttpMcp
from tests.support.http_server import HttpServer
from tests.support.lsp_client import Editor, running
from tests.support.oauth import World
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

RESOURCES = [{"uri": "memo://plan", "name": "plan"}]
CONTENTS = {"memo://plan": [{"mimeType": "text/plain", "text": "the plan"}]}
KEY = {"type": "promptString", "id": "key", "description": "API Key", "password": True}
WHERE = {"type": "pickString", "id": "where", "options": ["eu", {"label": "America", "value": "us"}]}
ASKS: dict[str, Any] = {"experimental": {"input": True, "status": True}}


def configured(folder: Path, server: ScriptedServer, *inputs: dict[str, Any], **env: str) -> dict[str, Any]:
    """Options that start the language server with one more configuration file, which describes inputs."""
    file = folder / "asking.json"
    file.write_text(json.dumps({"inputs": inputs, "servers": {"docs": server.entry(env=env)}}))
    return {"arguments": ("--no-discover", "--config", str(file))}


def answering(editor: Editor, answer: Callable[[dict[str, Any]], Any]) -> list[dict[str, Any]]:
    """The editor asks its user; returned is what it is asked."""
    editor.give = answer
    return editor.inputs


def scripted(folder: Path) -> ScriptedServer:
    return ScriptedServer(folder, resources=RESOURCES, contents=CONTENTS)


async def refusal(request: Any) -> dict[str, Any]:
    with pytest.raises(JsonRpcException) as refused:
        await request
    return {"message": refused.value.message, **(refused.value.data or {})}


async def test_a_command_asks_once_for_each_and_the_server_gets_the_values(tmp_path: Path) -> None:
    with scripted(tmp_path) as server:
        options = configured(tmp_path, server, KEY, WHERE, K="${input:key}", AT="${input:where}")
        async with running(tmp_path, **ASKS, **options) as editor:
            asked = answering(
                editor, lambda params: {"value": {"key": "hush-hush", "where": "us"}[params["id"]]}
            )
            opened = await editor.command("open", server="docs", uri="memo://plan", reveal=False)
            assert opened["documents"]
            assert asked == [
                {"server": "docs", "id": "key", "description": "API Key", "password": True},
                {"server": "docs", "id": "where", "options": ["eu", {"label": "America", "value": "us"}]},
            ]
            (started,) = server.started
            assert (started["env"]["K"], started["env"]["AT"]) == ("hush-hush", "us")
            await editor.command("restart", server="docs")
            assert len(asked) == 2, "what was given once is not asked for again"
            assert server.started[-1]["env"]["K"] == "hush-hush"
            status = (await editor.servers())["docs"]
            assert status["state"] == "ready"
            assert "hush-hush" not in json.dumps(status)


async def test_nobody_is_asked_because_of_a_text_and_the_list_says_what_is_missing(tmp_path: Path) -> None:
    with scripted(tmp_path) as server:
        options = configured(tmp_path, server, KEY, K="${input:key}")
        async with running(tmp_path, **ASKS, **options) as editor:
            asked = answering(editor, lambda _params: {"value": "v"})
            await editor.command("refresh")
            uri = editor.open("a.md", "see @docs:memo://plan and @")
            answer = await editor.complete(uri, 0, 27)
            assert answer is not None
            (row,) = (item for item in answer.items if item.command)
            assert row.command is not None
            assert (row.command.command, list(row.command.arguments or ())) == (
                "lectern.signIn",
                [{"server": "docs"}],
            )
            assert isinstance(row.documentation, types.MarkupContent)
            assert "API Key" in row.documentation.value
            await editor.hover(uri, 0, 6)
            await editor.links(uri)
            await editor.command("resources", query="plan")
            status = (await editor.servers())["docs"]
            assert status["state"] == "needsSignIn"
            assert "asks for what only you can give it (“API Key”)" in status["lastError"]
            assert (asked, server.starts) == ([], 0)
            await editor.command("signIn", server="docs")
            await editor.listed()
            assert len(asked) == 1
            assert "plan" in await editor.labels(editor.open("b.md", "@pla"), 0, 4)


@pytest.mark.parametrize("answer", [None, {}, {"value": None}, {"value": 7}, "v", JsonRpcException])
async def test_who_gives_nothing_is_told_so_and_asked_again_the_next_time(
    tmp_path: Path, answer: Any
) -> None:
    answers = [answer, {"value": ""}]

    def answered(_params: dict[str, Any]) -> Any:
        now = answers.pop(0)
        if now is JsonRpcException:
            raise JsonRpcException("no", -32603)
        return now

    with scripted(tmp_path) as server:
        options = configured(tmp_path, server, KEY, K="${input:key}")
        async with running(tmp_path, **ASKS, **options) as editor:
            answering(editor, answered)
            told = await refusal(editor.command("open", server="docs", uri="memo://plan"))
            assert told["kind"] == "cancelled"
            assert "nothing was given for “API Key”" in told["message"]
            assert server.starts == 0
            await editor.command("open", server="docs", uri="memo://plan", reveal=False)
            assert server.started[0]["env"]["K"] == "", "an empty text is a value"


async def test_a_value_that_is_none_of_the_choices_is_refused(tmp_path: Path) -> None:
    with scripted(tmp_path) as server:
        options = configured(tmp_path, server, WHERE, AT="${input:where}")
        async with running(tmp_path, **ASKS, **options) as editor:
            answering(editor, lambda _params: {"value": "America"})
            told = await refusal(editor.command("restart", server="docs"))
            assert told["kind"] == "invalidArgument"
            assert "none of its choices" in told["message"]
            assert server.starts == 0


async def test_an_editor_without_input_has_buttons_for_a_choice_and_a_sentence_for_a_text(
    tmp_path: Path,
) -> None:
    with scripted(tmp_path) as server:
        options = configured(tmp_path, server, WHERE, KEY, AT="${input:where}", K="${input:key}")
        async with running(tmp_path, **options) as editor:
            editor.choose = lambda _params: "America"
            told = await refusal(editor.command("open", server="docs", uri="memo://plan"))
            assert told["kind"] == "needsSignIn"
            assert "API Key" in told["message"]
            assert "`mcp-lectern sign-in`" in told["message"]
            (question,) = editor.questions
            assert [action.title for action in question.actions] == ["eu", "America"]
            assert server.starts == 0


async def test_values_are_kept_with_the_editor_and_forgotten_with_the_sign_in(tmp_path: Path) -> None:
    kept, actions = dict[str, str](), list[str]()
    secrets = {"experimental": {"input": True, "secrets": True}}
    with scripted(tmp_path) as server:
        options = configured(tmp_path, server, KEY, K="${input:key}")
        async with running(tmp_path, **secrets, **options) as editor:
            keeping(editor, kept, actions)
            answering(editor, lambda _params: {"value": "hush-hush"})
            await editor.command("restart", server="docs")
            ((name, value),) = kept.items()
            assert value == "hush-hush"
            assert "key" not in name.removeprefix("input:")
        async with running(tmp_path, **secrets, **options) as editor:
            keeping(editor, kept, actions)
            asked = answering(editor, lambda _params: {"value": "second"})
            await editor.listed()
            assert (asked, server.started[-1]["env"]["K"]) == ([], "hush-hush")
            await editor.command("signIn", server="docs")
            await editor.listed()
            assert server.started[-1]["env"]["K"] == "second", "who signs in again corrects what was given"
            answer = await editor.command("signOut", server="docs")
            assert [each["state"] for each in answer["servers"]] == ["needsSignIn"]
            assert kept == {}
            await server.wait_ended(server.starts)
            assert "plan" not in await editor.labels(editor.open("b.md", "@"), 0, 1)


async def test_the_list_of_a_server_that_asks_for_a_value_is_remembered_under_that_value(
    tmp_path: Path,
) -> None:
    kept = dict[str, str]()
    secrets = {"experimental": {"input": True, "secrets": True}}
    with scripted(tmp_path) as server:
        options = configured(tmp_path, server, KEY, K="${input:key}")
        async with running(tmp_path, **secrets, **options) as editor:
            keeping(editor, kept, [])
            answering(editor, lambda _params: {"value": "hush-hush"})
            await editor.command("restart", server="docs")
        server.change(answers={"initialize": {"gate": "never"}})
        async with running(tmp_path, **secrets, **options) as editor:
            keeping(editor, kept, [])
            uri = editor.open("a.md", "@")
            async with asyncio.timeout(20):
                while "plan" not in await editor.labels(uri, 0, 1):
                    await server.wait_waiting("never")
        kept.update(dict.fromkeys(kept, "another"))
        async with running(tmp_path, **secrets, **options) as editor:
            keeping(editor, kept, [])
            uri = editor.open("a.md", "@")
            await editor.labels(uri, 0, 1)
            await server.wait_waiting("never", 2)
            assert "plan" not in await editor.labels(uri, 0, 1)


async def test_two_entries_of_a_file_share_a_value_and_another_file_has_its_own(tmp_path: Path) -> None:
    with scripted(tmp_path) as server:
        files = []
        for name, servers in (("one", ("a", "b")), ("two", ("c",))):
            files.append(tmp_path / f"{name}.json")
            entries = {each: server.entry(env={"K": "${input:key}", "WHO": each}) for each in servers}
            files[-1].write_text(json.dumps({"inputs": [KEY], "servers": entries}))
        arguments = ["--no-discover", *(word for file in files for word in ("--config", str(file)))]
        async with running(tmp_path, **ASKS, arguments=arguments) as editor:
            asked = answering(editor, lambda _params: {"value": "of one"})
            await editor.command("restart", server="a")
            await editor.command("refresh")
            states = {name: status["state"] for name, status in (await editor.servers()).items()}
            assert states == {"a": "ready", "b": "ready", "c": "needsSignIn"}
            assert [each["server"] for each in asked] == ["a"]
            assert {each["env"]["WHO"]: each["env"]["K"] for each in server.started} == {
                "a": "of one",
                "b": "of one",
            }
            await editor.command("signOut", server="b")
            states = {name: status["state"] for name, status in (await editor.servers()).items()}
            assert states == {"a": "needsSignIn", "b": "needsSignIn", "c": "needsSignIn"}


async def test_one_question_at_a_time(tmp_path: Path) -> None:
    with scripted(tmp_path) as server:
        entries = {name: server.entry(env={"K": f"${{input:{name}}}"}) for name in ("a", "b")}
        async with running(tmp_path, entries, **ASKS) as editor:
            go = asyncio.Event()

            async def later() -> dict[str, str]:
                await go.wait()
                return {"value": "v"}

            asked = answering(editor, lambda _params: later())
            requests = [asyncio.ensure_future(editor.command("restart", server=name)) for name in ("a", "b")]
            await editor.until(lambda: bool(asked))
            await editor.servers()
            assert len(asked) == 1
            go.set()
            await asyncio.gather(*requests)
            assert sorted(each["id"] for each in asked) == ["a", "b"]


async def test_an_approval_covers_what_is_asked_and_not_what_is_given(tmp_path: Path) -> None:
    with scripted(tmp_path) as server:
        folder = tmp_path / "workspace" / ".vscode"
        folder.mkdir(parents=True)
        file = folder / "mcp.json"

        def write(**more: Any) -> None:
            entry = server.entry(env={"K": "${input:key}"})
            file.write_text(json.dumps({"inputs": [{**KEY, **more}], "servers": {"docs": entry}}))

        write()
        options: dict[str, Any] = {"arguments": (), "options": {"discover": ["workspace"]}}
        async with running(tmp_path, **ASKS, **options) as editor:
            asked = answering(editor, lambda _params: {"value": "hush-hush"})
            status = (await editor.servers())["docs"]
            assert status["state"] == "notTrusted"
            assert status["trust"]["shows"]["inputs"] == [{k: v for k, v in KEY.items() if k != "type"}]
            told = await refusal(editor.command("open", server="docs", uri="memo://plan"))
            assert (told["kind"], asked) == ("notTrusted", [])
            await editor.command("approve", server="docs", fingerprint=status["trust"]["fingerprint"])
            await editor.listed()
            assert len(asked) == 1, "who approves a server is asked for what it needs"
            after = (await editor.servers())["docs"]
            assert after["trust"] == {**status["trust"], "approved": True}
            write(default="other")
            event = types.FileEvent(file.as_uri(), types.FileChangeType.Changed)
            editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
            await editor.until(
                lambda: [each["docs"]["state"] for each in editor.statuses[-1:]] == ["notTrusted"]
            )
            assert "what it asks you for changed" in editor.statuses[-1]["docs"]["lastError"]
            await server.wait_ended(server.starts)


async def test_a_configured_value_that_is_typed_late_is_waited_for_by_a_text_that_is_expanded(
    tmp_path: Path,
) -> None:
    with scripted(tmp_path) as server:
        options = configured(tmp_path, server, KEY, K="${input:key}")
        async with running(tmp_path, **ASKS, **options) as editor:
            answering(editor, lambda _params: {"value": "v"})
            answer = await editor.command("expand", text="see @docs:memo://plan", languageId="markdown")
            assert [each["status"] for each in answer["resources"]] == ["included"]


async def test_a_followed_link_asks_too(tmp_path: Path) -> None:
    """The list is remembered, so that the link is there before the server is."""
    kept, actions = dict[str, str](), list[str]()
    secrets = {"experimental": {"input": True, "secrets": True}}
    with scripted(tmp_path) as server:
        options = configured(tmp_path, server, KEY, K="${input:key}")
        async with running(tmp_path, **secrets, **options) as editor:
            keeping(editor, kept, actions)
            asked = answering(editor, lambda _params: {"value": "v"})
            opened = await editor.command("open", server="docs", uri="memo://plan", reveal=False)
            document = opened["documents"][0]["document"]
        kept.clear()
        async with running(tmp_path, **secrets, **options) as editor:
            keeping(editor, kept, actions)
            again = answering(editor, lambda _params: {"value": "w"})
            assert await editor.content(document) == "the plan"
            assert (len(asked), len(again)) == (1, 1)
            assert server.started[-1]["env"]["K"] == "w"


async def test_the_secret_of_a_client_is_asked_for_before_the_browser_and_goes_with_the_sign_in(
    tmp_path: Path,
) -> None:
    world = World()
    oauth = {"clientId": "me", "clientSecret": "${input:secret}"}
    async with world.serve():
        entry = {"docs": {"url": world.server_url, "oauth": oauth}}
        async with running(tmp_path, entry, **ASKS) as editor:
            asked = answering(editor, lambda _params: {"value": "s3cret"})
            await signed_in(editor)
            basic = f"Basic {base64.b64encode(b'me:s3cret').decode()}"
            exchanges = [each for each in world.requests if each.url.path == "/token"]
            assert [each.headers.get("authorization") for each in exchanges] == [basic]
            await signed_in(editor)
            assert [each["id"] for each in asked] == ["secret"], (
                "a browser is opened anew, and that is enough"
            )
            answer = await editor.command("signOut", server="docs")
            assert [each["state"] for each in answer["servers"]] == ["needsSignIn"]
            assert len(world.revoked) == 1
            await signed_in(editor)
            assert len(asked) == 2


async def test_a_wrong_key_in_a_header_is_corrected_by_signing_in(tmp_path: Path) -> None:
    values = iter(["wrong", "right"])
    async with HttpServer(HttpMcp()) as server:
        entry = {"docs": {"url": server.url, "headers": {"X-Key": "${input:key}"}}}
        async with running(tmp_path, entry, **ASKS) as editor:
            answering(editor, lambda _params: {"value": next(values)})
            await editor.command("signIn", server="docs")
            await editor.listed()
            await editor.command("signIn", server="docs")
            await editor.listed()
            keys = [each.headers.get("x-key") for each in server.requests]
            assert (keys[0], keys[-1]) == ("wrong", "right")


async def test_who_lacks_nothing_does_not_wait_for_another_ones_question(tmp_path: Path) -> None:
    with scripted(tmp_path) as server:
        entries = {"asking": server.entry(env={"K": "${input:key}"}), "docs": server.entry()}
        async with running(tmp_path, entries, **ASKS) as editor:
            go = asyncio.Event()

            async def later() -> dict[str, str]:
                await go.wait()
                return {"value": "v"}

            asked = answering(editor, lambda _params: later())
            waiting = asyncio.ensure_future(editor.command("restart", server="asking"))
            await editor.until(lambda: bool(asked))
            opened = await editor.command("open", server="docs", uri="memo://plan", reveal=False)
            assert opened["documents"]
            assert not waiting.done()
            go.set()
            await waiting


@pytest.mark.parametrize(("entry", "kind"), [({"disabled": True}, "serverFailed"), ({}, "notTrusted")])
async def test_who_signs_in_to_what_may_not_start_is_told_why_and_asked_nothing(
    tmp_path: Path, entry: dict[str, Any], kind: str
) -> None:
    with scripted(tmp_path) as server:
        file = tmp_path / "workspace" / ".vscode" / "mcp.json"
        file.parent.mkdir(parents=True)
        file.write_text(
            json.dumps(
                {"inputs": [KEY], "servers": {"docs": server.entry(env={"K": "${input:key}"}, **entry)}}
            )
        )
        options: dict[str, Any] = {"arguments": (), "options": {"discover": ["workspace"]}}
        if kind == "serverFailed":
            options["arguments"] = ("--workspace-servers", "always")
        async with running(tmp_path, **ASKS, **options) as editor:
            asked = answering(editor, lambda _params: {"value": "v"})
            for command in ("signIn", "open"):
                told = await refusal(editor.command(command, server="docs", uri="memo://plan"))
                assert told["kind"] == kind
            assert (asked, server.starts) == ([], 0)

"""``lectern.expand`` over LSP: what is read for it, how often, and what is never read."""

from __future__ import annotations

import asyncio
import base64
import re
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from tests.support.lsp_client import running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

RESOURCES = [
    {"uri": f"memo://{number}", "name": f"n{number}", "mimeType": "text/plain"} for number in range(9)
]
CONTENTS = {f"memo://{number}": f"text {number}" for number in range(9)} | {"memo://secret": "secret plan"}


def statuses(answer: Any) -> list[tuple[str, str]]:
    return [(one["uri"], one["status"]) for one in answer["resources"]]


async def test_a_document_and_a_text_are_expanded_alike(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=RESOURCES, contents=CONTENTS) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            text = "@docs:memo://1 `@docs:memo://3` @memo://2, @docs:memo://1 @docs:memo://secret"
            uri = editor.open("a.md", text)
            for source in ({"textDocument": {"uri": uri}}, {"text": text}):
                answer = await editor.command("expand", **source)
                assert statuses(answer) == [
                    ("memo://1", "included"),
                    ("memo://2", "included"),
                    ("memo://secret", "notListed"),
                ]
                assert answer["text"].endswith(text)
                assert "text 1\n" in answer["text"]
                assert "secret plan" not in answer["text"]
                assert {"server": "docs", "mimeType": "text/plain", "bytes": 6, "tokens": 2}.items() <= (
                    answer["resources"][0].items()
                )
            read = [message["params"]["uri"] for message in server.received("resources/read")]
            assert set(read) == {"memo://1", "memo://2"}
            answer = await editor.command(
                "expand", text="@docs:memo://secret", unlisted=True, format="markdown"
            )
            assert "```\nsecret plan\n```\n" in answer["text"].replace("```plaintext", "```")


async def test_the_language_of_a_text_decides_what_is_code(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=RESOURCES, contents=CONTENTS) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            text = "` @docs:memo://1 `"
            assert statuses(await editor.command("expand", text=text)) == []
            answer = await editor.command("expand", text=text, languageId="plaintext")
            assert statuses(answer) == [("memo://1", "included")]


async def test_no_server_starts_that_the_text_does_not_name(tmp_path: Path) -> None:
    with (
        ScriptedServer(tmp_path, name="a", resources=RESOURCES, contents=CONTENTS) as named,
        ScriptedServer(tmp_path, name="b", resources=RESOURCES) as other,
    ):
        async with running(tmp_path, {"docs": named.entry(), "other": other.entry()}) as editor:
            answer = await editor.command("expand", text="@bob, see @docs:memo://1")
            assert statuses(answer) == [("memo://1", "included")]
            assert (named.starts, other.starts) == (1, 0)
            answer = await editor.command("expand", text="cc @bob")
            assert (answer, other.starts) == ({"text": "cc @bob", "resources": []}, 0)


async def test_failures_are_told_in_place_and_the_rest_is_there(tmp_path: Path) -> None:
    gone = {"resources/read": {"error": {"code": -32002, "message": "gone"}}}
    with (
        ScriptedServer(tmp_path, name="a", resources=RESOURCES[:1], answers=gone) as lost,
        ScriptedServer(tmp_path, name="b", resources=RESOURCES, contents=CONTENTS) as well,
    ):
        servers = {"lost": lost.entry(), "well": well.entry(), "dead": {"command": "no-such-program"}}
        async with running(tmp_path, servers) as editor:
            text = "@lost:memo://0 @dead:memo://1 @well:memo://2 @well:memo://3"
            answer = await editor.command("expand", text=text, maxBytes=6)
            assert [one["status"] for one in answer["resources"]] == [
                "notFound", "failed", "included", "tooLarge",
            ]  # fmt: skip
            assert "gone" in answer["resources"][0]["reason"]
            assert "no-such-program" in answer["resources"][1]["reason"]
            assert all(one.get("reason", "") in answer["text"] for one in answer["resources"])


async def test_the_limit_is_for_text_whatever_binary_stands_beside_it(tmp_path: Path) -> None:
    blob = {"uri": "memo://0#b", "mimeType": "image/png", "blob": base64.b64encode(bytes(3_000)).decode()}
    text = {"uri": "memo://0#a", "mimeType": "text/plain", "text": "12345678"}
    answers = {
        "resources/read": [
            {"result": {"contents": [text, blob], "ttlMs": 60_000}},
            {"result": {"contents": [blob]}},
        ]
    }
    with ScriptedServer(tmp_path, resources=RESOURCES, answers=answers) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            await editor.command("expand", text="@docs:memo://0")
            answer = await editor.command("expand", text="@docs:memo://0 @docs:memo://1", maxBytes=8)
            assert [(one["status"], one["bytes"], one["tokens"]) for one in answer["resources"]] == [
                ("included", 3_008, 2),
                ("binary", 3_000, 0),
            ]
            assert "12345678" in answer["text"]
            answer = await editor.command("expand", text="@docs:memo://0 @docs:memo://1", maxBytes=7)
            assert [(one["status"], one["bytes"], one["tokens"]) for one in answer["resources"]] == [
                ("tooLarge", 3_008, 0),
                ("binary", 3_000, 0),
            ]
            assert "12345678" not in answer["text"]


async def test_reads_are_bounded_and_given_up_with_the_request(tmp_path: Path) -> None:
    slow = {"resources/read": {"gate": "go"}}
    with ScriptedServer(tmp_path, resources=RESOURCES, answers=slow) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            await editor.listed()
            text = " ".join(f"@docs:memo://{number}" for number in range(9))
            params = types.ExecuteCommandParams("lectern.expand", [{"text": text}])
            request = asyncio.ensure_future(
                editor.client.protocol.send_request_async("workspace/executeCommand", params, msg_id="x")
            )
            await server.wait_waiting("go", 4)
            editor.client.cancel_request(types.CancelParams(id="x"))
            with pytest.raises(JsonRpcException) as cancelled:
                await request
            assert cancelled.value.code == types.LSPErrorCodes.RequestCancelled
            await server.wait_received("notifications/cancelled", 4)
            assert len(server.received("resources/read")) == 4


WRONG: list[dict[str, Any]] = [
    {},
    {"text": 7},
    {"text": "a", "textDocument": {"uri": "file:///a"}},
    {"textDocument": {"uri": "file:///nowhere"}},
    {"textDocument": "file:///nowhere"},
    {"text": "a", "format": "html"},
    {"text": "a", "maxBytes": -1},
    {"text": "a", "maxBytes": True},
    {"text": "a", "unlisted": "yes"},
    {"text": "a", "languageId": 1},
]


async def test_a_wrong_argument_is_named(tmp_path: Path) -> None:
    async with running(tmp_path) as editor:
        for argument in WRONG:
            with pytest.raises(JsonRpcException) as refused:
                await editor.command("expand", **argument)
            assert refused.value.code == -32602, argument
            assert refused.value.data["kind"] == "invalidArgument"


async def test_a_resource_s_own_document_is_not_expanded(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=RESOURCES, contents=CONTENTS) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            (document,) = (await editor.command("open", mention="@docs:memo://1", reveal=False))["documents"]
            uri = editor.open(document["document"], "@docs:memo://2")
            with pytest.raises(JsonRpcException, match="never searched"):
                await editor.command("expand", textDocument={"uri": uri})


@pytest.mark.case("RD-10")
async def test_rd_10_an_older_copy_in_an_expansion_is_marked_as_such(tmp_path: Path) -> None:
    first = {"result": {"contents": [{"uri": "memo://1", "text": "old"}], "ttlMs": 1}}
    failing = {"error": {"code": -32603, "message": "disk on fire"}}
    answers = {"resources/read": [first, failing]}
    with ScriptedServer(tmp_path, resources=RESOURCES, answers=answers) as server:
        async with running(tmp_path, {"docs": server.entry()}) as editor:
            fresh = await editor.command("expand", text="@docs:memo://1")
            assert "stale" not in fresh["resources"][0]
            old = await editor.command("expand", text="@docs:memo://1")
            assert old["resources"][0]["status"] == "included"
            assert "disk on fire" in old["resources"][0]["stale"]
            assert re.search(r'stale="[^"]*disk on fire', old["text"])

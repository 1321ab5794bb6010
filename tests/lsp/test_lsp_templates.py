"""``lectern.complete`` and ``lectern.expandTemplate``, as a client calls them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException
from tests.support.lsp_client import running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

TEMPLATE = "gh://{owner}/{+path}"
ARGUMENT: dict[str, Any] = {"server": "it", "uriTemplate": TEMPLATE}


@pytest.mark.case("CMP-02")
async def test_cmp_02_values_come_from_the_server_and_go_into_the_template_encoded(tmp_path: Path) -> None:
    result = {"completion": {"values": ["a/b", "x y"], "hasMore": True}}
    offered = {"resources": {}, "completions": {}}
    answers = {"completion/complete": {"result": result}}
    with ScriptedServer(tmp_path, capabilities=offered, answers=answers) as server:
        async with running(tmp_path, {"it": server.entry()}) as editor:
            found = await editor.command(
                "complete", **ARGUMENT, argument="path", value="a", arguments={"owner": "o"}
            )
            assert found == {"values": ["a/b", "x y"], "hasMore": True}
            params = server.received("completion/complete")[0]["params"]
            assert params["context"] == {"arguments": {"owner": "o"}}
            made = await editor.command(
                "expandTemplate", **ARGUMENT, arguments={"owner": "a/b", "path": "a/b"}
            )
            assert made == {"uri": "gh://a%2Fb/a/b"}


@pytest.mark.case("TPL-02")
async def test_tpl_02_a_broken_template_is_kept_with_its_reason_and_costs_no_other(tmp_path: Path) -> None:
    texts = [
        "x://{a",
        "x://{}",
        "x://{a?}",
        "x://{a}}",
        "x://{v:0}",
        "x://{v:3*}",
        "x://{good}",
        "x://{a}/{a}",
    ]
    templates = [{"uriTemplate": text, "name": f"n{number}"} for number, text in enumerate(texts)]
    resources = [{"uri": "x://1", "name": "one"}]
    with ScriptedServer(tmp_path, resources=resources, templates=templates) as server:
        async with running(tmp_path, {"it": server.entry()}) as editor:
            await editor.listed()
            found = await editor.command("resources", query="")
            assert [item["uri"] for item in found["items"]] == ["x://1"]
            reasons = {each["uriTemplate"]: each.get("unusable") for each in found["templates"]}
            assert set(reasons) == set(texts)
            assert [text for text in texts if not reasons[text]] == ["x://{good}", "x://{a}/{a}"]
            log = (await editor.command("log", server="it"))["text"]
            assert all(f"the template {text} cannot be used: {reasons[text]}" in log for text in texts[:6])
            labels = await editor.labels(editor.open("a.md", "@it:n"), 0, 5)
            assert labels == ["one", "n6", "n7"]


async def test_expanding_starts_nothing(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path) as server:
        async with running(tmp_path, {"it": server.entry()}) as editor:
            assert await editor.command("expandTemplate", **ARGUMENT) == {"uri": "gh:///"}
            listed = {**ARGUMENT, "uriTemplate": "x://{a*}", "arguments": {"a": ["1", "2"]}}
            assert await editor.command("expandTemplate", **listed) == {"uri": "x://1,2"}
            named = {**ARGUMENT, "uriTemplate": "x://s{?a*}", "arguments": {"a": {"q": "1", "lang": "de"}}}
            assert await editor.command("expandTemplate", **named) == {"uri": "x://s?q=1&lang=de"}
            assert server.starts == 0


@pytest.mark.parametrize(
    ("command", "argument", "kind"),
    [
        ("complete", {"server": "it", "uriTemplate": TEMPLATE}, "invalidArgument"),
        ("complete", {**ARGUMENT, "argument": "a", "value": 7}, "invalidArgument"),
        ("complete", {**ARGUMENT, "argument": "a", "value": "", "arguments": {"b": 1}}, "invalidArgument"),
        ("complete", {**ARGUMENT, "server": "other", "argument": "a", "value": ""}, "unknownServer"),
        ("expandTemplate", {"server": "it", "uriTemplate": "x://{a"}, "invalidArgument"),
        ("expandTemplate", {"server": "other", "uriTemplate": TEMPLATE}, "unknownServer"),
        ("expandTemplate", {**ARGUMENT, "arguments": ["a"]}, "invalidArgument"),
        ("expandTemplate", {**ARGUMENT, "arguments": {"owner": 7}}, "invalidArgument"),
        ("expandTemplate", {**ARGUMENT, "arguments": {"owner": {"a": 7}}}, "invalidArgument"),
    ],
)
async def test_a_wrong_argument_is_named(
    tmp_path: Path, command: str, argument: dict[str, Any], kind: str
) -> None:
    with ScriptedServer(tmp_path) as server:
        async with running(tmp_path, {"it": server.entry()}) as editor:
            with pytest.raises(JsonRpcException) as error:
                await editor.command(command, **argument)
            assert error.value.data["kind"] == kind

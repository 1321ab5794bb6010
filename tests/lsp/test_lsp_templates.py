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

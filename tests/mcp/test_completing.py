"""Values for template arguments, from servers that offer them, half offer them, or answer nonsense."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from mcp_lectern.mcp.errors import InvalidResult, ServerError
from mcp_lectern.mcp.wire.completion import Completion

from .conftest import Connect, Script

pytestmark = pytest.mark.anyio

OFFERED = {"resources": {}, "completions": {}}
METHOD = "completion/complete"
TEMPLATE = "gh://{owner}/{repo}"


def answering(*results: Any) -> dict[str, Any]:
    return {METHOD: [{"result": {"resultType": "complete", "completion": result}} for result in results]}


@pytest.mark.case("CMP-01")
@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("declared", [{}, {"completions": None}, {"completions": False}])
async def test_cmp_01_without_the_capability_nobody_is_asked(
    era: str, declared: dict[str, Any], script: Script, connected: Connect
) -> None:
    server = script(era=era, capabilities={"resources": {}, **declared}, answers=answering({"values": ["x"]}))
    async with connected(server) as connection:
        assert await connection.complete(TEMPLATE, "owner", "", {}) == Completion()
        await connection.list_resources()
    assert not server.received(METHOD)


@pytest.mark.case("CMP-01")
async def test_cmp_01_a_missing_method_is_not_asked_for_again(script: Script, connected: Connect) -> None:
    missing = {METHOD: {"error": {"code": -32601, "message": "Method not found"}}}
    server = script(capabilities=OFFERED, answers=missing)
    async with connected(server) as connection:
        for _ in range(3):
            assert await connection.complete(TEMPLATE, "owner", "", {}) == Completion()
    assert len(server.received(METHOD)) == 1


@pytest.mark.case("CMP-01")
async def test_cmp_01_another_error_is_told_and_does_not_end_the_asking(
    script: Script, connected: Connect
) -> None:
    refused = {"error": {"code": -32602, "message": "no such argument"}}
    good = answering({"values": ["x"]})[METHOD][0]
    server = script(capabilities=OFFERED, answers={METHOD: [refused, good]})
    async with connected(server) as connection:
        with pytest.raises(ServerError, match="no such argument"):
            await connection.complete(TEMPLATE, "owner", "", {})
        assert await connection.complete(TEMPLATE, "owner", "", {}) == Completion(("x",))


@pytest.mark.case("CMP-01")
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"values": ["b", "a"]}, Completion(("b", "a"))),
        ({"values": None}, Completion()),
        ({"values": "abc"}, Completion()),
        ({}, Completion()),
        ({"values": ["", 7, None, ["x"], {"value": "x"}, "a\nb", "a\nb"]}, Completion(("", "a\nb"))),
        ({"values": ["a"], "hasMore": True}, Completion(("a",), has_more=True)),
        ({"values": ["a"], "hasMore": "no"}, Completion(("a",))),
        ({"values": ["a"], "total": 3}, Completion(("a",), has_more=True)),
        ({"values": ["a"], "total": 1}, Completion(("a",))),
        ({"values": ["a"], "total": "many"}, Completion(("a",))),
        ({"values": [], "total": True}, Completion()),
        (
            {"values": [str(number) for number in range(250)], "hasMore": True, "total": 2},
            Completion(tuple(str(number) for number in range(250)), has_more=True),
        ),
    ],
)
async def test_cmp_01_what_is_text_among_the_values_is_taken(
    answer: Any, expected: Completion, script: Script, connected: Connect
) -> None:
    async with connected(script(capabilities=OFFERED, answers=answering(answer))) as connection:
        assert await connection.complete(TEMPLATE, "owner", "", {}) == expected


@pytest.mark.case("CMP-01")
@pytest.mark.parametrize(
    "result", [{}, {"completion": None}, {"completion": ["a"]}, [], None, {"resultType": "input_required"}]
)
async def test_cmp_01_no_completion_at_all_is_an_invalid_result(
    result: Any, script: Script, connected: Connect
) -> None:
    server = script(capabilities=OFFERED, answers={METHOD: {"result": result}})
    async with connected(server) as connection:
        with pytest.raises(InvalidResult, match=METHOD):
            await connection.complete(TEMPLATE, "owner", "", {})
        assert await connection.list_resources()


@pytest.mark.case("CMP-01")
async def test_cmp_01_a_slow_completion_holds_nothing_up_and_can_be_cancelled(
    script: Script, connected: Connect
) -> None:
    server = script(capabilities=OFFERED, answers={METHOD: {"gate": "never"}}, contents={"a://1": "x"})
    async with connected(server) as connection:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.complete, TEMPLATE, "owner", "", {})
            await server.wait_waiting("never")
            assert (await connection.read("a://1")).items
            tasks.cancel_scope.cancel()
        cancelled = await server.wait_received("notifications/cancelled")
        assert cancelled["params"]["requestId"] == server.received(METHOD)[0]["id"]


@pytest.mark.case("CMP-02")
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_cmp_02_the_template_goes_verbatim_and_the_values_decoded_with_their_context(
    era: str, script: Script, connected: Connect
) -> None:
    offered = ["foo/bar", "x y", "<b>", "$1}", "%2F", "é"]
    server = script(era=era, capabilities=OFFERED, answers=answering({"values": offered}))
    template = "gh://{owner}/{+repo}{?q*}%20é"
    async with connected(server) as connection:
        found = await connection.complete(template, "repo", "x y/%", {"owner": "a/b"})
        await connection.complete(template, "owner", "", {})
    assert found.values == tuple(offered)
    first, second = (message["params"] for message in server.received(METHOD))
    assert first["ref"] == {"type": "ref/resource", "uri": template}
    assert first["argument"] == {"name": "repo", "value": "x y/%"}
    assert first["context"] == {"arguments": {"owner": "a/b"}}
    assert "context" not in second

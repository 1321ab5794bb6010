"""Subscriptions and questions, the same over every transport and in the newest revision of each era."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from mcp_lectern.mcp.connect import Connection
from mcp_lectern.mcp.wire.elicitation import Reply
from mcp_lectern.mcp.wire.resources import ReadResult, TextItem

from .conftest import RecordingObserver
from .test_contract import World, corner
from .test_input_required import FORM, NAME, Person, asking, required

__all__ = ["corner"]

pytestmark = pytest.mark.anyio
OFFERED = {"resources": {"subscribe": True, "listChanged": True}, "completions": {}}


@pytest.mark.case("SUB-01")
@pytest.mark.case("SUB-02")
async def test_sub_02_a_subscription_tells_of_changes_until_it_ends(
    corner: World, observer: RecordingObserver
) -> None:
    async with corner.connect(capabilities=OFFERED) as (connection, server):
        connection.subscribe("a://1")
        await observer.wait_for(lambda: connection.subscriptions == {"a://1"})
        server.notify("notifications/resources/updated", {"uri": "a://1"})
        await observer.wait_for(lambda: "a://1" in observer.updates)
        server.notify("notifications/resources/list_changed")
        await observer.wait_for(lambda: observer.changes > 0)
        connection.unsubscribe("a://1")
        await observer.wait_for(lambda: not connection.subscriptions)


@pytest.mark.case("RD-09")
async def test_rd_09_a_question_is_put_and_its_answer_goes_back(corner: World) -> None:
    ada = Reply("accept", {"name": "Ada"})
    person = Person(ada)
    read: dict[str, Any] = {"resources/read": asking(NAME)}
    if corner.modern:
        read = {"resources/read": [required({"a": FORM}, requestState="s"), {}]}
    options = {"answers": person}
    results: list[ReadResult] = []
    async with (
        corner.connect(options=options, answers=read, contents={"a://1": "x"}) as (connection, server),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(_read_into, connection, results)
        if not corner.modern:
            await _replied(server, "q0", ada)
            server.open("go")
    (item,) = results[0].items
    assert isinstance(item, TextItem)
    assert item.text == "x"
    assert len(person.asked) == 1


async def _read_into(connection: Connection, results: list[ReadResult]) -> None:
    results.append(await connection.read("a://1", asked=True))


async def _replied(server: Any, identity: str, reply: Reply) -> None:
    def found() -> list[dict[str, Any]]:
        return [each for each in server.received() if each.get("id") == identity and "result" in each]

    await server._wait(lambda: bool(found()), f"a response to {identity}", 20)
    assert found()[0]["result"] == reply.to_json()


@pytest.mark.case("CMP-02")
async def test_cmp_02_values_come_with_their_context(corner: World) -> None:
    answers = {"completion/complete": {"result": {"completion": {"values": ["a/b"]}}}}
    async with corner.connect(capabilities=OFFERED, answers=answers) as (connection, server):
        found = await connection.complete("gh://{owner}/{repo}", "repo", "a", {"owner": "o"})
        assert found.values == ("a/b",)
        params = server.received("completion/complete")[0]["params"]
        assert params["context"] == {"arguments": {"owner": "o"}}

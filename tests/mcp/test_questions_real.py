"""The official SDK's server asks before it answers a read: in rounds, and by a request of its own."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from mcp_lectern.mcp.client.opening import Preference
from mcp_lectern.mcp.connect import StdioParameters, connect
from mcp_lectern.mcp.wire.elicitation import DECLINE, Reply
from mcp_lectern.mcp.wire.resources import TextItem

from .conftest import RecordingObserver
from .test_input_required import Person

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(90),
    pytest.mark.skipif(
        importlib.util.find_spec("mcp") is None and "CI" not in os.environ,
        reason="the official SDK is missing: install the dependency group peer",
    ),
]


SERVER = """
from pydantic import BaseModel

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

server = MCPServer("sdk")


class Name(BaseModel):
    name: str


@server.resource("ask://{topic}")
async def ask(topic: str, ctx: Context) -> str:
    if ctx.request_context.protocol_version < "2026":
        answer = await ctx.elicit("Who are you?", Name)
        return f"{topic} for {answer.data.name}" if answer.action == "accept" else answer.action
    given = (ctx.input_responses or {}).get("who")
    if given is None:
        params = ElicitRequestFormParams(message="Who are you?", requested_schema=Name.model_json_schema())
        return InputRequiredResult(input_requests={"who": ElicitRequest(params=params)}, request_state=topic)
    assert ctx.request_state == topic
    return f"{topic} for {given.content['name']}" if given.action == "accept" else given.action


server.run("stdio")
"""


@pytest.mark.case("RD-09")
@pytest.mark.parametrize("protocol", ["modern", "legacy"])
@pytest.mark.parametrize(
    ("reply", "expected"), [(Reply("accept", {"name": "Ada"}), "tea for Ada"), (DECLINE, "decline")]
)
async def test_rd_09_the_official_sdk_gets_its_answer(
    protocol: Preference, reply: Reply, expected: str, tmp_path: Path
) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    parameters = StdioParameters(sys.executable, ("-P", "server.py"), dict(os.environ), tmp_path)
    person = Person(reply)
    observer = RecordingObserver()
    async with connect(
        parameters, server="sdk", observer=observer, version="1", protocol=protocol, answers=person
    ) as connection:
        (item,) = (await connection.read("ask://tea", asked=True)).items
    assert isinstance(item, TextItem)
    assert item.text == expected
    (question,) = person.asked
    assert question.message == "Who are you?"

"""A client for the official conformance suite: Lectern's MCP client, and what a scenario wants done with it.

``python driver.py URL``; the suite tells the scenario, the revision and credentials in its environment.
Lectern itself calls no tools: here they are called over the session, since scenarios are made of them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import httpx

from mcp_lectern.mcp.auth.authorization import Authorization
from mcp_lectern.mcp.auth.exchange import plain_clients
from mcp_lectern.mcp.auth.flow import OAuthFlow
from mcp_lectern.mcp.auth.model import OAuthSettings
from mcp_lectern.mcp.auth.tokens import InMemory
from mcp_lectern.mcp.connect import Connection, HttpParameters, connect
from mcp_lectern.mcp.errors import McpError
from mcp_lectern.mcp.session import Patience
from mcp_lectern.mcp.wire.elicitation import CANCEL, FormQuestion, Mode, Question, Reply, UrlQuestion
from mcp_lectern.mcp.wire.failures import Asked

Json = Any

MUST_REFUSE = {
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/metadata-issuer-mismatch",
    "auth/resource-mismatch",
    "auth/scope-retry-limit",
}
"""Scenarios with a server that no client may be content with."""
METADATA_DOCUMENT = "https://conformance-test.local/client-metadata.json"


class Observer:
    """Tells everything on stderr."""

    def log(self, line: str) -> None:
        print(line, file=sys.stderr)

    def resources_changed(self) -> None: ...

    def resource_updated(self, uri: str | None) -> None: ...

    def subscriptions_changed(self) -> None: ...


class Browser:
    """Follows every redirect, to the listener of this process in the end."""

    async def open_browser(self, url: str) -> None:
        async with httpx.AsyncClient(follow_redirects=True) as client:
            await client.get(url)

    async def redirect_address(self, local: str) -> str:
        return local


async def ask(connection: Connection, method: str, params: Mapping[str, Json]) -> Json:
    """One request of a kind that Lectern does not send."""
    return await connection._session.request(Asked("suite", method), params, Patience(10, 20))


class Accepting:
    """Answers every form with its defaults, and with anything fitting where it has none."""

    modes: frozenset[Mode] = frozenset({"form"})

    async def answer(self, question: Question) -> Reply:
        if not isinstance(question, FormQuestion):
            return CANCEL
        fitting = {"string": "x", "boolean": True, "integer": 1, "number": 1, "array": []}
        members = question.schema.get("properties", {})
        needed = [name for name in question.schema.get("required", ()) if "default" not in members[name]]
        return Reply("accept", {name: fitting[members[name]["type"]] for name in needed})

    async def finished(self, question: UrlQuestion) -> bool:
        return False


async def tools_in_rounds(connection: Connection) -> None:
    """Calls each tool in as many rounds as it needs, as a resource is read."""
    rounds = connection._resources.rounds
    for tool in await tools(connection):
        call = connection._session.asked("tools/call")
        await rounds.request(call, {"name": tool["name"], "arguments": {}}, asked=True)


async def tools(connection: Connection) -> list[dict[str, Json]]:
    answer = await ask(connection, "tools/list", {})
    return list(answer["tools"])


async def nothing(_connection: Connection) -> None:
    """The opening alone."""


async def resources(connection: Connection) -> None:
    """What Lectern does: it lists and reads."""
    listing = await connection.list_resources()
    await connection.list_templates()
    for resource in listing.entries:
        await connection.read(resource.uri)


async def every_tool(connection: Connection) -> None:
    for tool in await tools(connection):
        await ask(connection, "tools/call", {"name": tool["name"], "arguments": {}})


async def sum_of_two(connection: Connection) -> None:
    await tools(connection)
    await ask(connection, "tools/call", {"name": "add_numbers", "arguments": {"a": 5, "b": 3}})


async def all_kinds(connection: Connection) -> None:
    """Resources first, then what else has a name in its headers."""
    await resources(connection)
    await every_tool(connection)
    answer = await ask(connection, "prompts/list", {})
    for prompt in answer["prompts"]:
        await ask(connection, "prompts/get", {"name": prompt["name"], "arguments": {}})


async def twice(connection: Connection) -> None:
    await every_tool(connection)
    await every_tool(connection)


WORK: dict[str, Callable[[Connection], Awaitable[object]]] = {
    "initialize": nothing,
    "json-schema-ref-no-deref": tools,
    "tools_call": sum_of_two,
    "elicitation-sep1034-client-defaults": tools_in_rounds,
    "sep-2322-client-request-state": tools_in_rounds,
    "http-standard-headers": all_kinds,
    "auth/authorization-server-migration": twice,
}


def settings(scenario: str, context: Mapping[str, str]) -> OAuthSettings:
    itself = scenario.startswith("auth/client-credentials")
    return OAuthSettings(
        client_id=context.get("client_id"),
        client_secret=context.get("client_secret"),
        private_key=context.get("private_key_pem"),
        client_metadata_url=METADATA_DOCUMENT if scenario == "auth/basic-cimd" else None,
        grant="client_credentials" if itself else "authorization_code",
    )


async def run(scenario: str, url: str) -> None:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    observer = Observer()
    authorization = Authorization(
        url,
        settings(scenario, context),
        server="suite",
        storage=InMemory(),
        clients=plain_clients(),
        log=observer.log,
        interaction=Browser(),
    )
    parameters = HttpParameters(url, auth=OAuthFlow(authorization))
    answers = Accepting() if "elicitation" in scenario or "2322" in scenario else None
    opened = connect(parameters, server="suite", observer=observer, answers=answers, version="0")
    async with opened as connection:
        await WORK.get(scenario, every_tool)(connection)


def main() -> int:
    scenario, url = os.environ["MCP_CONFORMANCE_SCENARIO"], sys.argv[-1]
    refused = False
    try:
        anyio.run(run, scenario, url)
    except McpError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        refused = True
    return 0 if refused == (scenario in MUST_REFUSE) else 1


if __name__ == "__main__":
    sys.exit(main())

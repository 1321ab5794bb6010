"""Plays the steps of a case to the official SDK's client, in the ways of its documentation; knows no servers.

A list is walked by the loop of its page on pagination, changes are heard as its page on subscriptions says.
"""

from __future__ import annotations

import asyncio
import base64
import os
import warnings
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, Subscription
from mcp.shared.exceptions import MCPError

from bench.cases import words
from bench.cases.model import MOST_PAGES, Play, counted

Say = Callable[[str], None]
HEARD_WITHIN = 2.0


class Ears:
    """What the client tells of changes goes into a queue; ``stack`` holds the streams that are open."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self.stack = stack
        self.notices: asyncio.Queue[str] = asyncio.Queue()
        self.tasks: list[asyncio.Task[None]] = []

    async def message(self, message: Any) -> None:
        if isinstance(message, types.ResourceListChangedNotification):
            self.notices.put_nowait("told that the list changed")
        elif isinstance(message, types.ResourceUpdatedNotification):
            self.notices.put_nowait(f"told that {message.params.uri} changed")

    def follow(self, subscription: Subscription) -> None:
        self.tasks.append(asyncio.create_task(self._follow(subscription)))

    async def _follow(self, subscription: Subscription) -> None:
        try:
            async for event in subscription:
                uri = getattr(event, "uri", None)
                what = "the list" if uri is None else uri
                self.notices.put_nowait(f"told that {what} changed")
            self.notices.put_nowait("told that the stream ended")
        except Exception as error:  # noqa: BLE001 - whatever a client raises is its outcome
            self.notices.put_nowait(told(error))


async def _fill_in(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "x"})


def play(play: Play, say: Say) -> None:
    """Do all the steps."""
    warnings.simplefilter("ignore")
    os.environ.update(play.environment)
    asyncio.run(_play(play, say))


async def _play(play: Play, say: Say) -> None:
    connected = False
    try:
        async with AsyncExitStack() as stack:
            ears = Ears(stack)
            client = await stack.enter_async_context(await _client(play, ears, stack))
            connected = True
            for step in play.steps:
                say(await outcome(VERBS[step[0]](client, ears, *step[1:])))
            for task in ears.tasks:
                task.cancel()
    except Exception as error:  # noqa: BLE001 - whatever a client raises is its outcome
        say(f"broken at the end, {told(error)}" if connected else f"no connection, {told(error)}")


async def _client(play: Play, ears: Ears, stack: AsyncExitStack) -> Client:
    server: Any
    if play.command:
        server = StdioServerParameters(
            command=play.command[0], args=list(play.command[1:]), env=dict(os.environ)
        )
    elif play.sse:
        server = sse_client(play.url, headers=dict(play.headers))
    elif play.headers or play.sign_in:
        auth = None
        if play.sign_in:
            from bench.cases.sign_in import their_flow

            auth = await their_flow(play.url)
        http = httpx2.AsyncClient(headers=dict(play.headers), timeout=30, auth=auth)
        server = streamable_http_client(play.url, http_client=await stack.enter_async_context(http))
    else:
        server = play.url
    return Client(
        server,
        read_timeout_seconds=play.patience,
        message_handler=ears.message,
        elicitation_callback=_fill_in if play.answers else None,
        mode="legacy" if play.mode == "legacy" else "auto",
    )


async def outcome(doing: Awaitable[str]) -> str:
    """What a step came to."""
    try:
        return await doing
    except Exception as error:  # noqa: BLE001 - whatever a client raises is its outcome
        return told(error)


def told(error: BaseException) -> str:
    first = words.innermost(error)
    code, message = (first.code, first.message) if isinstance(first, MCPError) else (None, "")
    if code == types.REQUEST_TIMEOUT and message.endswith("timed out"):
        return words.TIMES_OUT
    lost = code == types.CONNECTION_CLOSED and message == "Connection closed"
    return words.LOST if lost else words.failure(first)


async def _walked(fetch: Callable[..., Awaitable[Any]], key: str) -> tuple[list[Any], str]:
    """The loop of the documentation, which has no end of its own, for a while."""
    found: list[Any] = []
    cursor = None
    for _ in range(MOST_PAGES):
        page = await fetch(cursor=cursor)
        found += getattr(page, key)
        if page.next_cursor is None:
            return found, ""
        cursor = page.next_cursor
    return found, "its caller's loop does not end"


async def _resources(client: Client, _ears: Ears) -> str:
    found, endless = await _walked(client.list_resources, "resources")
    return endless or counted(len(found), "entry", "entries")


async def _templates(client: Client, _ears: Ears) -> str:
    found, endless = await _walked(client.list_resource_templates, "resource_templates")
    return endless or counted(len(found), "template")


async def _names(client: Client, _ears: Ears) -> str:
    found, endless = await _walked(client.list_resources, "resources")
    return endless or words.joined((entry.name for entry in found), "no names")


async def _types(client: Client, _ears: Ears) -> str:
    found, endless = await _walked(client.list_resources, "resources")
    return endless or words.joined((repr(entry.mime_type) for entry in found), "no types")


async def _read(client: Client, _ears: Ears, uri: str) -> str:
    contents = (await client.read_resource(uri)).contents
    return words.joined(
        (
            words.shortened(item.text)
            if isinstance(item, types.TextResourceContents)
            else words.binary(base64.b64decode(item.blob))
            for item in contents
        ),
        "no items",
    )


async def _complete(
    client: Client, _ears: Ears, template: str, argument: str, value: str, earlier: dict[str, str]
) -> str:
    reference = types.ResourceTemplateReference(type="ref/resource", uri=template)
    given = {"name": argument, "value": value}
    completion = (await client.complete(reference, given, earlier or None)).completion
    more = ", and more" if completion.has_more else ""
    return counted(len(completion.values), "value") + more


async def _subscribe(client: Client, ears: Ears, uri: str) -> str:
    listening = client.listen(resources_list_changed=True, resource_subscriptions=[uri])
    try:
        subscription = await ears.stack.enter_async_context(listening)
    except ListenNotSupportedError:
        await client.subscribe_resource(uri)
        return "subscribed"
    ears.follow(subscription)
    return "subscribed" if uri in (subscription.honored.resource_subscriptions or ()) else "not subscribed"


async def _heard(_client: Client, ears: Ears) -> str:
    try:
        return await asyncio.wait_for(ears.notices.get(), HEARD_WITHIN)
    except TimeoutError:
        return "told nothing"


async def _all_heard(_client: Client, ears: Ears) -> str:
    await asyncio.sleep(HEARD_WITHIN)
    notices = {ears.notices.get_nowait() for _ in range(ears.notices.qsize())}
    return ", ".join(sorted(notices)) or "told nothing"


async def _version(client: Client, _ears: Ears) -> str:
    return f"speaks {client.protocol_version}"


async def _ended(_client: Client, _ears: Ears) -> str:
    return "leaves it to the next request"


VERBS: dict[str, Callable[..., Awaitable[str]]] = {
    "resources": _resources,
    "templates": _templates,
    "names": _names,
    "types": _types,
    "read": _read,
    "complete": _complete,
    "subscribe": _subscribe,
    "heard": _heard,
    "all heard": _all_heard,
    "version": _version,
    "ended": _ended,
}

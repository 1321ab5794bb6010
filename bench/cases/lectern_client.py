"""Plays the steps of a case to our own client, and says what came of each; knows nothing of the servers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.hubs import hub_of

from bench.cases import words
from bench.cases.model import MOST_PAGES, Play, counted
from mcp_lectern.hub.failure import Refused
from mcp_lectern.hub.status import State
from mcp_lectern.mcp.connect import (
    Connection,
    HttpParameters,
    Limits,
    StdioParameters,
    Timing,
    connect,
)
from mcp_lectern.mcp.errors import ConnectionLost, RequestTimeout
from mcp_lectern.mcp.transport import http as _http  # noqa: F401 - loaded once, for all who are forked
from mcp_lectern.mcp.wire.elicitation import Question, Reply
from mcp_lectern.mcp.wire.resources import BlobItem, ReadResult, TextItem

Say = Callable[[str], None]
HEARD_WITHIN = 2.0
GONE = "told that the server is gone"


class Ears:
    """The observer: what was told goes into a queue."""

    def __init__(self) -> None:
        self.notices: asyncio.Queue[str] = asyncio.Queue()

    def log(self, line: str) -> None: ...

    def resources_changed(self) -> None:
        self.notices.put_nowait("told that the list changed")

    def resource_updated(self, uri: str | None) -> None:
        self.notices.put_nowait(f"told that {uri or 'something'} changed")

    def subscriptions_changed(self) -> None: ...


class Person:
    """Fills in every form."""

    modes = frozenset({"form"})

    async def answer(self, question: Question) -> Reply:
        return Reply("accept", {"name": "x"})

    async def finished(self, question: Any) -> bool:
        return False


def play(play: Play, say: Say) -> None:
    """Do all the steps."""
    os.environ.update(play.environment)
    asyncio.run(_through_hub(play, say) if play.through_hub else _play(play, say))


async def _play(play: Play, say: Say) -> None:
    ears = Ears()
    try:
        async with _connected(play, ears) as connection:
            for step in play.steps:
                say(await outcome(VERBS[step[0]](connection, ears, *step[1:])))
    except Exception as error:  # noqa: BLE001 - whatever a client raises is its outcome
        say(f"no connection, {told(error)}")


@asynccontextmanager
async def _connected(play: Play, ears: Ears) -> AsyncIterator[Connection]:
    async with connect(
        await _parameters(play),
        server="case",
        observer=ears,
        version="1",
        timing=Timing(start=play.patience * 2, request=play.patience, total=play.patience, probe=1),
        limits=Limits(pages=MOST_PAGES),
        protocol="legacy" if play.mode == "legacy" else "auto",
        answers=Person() if play.answers else None,
    ) as connection:
        yield connection


async def _parameters(play: Play) -> StdioParameters | HttpParameters:
    if play.command:
        return StdioParameters(play.command[0], play.command[1:], dict(os.environ), Path.cwd())
    kind = "sse" if play.sse else "http"
    if not play.sign_in:
        return HttpParameters(play.url, play.headers, kind)  # type: ignore[arg-type]
    from bench.cases.sign_in import our_flow

    return HttpParameters(play.url, play.headers, kind, auth=await our_flow(play.url))  # type: ignore[arg-type]


async def _through_hub(play: Play, say: Say) -> None:
    program, *arguments = play.command or ("",)
    entry = {"command": program, "args": arguments} if program else {"url": play.url}
    async with hub_of({"case": entry}) as (hub, news):
        for step in play.steps:
            if step[0] == "ended":
                await news.until(lambda: hub.states()["case"] is not State.READY)
                say(GONE)
            elif step[0] == "resources":
                await hub.ensure_listed()
                say(counted(len(hub.catalogue.listings["case"].resources), "entry", "entries"))
            elif step[0] == "templates":
                say(counted(len(hub.catalogue.listings["case"].templates), "template"))
            else:
                say(await outcome(_hub_read(hub, step[1])))


async def _hub_read(hub: Any, uri: str) -> str:
    return items(await hub.read("case", uri))


async def outcome(doing: Awaitable[str]) -> str:
    """What a step came to."""
    try:
        return await doing
    except Exception as error:  # noqa: BLE001 - whatever a client raises is its outcome
        return told(error)


def told(error: BaseException) -> str:
    first = words.innermost(error)
    if isinstance(first, Refused):
        return f"error: {first.failure.kind}"
    if isinstance(first, RequestTimeout):
        return words.TIMES_OUT
    return words.LOST if isinstance(first, ConnectionLost) else words.failure(first)


async def _resources(connection: Connection, _ears: Ears) -> str:
    listing = await connection.list_resources()
    cut = ", marked incomplete" if listing.partial else ""
    return counted(len(listing.entries), "entry", "entries") + cut


async def _templates(connection: Connection, _ears: Ears) -> str:
    listing = await connection.list_templates()
    cut = ", marked incomplete" if listing.partial else ""
    return counted(len(listing.entries), "template") + cut


async def _names(connection: Connection, _ears: Ears) -> str:
    return words.joined((entry.name for entry in (await connection.list_resources()).entries), "no names")


async def _types(connection: Connection, _ears: Ears) -> str:
    entries = (await connection.list_resources()).entries
    return words.joined((repr(entry.mime_type) for entry in entries), "no types")


async def _read(connection: Connection, _ears: Ears, uri: str) -> str:
    return items(await connection.read(uri, asked=True))


def items(result: ReadResult) -> str:
    """What a read gave."""
    return words.joined(
        (
            words.shortened(item.text)
            if isinstance(item, TextItem)
            else words.binary(item.data)
            if isinstance(item, BlobItem)
            else "an item marked unreadable"
            for item in result.items
        ),
        "no items",
    )


async def _complete(
    connection: Connection, _ears: Ears, template: str, argument: str, value: str, earlier: dict[str, str]
) -> str:
    completion = await connection.complete(template, argument, value, earlier)
    more = ", and more" if completion.has_more else ""
    return counted(len(completion.values), "value") + more


async def _subscribe(connection: Connection, _ears: Ears, uri: str) -> str:
    connection.subscribe(uri)
    for _ in range(50):
        if uri in connection.subscriptions:
            return "subscribed"
        await asyncio.sleep(0.02)
    return "not subscribed"


async def _heard(_connection: Connection, ears: Ears) -> str:
    try:
        return await asyncio.wait_for(ears.notices.get(), HEARD_WITHIN)
    except TimeoutError:
        return "told nothing"


async def _all_heard(_connection: Connection, ears: Ears) -> str:
    await asyncio.sleep(HEARD_WITHIN)
    notices = {ears.notices.get_nowait() for _ in range(ears.notices.qsize())}
    return ", ".join(sorted(notices)) or "told nothing"


async def _version(connection: Connection, _ears: Ears) -> str:
    return f"speaks {connection.protocol_version}"


async def _ended(connection: Connection, _ears: Ears) -> str:
    await connection.wait_closed()
    return GONE


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

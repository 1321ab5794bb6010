"""Keeps one server's listing current: walks its lists, again on change notices; must not know processes.

A walk that a notice overtakes is thrown away and walked again once, so that no snapshot mixes two
generations; notices that keep coming lead to at most about one walk a second.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import islice
from typing import Protocol, TypeVar

import anyio

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.template import Template, Unusable
from mcp_lectern.hub import failure
from mcp_lectern.mcp.errors import ConnectionLost, EraChanged, McpError
from mcp_lectern.mcp.wire.resources import Listing, Resource, ResourceTemplate
from mcp_lectern.text.untrusted import single_line

T = TypeVar("T", Resource, ResourceTemplate)

PACE = 1.0
"""Seconds between the starts of two walks that notices cause."""
_LOOKED_AT = 1_000
_MOST_REMARKS = 20
"""Unusable templates that the log names, of the first so many that are looked at."""


class Lists(Protocol):
    """The two lists of a connection."""

    @property
    def closed(self) -> bool: ...  # noqa: D102
    async def list_resources(self) -> Listing[Resource]: ...  # noqa: D102
    async def list_templates(self) -> Listing[ResourceTemplate]: ...  # noqa: D102


class Refresh:
    """One server's walks over one connection. ``ended`` is set when the first one is over.

    ``locked`` is set when the server lists nothing before somebody has signed in. ``known`` is what is
    shown of its lists now.
    """

    def __init__(
        self,
        server: str,
        publish: Callable[[ServerListing], Awaitable[None]],
        log: Callable[[str], None],
        known: Callable[[], ServerListing],
    ) -> None:
        self._server = server
        self._publish = publish
        self._log = log
        self._known = known
        self._generation = 0
        self._published = -1
        self._over = False
        self._walking = False
        self._dirty = anyio.Event()
        self._walked = anyio.Event()
        self._fresh_until: float | None = None
        self.locked: anyio.Event = anyio.Event()
        self.ended = anyio.Event()
        self.seconds: float | None = None
        self.error: McpError | None = None

    def notice(self) -> None:
        """The server's list has changed, or a person asks for a new walk."""
        self._generation += 1
        self._dirty.set()

    def looked_at(self) -> None:
        """Somebody uses the list: if its server said for how long it is good, and that is over, walk it."""
        if self._fresh_until is not None and time.monotonic() >= self._fresh_until:
            self._fresh_until = None
            self.notice()

    async def walk_again(self) -> None:
        """Ask for a new walk and wait until one that began after this call is published, or none will be."""
        self.notice()
        wanted = self._generation
        while self._published < wanted and not self._over:
            await self._walked.wait()

    async def ended_with(self, end: McpError) -> None:
        """The server is gone: wait until what it listed before that, if anything, is published."""
        if self._walking and isinstance(end, ConnectionLost) and not isinstance(end, EraChanged):
            await self._walked.wait()

    async def run(self, lists: Lists) -> None:
        """Walk at once, then after every notice, until cancelled."""
        try:
            while True:
                started = time.monotonic()
                await self._round(lists, started)
                await self._dirty.wait()
                await anyio.sleep(max(0.0, started + PACE - time.monotonic()))
        finally:
            self._over = True
            self.ended.set()
            self._walked.set()

    async def _round(self, lists: Lists, started: float) -> None:
        self._walking = True
        generation, listing = await self._settled(lists)
        self.seconds = time.monotonic() - started
        if listing is not None:
            await self._publish(listing)
        self._walking = False
        self._published = generation
        self.ended.set()
        self._walked.set()
        self._walked = anyio.Event()

    async def _settled(self, lists: Lists) -> tuple[int, ServerListing | None]:
        generation, listing = await self._walk(lists)
        if generation == self._generation or lists.closed:
            return generation, listing
        self._log("the list changed while it was read; reading it again")
        return await self._walk(lists)

    async def _walk(self, lists: Lists) -> tuple[int, ServerListing | None]:
        generation, began = self._generation, time.monotonic()
        self._dirty = anyio.Event()
        self.error = None
        results: list[Listing[Resource]] = []
        templates: list[Listing[ResourceTemplate]] = []
        async with anyio.create_task_group() as group:
            group.start_soon(self._collect, lists.list_resources, results)
            group.start_soon(self._collect, lists.list_templates, templates)
        hints = [listing.ttl_ms for listing in results] + [listing.ttl_ms for listing in templates]
        hints = [hint for hint in hints if hint]
        self._fresh_until = began + min(hints) / 1000 if hints else None
        if lists.closed:
            self._forget_beginnings(results, templates)
            if not results and not templates:
                return generation, None
        return generation, self._listing(results, templates)

    def _forget_beginnings(
        self, resources: list[Listing[Resource]], templates: list[Listing[ResourceTemplate]]
    ) -> None:
        """The server ended on the way: the first pages of a list are no news where there was a whole one."""
        known = self._known()
        for listings, before in ((resources, known.resources), (templates, known.templates)):
            if before and any(listing.partial for listing in listings):
                listings.clear()

    async def _collect(self, walk: Callable[[], Awaitable[Listing[T]]], into: list[Listing[T]]) -> None:
        try:
            into.append(await walk())
        except McpError as error:
            self.error = error
            self._log(str(error))
            if failure.needs_sign_in(error):
                self.locked.set()

    def _listing(
        self, resources: list[Listing[Resource]], templates: list[Listing[ResourceTemplate]]
    ) -> ServerListing:
        whole: list[Listing[Resource] | Listing[ResourceTemplate]] = [*resources, *templates]
        for note in (note for listing in whole for note in listing.notes):
            self._log(note)
        for listing in templates:
            for note in _unusable(listing.entries):
                self._log(note)
        known = self._known()
        walked = resources[0].entries if resources else known.resources
        return ServerListing.of(
            self._server,
            known.resources if known.resources == walked else walked,
            templates[0].entries if templates else known.templates,
            partial=self._cut(whole, known),
        )

    def _cut(
        self, whole: Sequence[Listing[Resource] | Listing[ResourceTemplate]], known: ServerListing
    ) -> str | None:
        """Why something is missing. A list that fails stays what it was, perhaps in an earlier session."""
        if self.error is not None:
            stays = " What it listed before is kept." if known.resources or known.templates else ""
            return f"{failure.message_of(self.error)}{stays}"
        return next((listing.partial for listing in whole if listing.partial), None)


def _unusable(templates: Sequence[ResourceTemplate]) -> Iterator[str]:
    """Why templates are not offered, for the log; one bad template costs no other."""
    parsed = (Template.parse(entry.uri_template) for entry in templates[:_LOOKED_AT])
    for broken in islice((one for one in parsed if isinstance(one, Unusable)), _MOST_REMARKS):
        yield f"the template {single_line(broken.text)} cannot be used: {broken.reason}"

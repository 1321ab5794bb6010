"""The one owner of tasks and live state: links to servers, the catalogue, reads.

It knows no editor: whoever runs it passes an :class:`HubObserver` and asks for snapshots. Everything here
runs on one event loop; what would hold that loop (indexing, fingerprints) runs in a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import Catalogue, ServerListing
from mcp_lectern.config.mask import masker
from mcp_lectern.hub import calls, failure
from mcp_lectern.hub.contents import Contents
from mcp_lectern.hub.credentials import default_storage
from mcp_lectern.hub.entry import Entry
from mcp_lectern.hub.failure import Refused
from mcp_lectern.hub.inputs import Inputs
from mcp_lectern.hub.link import Link
from mcp_lectern.hub.live import Live
from mcp_lectern.hub.log import ServerLog
from mcp_lectern.hub.observer import HubObserver
from mcp_lectern.hub.offering import Offering
from mcp_lectern.hub.questions import OneAtATime
from mcp_lectern.hub.remembered import Remembered
from mcp_lectern.hub.reporting import status_of
from mcp_lectern.hub.status import SILENT, ServerStatus, State
from mcp_lectern.hub.surroundings import Surroundings
from mcp_lectern.hub.sweeping import Room
from mcp_lectern.mcp.client.bounds import Limits, Timing
from mcp_lectern.mcp.errors import McpError, ResourceNotFound
from mcp_lectern.mcp.wire.lifecycle import Root
from mcp_lectern.mcp.wire.resources import ReadResult, TextItem
from mcp_lectern.settings import Settings

if TYPE_CHECKING:
    from mcp_lectern.mcp.auth.tokens import TokenStorage
    from mcp_lectern.mcp.connect import Answers
    from mcp_lectern.mcp.wire.completion import Completion

_Work = Callable[[Link], Coroutine[Any, Any, None]]


class Hub:
    """``run`` owns every task until ``close``. Reads of ``catalogue`` and ``indexes`` never wait."""

    def __init__(self, observer: HubObserver, version: str, answers: Answers | None = None) -> None:
        self.catalogue = Catalogue()
        self.indexes: Mapping[str, ServerIndex] = {}
        self.unreadable: dict[tuple[str, str], str] = {}
        self.contents = Contents(self._fetch, self._authorization)
        self.live = Live(self.contents, self._link_of, self._read_again, observer.contents_changed)
        self.timing = Timing()
        self.limits = Limits()
        self.folders: tuple[Root, ...] = ()
        self.offering = Offering()
        self.remembered = Remembered(self)
        self.tokens: Callable[[], TokenStorage] = default_storage
        self.inputs = Inputs(self)
        self._observer = observer
        self._version = version
        self._answers = OneAtATime(answers, self.inputs.turn) if answers else None
        self._links: dict[str, Link] = {}
        # Open documents hold what these entries' former servers said, until the new ones are listed.
        self._replaced: set[str] = set()
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._tasks: TaskGroup | None = None
        self._running = anyio.Event()
        self._closing = anyio.Event()
        self._closed = anyio.Event()
        self._configuring = anyio.Lock()

    async def run(self) -> None:
        """The hub's life. Returns after :meth:`close`, when every process tree has ended."""
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                tasks.start_soon(self.remembered.run)
                self._running.set()
                await self._closing.wait()
                tasks.cancel_scope.cancel()
        finally:
            self._closed.set()

    def adopt(self, settings: Settings, folders: Iterable[Path]) -> None:
        """Limits and folders for everything that starts from now on."""
        self.timing = Timing(
            start=settings.timeouts_start, request=settings.timeouts_request, total=settings.timeouts_total
        )
        self.limits = Limits(read_bytes=settings.limits_read_bytes)
        self.folders = tuple(Root(folder.as_uri(), folder.name) for folder in folders)
        self.offering.filters = settings.filters
        self.remembered.room = Room(settings.limits_materialized_bytes, settings.materialized_days)

    async def close(self) -> None:
        """End all servers; returns when they are gone."""
        self._closing.set()
        await self._closed.wait()

    async def configure(self, entries: Iterable[Entry], *, eager: bool = False) -> None:
        """Make the running links match these entries; unchanged ones keep their process."""
        await self._running.wait()
        async with self._configuring:
            wanted = {entry.spec.name: entry for entry in entries}
            gone = [name for name in self._links if not self._stays(name, wanted.get(name))]
            await self._drop(gone)
            added = wanted.keys() - self._links.keys()
            for name, entry in wanted.items():
                if name in self._links and self._links[name].entry.preparing:
                    self._links[name].prepared(entry)
                elif name in self._links:
                    self._links[name].entry = entry
                else:
                    self._add(entry)
            self._links = {name: self._links[name] for name in wanted}
            self.catalogue = self.catalogue.with_servers(self._links)
            self.indexes = {name: index for name, index in self.indexes.items() if name in self._links}
            await self.offering.follow(self)
            await self.remembered.restore()
        for name, link in self._links.items():
            self._observer.catalogue_changed(name)
            if name in added and self.contents.pinned(name):
                self._replaced.add(name)
            if eager or name in self._replaced:
                link.want(explicit=False)

    def _stays(self, name: str, entry: Entry | None) -> bool:
        now = self._links[name].entry
        return entry is not None and (now.preparing or entry.runs_like(now))

    async def _drop(self, names: list[str]) -> None:
        async with anyio.create_task_group() as group:
            for name in names:
                group.start_soon(self._links[name].stop)
        gone = [self._links[name].entry for name in names]
        for name in names:
            self._scopes.pop(name).cancel()
            del self._links[name]
            self.contents.forget(name)
            self.live.dropped(name)
            self.unreadable = {key: why for key, why in self.unreadable.items() if key[0] != name}
            self.catalogue = self.catalogue.with_servers(
                other for other in self.catalogue.servers if other != name
            )
            self.indexes = {other: index for other, index in self.indexes.items() if other != name}
            self._observer.catalogue_changed(name)
        for entry in gone:
            await self.remembered.dropped(entry)

    def _add(self, entry: Entry) -> None:
        name = entry.spec.name
        log = ServerLog(masker(entry.secrets), lambda line: self._observer.log(name, line))
        link = Link(entry, log, self._surroundings())
        if entry.refusal:
            log.write(entry.refusal)
        self._links[name] = link
        self._scopes[name] = anyio.CancelScope()
        self._group().start_soon(self._run_link, link, self._scopes[name])

    async def _run_link(self, link: Link, scope: anyio.CancelScope) -> None:
        with scope:
            await link.run()

    def _surroundings(self) -> Surroundings:
        return Surroundings(
            publish=self._publish,
            listing=lambda name: self.catalogue.listings.get(name) or ServerListing(name),
            changed=self._observer.status_changed,
            updated=self._updated,
            roots=lambda: self.folders,
            timing=self.timing,
            limits=self.limits,
            version=self._version,
            answers=self._answers,
            tokens=self.tokens,
        )

    def _group(self) -> TaskGroup:
        if self._tasks is None:
            raise RuntimeError("the hub is not running")
        return self._tasks

    def begin(self, work: Callable[..., Coroutine[Any, Any, None]], *arguments: object) -> None:
        """Run something that nobody waits for; it must not raise."""
        self._group().start_soon(work, *arguments)

    async def _publish(self, listing: ServerListing) -> None:
        index = await self.offering.index(listing, self.indexes.get(listing.server))
        if listing.server in self._links:
            # One copy of a long list is enough.
            listing = index.listing if index.listing == listing else listing
            self.show(listing, index)
            self.remembered.walked(self._links[listing.server], listing, index)

    def show(self, listing: ServerListing, index: ServerIndex) -> None:
        """Take what a configured server lists, and what of it is offered."""
        self.catalogue = self.catalogue.with_listing(listing)
        self.indexes = {**self.indexes, listing.server: index}
        self._observer.catalogue_changed(listing.server)
        if listing.listed and listing.server in self._replaced:
            self._replaced.discard(listing.server)
            for uri in self.contents.pinned(listing.server):
                self._observer.contents_changed(listing.server, uri)

    def _updated(self, server: str, uri: str | None) -> None:
        # A notice that names no resource says nothing that could be acted on.
        if uri is not None:
            self.live.updated(self._group(), server, uri)

    def opened(self, server: str, uri: str) -> None:
        """A document of this resource is open from now on."""
        self.live.opened(self._group(), server, uri)

    def closed(self, server: str, uri: str) -> None:
        """A document of this resource is closed."""
        self.live.closed(self._group(), server, uri)

    def read_open_again(self, servers: Iterable[str]) -> None:
        """A person wants to see what open documents of these servers hold now; nobody waits."""
        for server in servers:
            self.live.updated(self._group(), server, None)

    def _link_of(self, server: str) -> Link | None:
        return self._links.get(server)

    def _authorization(self, server: str) -> str:
        link = self._links.get(server)
        return link.authorization if link else ""

    def link(self, server: str) -> Link:
        """The link of a configured server. Raises Refused for any other name."""
        link = self._links.get(server)
        if link is None:
            raise failure.refused("unknownServer", self._unknown(server), server=server)
        return link

    def _unknown(self, server: str) -> str:
        known = ", ".join(f"“{name}”" for name in self._links) or "none"
        return f"No server “{server}” is configured. Configured: {known}."

    async def _each(self, servers: Iterable[str] | None, work: _Work) -> None:
        """Do this with these servers (all by default). Raises Refused, which a group of tasks would wrap."""
        links = list(self._links.values()) if servers is None else [self.link(name) for name in servers]
        async with anyio.create_task_group() as group:
            for link in links:
                group.start_soon(work, link)

    def want(self, servers: Iterable[str] | None = None) -> None:
        """Somebody types ``@`` or follows a mention: approved idle servers start, nobody waits."""
        for name in self._offered() if servers is None else servers:
            if (link := self._links.get(name)) is not None and not self.remembered.is_barren(link):
                link.want(explicit=False)

    def _offered(self) -> list[str]:
        return [name for name in self._links if not self.offering.hides(name)]

    async def ensure_listed(self, servers: Iterable[str] | None = None) -> None:
        """Start these servers (all by default) and wait until each is listed or has failed."""
        await self._each(servers, self._listed_or_failed)

    async def _listed_or_failed(self, link: Link) -> None:
        try:
            await link.listed()
        except (McpError, Refused) as error:
            link.log.write(str(error))

    async def list_again(self, servers: Iterable[str] | None = None) -> None:
        """Walk these servers' lists anew; a failure stands in the server's status."""
        await self._each(servers, self._list_again)

    async def _list_again(self, link: Link) -> None:
        try:
            await link.list_again()
        except (McpError, Refused) as error:
            link.log.write(str(error))

    async def read(self, server: str, uri: str, *, asked: bool = False, again: bool = False) -> ReadResult:
        """A result that is new, or as good as new by its server's word; the server is started if need be.

        ``asked``: a person caused this, and may be asked something. ``again``: only a new result will do.
        Raises Refused, whatever went wrong. A read that is not found lists the server again once and says
        whether the URI is still listed.
        """
        if asked:
            await self.inputs.give(server)
        approved = self.link(server).entry.approved
        fresh = self.contents.fresh(server, uri) if approved and not again else None
        if fresh is not None:
            return fresh
        try:
            result = await self.contents.read(self._group(), server, uri, asked=asked)
        except McpError as error:
            refused = await self._unread(error, server, uri)
            if again or (stale := self.contents.stale(error, server, uri)) is None:
                raise refused from error
            return stale
        self._now_readable(server, uri)
        self.live.read_made(self._group(), server, uri)
        return result

    async def _read_again(self, server: str, uri: str) -> None:
        await self.read(server, uri, again=True)

    def _unread_document(self, server: str) -> str | None:
        """Why an open document does not show what its resource is now."""
        shown = (self.unreadable.get((server, uri)) for uri in self.contents.pinned(server))
        return next((why for why in shown if why), None)

    async def _fetch(self, server: str, uri: str, asked: bool) -> ReadResult:
        listing = self.catalogue.listings.get(server)
        return await calls.read(self.link(server), listing, uri, asked=asked)

    async def complete(
        self, server: str, uri_template: str, argument: str, value: str, arguments: Mapping[str, str]
    ) -> Completion:
        """What the server proposes for one argument of a template. Raises Refused, or McpError."""
        return await calls.complete(self.link(server), uri_template, argument, value, arguments)

    def _now_readable(self, server: str, uri: str) -> None:
        if self.unreadable.pop((server, uri), None) is not None:
            self._observer.catalogue_changed(server)
            self._observer.status_changed(server)

    async def _unread(self, error: McpError, server: str, uri: str) -> Refused:
        told = failure.of_error(error, uri)
        if failure.needs_sign_in(error):
            await self.link(server).stop(State.NEEDS_SIGN_IN)
        self.link(server).log.write(told.message)
        if isinstance(error, ResourceNotFound):
            await self._list_again(self.link(server))
            listed = self.catalogue.resource(server, uri) is not None
            verdict = "The server still lists it." if listed else "The server does not list it."
            told = failure.Failure(told.kind, f"{told.message} {verdict}", server, uri, told.code)
        if not told.unasked or self.contents.shows(server, uri):
            self.unreadable[server, uri] = told.message
        self._observer.catalogue_changed(server)
        self._observer.status_changed(server)
        return Refused(told)

    def forget(self, server: str) -> None:
        """Nothing that was read or listed of this server is known any more."""
        self.contents.forget(server)
        self.unreadable = {key: why for key, why in self.unreadable.items() if key[0] != server}
        self.catalogue = self.catalogue.with_listing(ServerListing(server))
        self.indexes = {name: index for name, index in self.indexes.items() if name != server}
        self._observer.catalogue_changed(server)

    async def stop(self, servers: Iterable[str] | None = None) -> None:
        """Stop these servers (all by default)."""
        await self._each(servers, Link.stop)

    async def restart(self, servers: Iterable[str] | None = None) -> None:
        """Stop and start these servers (all by default), and wait for their listing."""
        names = list(self._links) if servers is None else list(servers)
        await self.stop(names)
        await self.ensure_listed(names)

    def incomplete(self, servers: Iterable[str] | None = None) -> bool:
        """Whether the first listing of one of these servers is still to come."""
        names = self._offered() if servers is None else servers
        links = [self._links[name] for name in names if name in self._links]
        links = [link for link in links if not self.remembered.is_barren(link)]
        return any(link.state not in SILENT and not self._is_listed(link.name) for link in links)

    def _is_listed(self, server: str) -> bool:
        listing = self.catalogue.listings.get(server)
        return listing is not None and listing.listed

    def states(self) -> dict[str, State]:
        """Each server's state, in the order of configuration."""
        return {name: link.state for name, link in self._links.items()}

    def states_shown(self) -> dict[str, str]:
        """The same in the words of contract 6."""
        return {name: link.state.value for name, link in self._links.items()}

    def preview(self, server: str, uri: str) -> str | None:
        """The text of a resource, if a read of it is at hand."""
        kept = self.contents.kept(server, uri)
        first = kept.items[0] if kept and kept.items else None
        return first.text if isinstance(first, TextItem) else None

    def status(self, servers: Iterable[str] | None = None) -> list[ServerStatus]:
        """What ``lectern.servers`` tells."""
        return [
            status_of(link, self.catalogue.listings.get(name), self._unread_document(name))
            for name, link in self._links.items()
            if servers is None or name in servers
        ]

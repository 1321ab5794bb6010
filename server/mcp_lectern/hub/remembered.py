"""What servers listed in earlier sessions, until they have spoken; must not start or ask any of them.

Read when a server is configured, written when it was walked, both in threads. A disk that does not let us
costs nothing but the memory.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from mcp_lectern import __version__
from mcp_lectern.catalogue import store
from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.config.model import Remote
from mcp_lectern.documents.files import purge as purge_files
from mcp_lectern.hub.catalogue_file import CatalogueFile, is_busy
from mcp_lectern.hub.credentials import has_own
from mcp_lectern.hub.entry import Entry
from mcp_lectern.hub.remembered_key import entry_key, listing_key
from mcp_lectern.hub.status import State
from mcp_lectern.hub.sweeping import AFTER, EVERY, Room, sweep, sweep_files

if TYPE_CHECKING:
    from mcp_lectern.hub.hub import Hub
    from mcp_lectern.hub.link import Link

T = TypeVar("T")

logger = logging.getLogger(__name__)

PACE = 10.0
"""Seconds between two times that listings are written: a server may change its list all day."""

LAST = 2.0
"""Seconds that the end of a session may take to write what is left."""

_UNHURRIED = 0.3
"""Seconds until the whole list is decoded; until then it can be searched, and no mention of it is known."""

_AGAIN = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Seconds until what another process kept us from is tried again, each time."""


def place() -> Path:
    """The folder in this user's cache."""
    from platformdirs import user_cache_path

    return user_cache_path("mcp-lectern", appauthor=False) / "catalogue"


def file_in(folder: Path) -> CatalogueFile:
    """The file of this version of Lectern in a folder."""
    return CatalogueFile(folder, f"{store.LAYOUT} {__version__}")


def _files_beside(folder: Path) -> Path:
    """Where binary content is kept as files."""
    return folder.with_name("materialized")


def forget(server: str) -> None:
    """Forget what any process remembers of servers of this name. Blocks on the disk; never fails."""
    try:
        purge_files(_files_beside(place()), server)
        file_in(place()).forget(server=server)
    except (OSError, sqlite3.Error) as error:
        logger.warning("the remembered catalogue cannot be purged: %s", error)


@dataclass(frozen=True, slots=True)
class _Walked:
    """A listing, as it was under one authorization."""

    entry: Entry
    identity: str
    listing: ServerListing
    index: ServerIndex


class Remembered:
    """Nothing is read or written before :meth:`keep_in` has named a folder."""

    def __init__(self, hub: Hub) -> None:
        self.room = Room()
        self._hub = hub
        self._who: Sequence[str] = ()
        self._settled = anyio.Event()
        self._file: CatalogueFile | None = None
        self._files: Path | None = None
        self._asked: dict[str, Link] = {}
        self._barren: dict[str, Link] = {}
        self._pending: dict[str, _Walked] = {}
        self._written: dict[str, _Walked] = {}
        self._news = anyio.Event()
        self._lock = anyio.Lock()

    async def keep_in(self, folder: Path, *, remember: bool, who: Sequence[str] = ()) -> None:
        """Remember in this folder from now on; or nothing, and forget what it holds.

        ``who`` tells this workspace from others, which use the folder as well.
        """
        self._who = tuple(who)
        file = file_in(folder)
        self._file = file if remember else None
        self._files = _files_beside(folder)
        if not remember:
            self._pending.clear()
            self._written.clear()
            await self._on_disk(file.remove, None)

    async def run(self) -> None:
        """Write what was walked, and remove what has had its time, until cancelled; then write the rest."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._keep_writing)
                tasks.start_soon(self._keep_sweeping)
        finally:
            # Many sessions are shorter than the pace: whoever writes a message to a commit and is gone.
            with anyio.CancelScope(shield=True, deadline=anyio.current_time() + LAST):
                await self._write_pending()

    async def _keep_writing(self) -> None:
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            await self._write_pending()
            await anyio.sleep(PACE)

    async def _write_pending(self) -> None:
        while self._pending:
            server, walked = next(iter(self._pending.items()))
            await self._write(walked)
            # Not before: who is cancelled on the way has it still to write.
            if self._pending.get(server) is walked:
                del self._pending[server]

    async def _keep_sweeping(self) -> None:
        await self._settled.wait()
        while True:
            self._settled = anyio.Event()
            await anyio.sleep(AFTER)
            for seconds in (*_AGAIN, 0.0):
                if await self.sweep():
                    break
                await anyio.sleep(seconds)
            with anyio.move_on_after(EVERY):
                await self._settled.wait()

    async def sweep(self) -> bool:
        """Remove what has had its time, and what is configured no more; False to try again."""
        if self._files is None:
            return True
        await self._on_disk(partial(sweep_files, self._files, self.room), None)
        if self._file is None:
            return True
        entries = [self._hub.link(name).entry for name in self._hub.states()]
        work = partial(sweep, self._file, self._who, entries, self._files)
        return await self._on_disk(work, otherwise=True)

    def walked(self, link: Link, listing: ServerListing, index: ServerIndex) -> None:
        """A walk has ended. One that was cut short is no reason to forget a better one."""
        if self._file is None or listing.partial is not None:
            return
        self._note(link, barren=not listing.resources and not listing.templates)
        self._pending[link.name] = _Walked(link.entry, link.authorization, listing, index)
        self._news.set()

    async def restore(self) -> None:
        """Show what is remembered of the servers that have not been looked for yet."""
        self._settled.set()
        file, links = self._file, [self._hub.link(name) for name in self._hub.catalogue.servers]
        links = [link for link in links if link.entry.can_start]
        new = [link for link in links if self._asked.get(link.name) is not link]
        self._asked = {link.name: link for link in links}
        if file is None or not new:
            return
        if not await self._recall(file, new):
            self._hub.begin(self._unharmed, self._recall_later(file, new))

    async def _recall_later(self, file: CatalogueFile, links: list[Link]) -> None:
        """Whoever types ``@`` waits for no other process; what it locked is shown when it gives it back."""
        for seconds in _AGAIN:
            await anyio.sleep(seconds)
            if file is not self._file or await self._recall(file, links):
                return

    async def _recall(self, file: CatalogueFile, links: list[Link]) -> bool:
        """Show what is remembered of these; False where another process locks the file."""
        entries = [link.entry for link in links]
        nothing: list[ServerIndex | bool] | None = []
        found = await self._on_disk(partial(_recalled_unless_busy, file, entries), nothing)
        if found is None:
            return False
        for link, recalled in zip(links, found, strict=False):
            if isinstance(recalled, ServerIndex):
                self._show(link, recalled)
            elif recalled:
                self._hub.begin(self._unharmed, self._recall_signed_in(link, file))
        return True

    def is_barren(self, link: Link) -> bool:
        """Whether it was found to have no resources: only who asks for it by a command starts it."""
        return link.state is State.IDLE and self._barren.get(link.name) is link

    async def purge(self, server: str) -> None:
        """Nothing that this server listed, or that was read of it, is to be found on the disk any more."""
        self._drop_pending(server)
        await self._purge_files(server)
        if self._file is not None:
            await self._on_disk(partial(self._file.forget, server=server), None)

    async def dropped(self, entry: Entry) -> None:
        """An entry is gone, or another one; so is what its server listed."""
        self._drop_pending(entry.spec.name)
        await self._purge_files(entry.spec.name)
        self._asked.pop(entry.spec.name, None)
        if self._file is not None and entry.can_start:
            await self._on_disk(partial(_forget_entry, self._file, entry), None)

    async def _purge_files(self, server: str) -> None:
        if self._files is not None:
            await self._on_disk(partial(purge_files, self._files, server), None)

    def _note(self, link: Link, *, barren: bool) -> None:
        self._barren.pop(link.name, None)
        if barren:
            self._barren[link.name] = link

    def _drop_pending(self, server: str) -> None:
        self._barren.pop(server, None)
        self._pending.pop(server, None)
        self._written.pop(server, None)

    async def _on_disk(self, work: Callable[[], T], otherwise: T) -> T:
        """Do this in a thread, one after the other."""
        async with self._lock:
            try:
                return await anyio.to_thread.run_sync(work)
            except Exception as error:  # noqa: BLE001 - a broken file must cost the memory, not the hub
                logger.warning("the remembered catalogue cannot be used: %s", error)
                return otherwise

    async def _unharmed(self, work: Awaitable[None]) -> None:
        """Do this, whatever becomes of it: the hub lives on."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - as above
            logger.warning("what is remembered of a server cannot be shown: %s", error)

    async def _write(self, walked: _Walked) -> None:
        file, server = self._file, walked.listing.server
        if file is not None:
            before = self._written.get(server)
            if await self._on_disk(partial(_write, file, walked, before), otherwise=False):
                self._written[server] = walked

    def _show(self, link: Link, index: ServerIndex) -> None:
        """Offer what was listed; the rest of it is decoded where nobody waits."""
        hub = self._hub
        if not self._awaited(link):
            return
        barren = not index.resources.entries and not index.templates.entries
        self._note(link, barren=barren)
        if barren:
            return
        if link.name not in hub.offering.filters:
            hub.indexes = {**hub.indexes, link.name: index}
        hub.begin(self._unharmed, self._show_all(link, index))

    async def _show_all(self, link: Link, packed: ServerIndex) -> None:
        # Half a second of work for a long list: whoever types just now is answered first.
        await anyio.sleep(_UNHURRIED)
        index = await self._on_disk(partial(store.complete, packed), None)
        if index is None or not self._awaited(link):
            return
        offered = index
        if link.name in self._hub.offering.filters:
            offered = await self._hub.offering.index(index.listing)
        if self._awaited(link):
            self._hub.show(index.listing, offered)

    def _awaited(self, link: Link) -> bool:
        """Whether the server is the same, and has not spoken yet."""
        hub = self._hub
        listing = hub.catalogue.listings.get(link.name)
        return self._asked.get(link.name) is link and listing is not None and not listing.listed

    async def _recall_signed_in(self, link: Link, file: CatalogueFile) -> None:
        """Look who is signed in, where somebody was when the server was listed."""
        ready = link.entry.launch()
        if not isinstance(ready, Remote):
            return
        await link.credentials.signer(ready)
        identity = link.credentials.identity
        index = await self._on_disk(partial(_recalled_as, file, link.entry, identity), None)
        if index is not None:
            self._show(link, index)


def _recalled_unless_busy(file: CatalogueFile, entries: list[Entry]) -> list[ServerIndex | bool] | None:
    try:
        return _recalled(file, entries)
    except sqlite3.Error as error:
        if is_busy(error):
            return None
        raise


def _recalled(file: CatalogueFile, entries: list[Entry]) -> list[ServerIndex | bool]:
    """For each what is remembered of it; True where it depends on who is signed in, else False."""
    secret, found = file.key(), list[ServerIndex | bool]()
    for entry in entries:
        keys = file.keys(entry_key(secret, entry))
        nobody = listing_key(secret, entry_key(secret, entry), "")
        signs_in = isinstance(entry.launched, Remote) and not has_own(entry.launched)
        if keys == [nobody] or (keys and not signs_in):
            found.append(_recalled_as(file, entry, "") or False)
        else:
            found.append(bool(keys))
    return found


def _recalled_as(file: CatalogueFile, entry: Entry, identity: str) -> ServerIndex | None:
    secret = file.key()
    parts = file.load(listing_key(secret, entry_key(secret, entry), identity))
    return store.unpack(entry.spec.name, parts) if parts else None


def _write(file: CatalogueFile, walked: _Walked, before: _Walked | None) -> bool:
    if before is not None and _same(before, walked):
        return True
    listing, index, secret = walked.listing, walked.index, file.key()
    # With filters the index holds only what is offered.
    parts = store.pack(index if index.listing is listing else ServerIndex.of(listing))
    entry = entry_key(secret, walked.entry)
    file.store(listing_key(secret, entry, walked.identity), entry, listing.server, parts)
    return True


def _same(one: _Walked, other: _Walked) -> bool:
    return (
        one.identity == other.identity
        and one.entry == other.entry
        and one.listing.resources == other.listing.resources
        and one.listing.templates == other.listing.templates
    )


def _forget_entry(file: CatalogueFile, entry: Entry) -> None:
    file.forget(entry=entry_key(file.key(), entry))

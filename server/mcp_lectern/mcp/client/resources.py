"""The typed resource calls of one connection; must not know transports or eras."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic

import anyio
import anyio.lowlevel
import anyio.to_thread

from mcp_lectern.mcp.errors import EraChanged, McpError, ServerError
from mcp_lectern.mcp.session import Patience, Session
from mcp_lectern.mcp.wire import contents, pages
from mcp_lectern.mcp.wire.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND
from mcp_lectern.mcp.wire.packed import Packer
from mcp_lectern.mcp.wire.pages import Entry, Page
from mcp_lectern.mcp.wire.resources import Listing, ReadResult, Resource, ResourceTemplate

from .input_required import Rounds
from .paging import Walk, WalkLimits
from .results import READ, as_not_found, complete

THREAD_CHARACTERS: Final = 256 * 1024

Json = Any


@dataclass(frozen=True, slots=True)
class _Kind(Generic[Entry]):
    """What differs between the two lists."""

    method: str
    key: str
    entry: type[Entry]


_RESOURCES = _Kind("resources/list", "resources", Resource)
_TEMPLATES = _Kind("resources/templates/list", "resourceTemplates", ResourceTemplate)


@dataclass(slots=True)
class ResourceClient:
    """``offered``: whether the server declares resources; if not, it is asked for none.

    A list that the server does not know is not asked for again. One that it has answered with before exists,
    so that there the same refusal is a failure.
    """

    session: Session
    patience: Patience
    limits: WalkLimits
    rounds: Rounds
    offered: bool
    _missing: set[str] = field(default_factory=set)
    _answered: set[str] = field(default_factory=set)

    async def list_resources(self) -> Listing[Resource]:
        """Every page of ``resources/list``. Raises McpError where not even the first page can be had."""
        return await self._list(_RESOURCES, pages.resource_page)

    async def list_templates(self) -> Listing[ResourceTemplate]:
        """Every page of ``resources/templates/list``, likewise."""
        return await self._list(_TEMPLATES, pages.template_page)

    async def read(self, uri: str, *, asked: bool = False) -> ReadResult:
        """``resources/read`` with every item. Raises McpError, ResourceNotFound among them.

        ``asked``: a person caused this read, and may be asked something for it.
        """
        request = self.session.asked(READ, uri)
        try:
            result, reading = await self.rounds.read(uri, asked=asked)
        except ServerError as error:
            raise as_not_found(error, request) from error
        if contents.size_of(result) > THREAD_CHARACTERS:
            read = await anyio.to_thread.run_sync(contents.read_result, result, abandon_on_cancel=True)
        else:
            read = contents.read_result(result)
        if read is None:
            raise request.invalid("no list of contents")
        return replace(read, answered=True, unasked=reading.unseen) if reading.answered else read

    async def _list(
        self, kind: _Kind[Entry], parse: Callable[[dict[str, Json]], Page[Entry] | None]
    ) -> Listing[Entry]:
        if not self.offered or kind.method in self._missing:
            return Listing(())
        walk, cursor_expired = await self._walk(kind, parse)
        if cursor_expired:
            walk, _ = await self._walk(kind, parse)
        return walk.listing()

    async def _walk(
        self, kind: _Kind[Entry], parse: Callable[[dict[str, Json]], Page[Entry] | None]
    ) -> tuple[Walk[Entry], bool]:
        """One walk from the top, and whether it ended at a cursor that the server no longer knows."""
        walk: Walk[Entry] = Walk(self.limits, Packer(kind.entry))
        started, cursor, first = anyio.current_time(), None, True
        while first or cursor is not None:
            try:
                page = await self._page(kind, parse, {} if first else {"cursor": cursor})
            except EraChanged:
                raise
            except McpError as error:
                if first:
                    if error.code != METHOD_NOT_FOUND or kind.method in self._answered:
                        raise
                    self._missing.add(kind.method)
                    return walk, False
                walk.partial = f"The list was cut short after {walk.pages} pages: {error.message}"
                return walk, error.code == INVALID_PARAMS
            first = False
            self._answered.add(kind.method)
            for _ in walk.take(page):
                await anyio.lowlevel.checkpoint()
            cursor = walk.next_cursor(page, anyio.current_time() - started)
        return walk, False

    async def _page(
        self,
        kind: _Kind[Entry],
        parse: Callable[[dict[str, Json]], Page[Entry] | None],
        params: dict[str, Json],
    ) -> Page[Entry]:
        asked = self.session.asked(kind.method)
        page = parse(complete(await self.session.request(asked, params, self.patience), asked))
        if page is None:
            raise asked.invalid(f"no list of {kind.key}")
        return page

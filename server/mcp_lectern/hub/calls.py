"""Calls of one server, made once more where it has become another one meanwhile; must not know who calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.hub.spelling import read_in_either_spelling
from mcp_lectern.mcp.errors import EraChanged
from mcp_lectern.mcp.wire.resources import ReadResult

if TYPE_CHECKING:
    from mcp_lectern.hub.link import Link
    from mcp_lectern.mcp.connect import Connection
    from mcp_lectern.mcp.wire.completion import Completion

Result = TypeVar("Result")


async def read(link: Link, listing: ServerListing | None, uri: str, *, asked: bool) -> ReadResult:
    """What a read returns; ``asked``: a person caused it. Raises McpError, or Refused."""

    async def call(connection: Connection) -> ReadResult:
        return await read_in_either_spelling(partial(connection.read, asked=asked), listing, uri)

    return await _called(link, call)


async def complete(
    link: Link, uri_template: str, argument: str, value: str, arguments: Mapping[str, str]
) -> Completion:
    """What the server proposes for one argument of a template. Raises McpError, or Refused."""
    return await _called(
        link, lambda connection: connection.complete(uri_template, argument, value, arguments)
    )


async def _called(link: Link, call: Callable[[Connection], Awaitable[Result]]) -> Result:
    try:
        return await call(await link.ready())
    except EraChanged:
        return await call(await link.ready())

"""A text expanded: find what it mentions, list, read, write down; must not know an editor or a terminal."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_lectern.features.expand import Format, Outcome, Unread, Wanted, framed, outcomes, plan
from mcp_lectern.hub.failure import Failure
from mcp_lectern.hub.gathering import read_each
from mcp_lectern.lsp.session import listed_in
from mcp_lectern.lsp.unhurried import collected
from mcp_lectern.mcp.wire.resources import ReadResult
from mcp_lectern.mentions.incremental import MentionIndex

if TYPE_CHECKING:
    from mcp_lectern.catalogue.model import Catalogue
    from mcp_lectern.features.expand.model import Status
    from mcp_lectern.features.expand.outcome import Reads
    from mcp_lectern.hub.hub import Hub
    from mcp_lectern.mentions.model import Mention

_NONCE_BYTES = 8


@dataclass(frozen=True, slots=True)
class Wish:
    """A text to expand. ``markdown``: its code holds no mentions. ``max_bytes`` is for all content."""

    text: str
    markdown: bool
    style: Format = "xml"
    max_bytes: int | None = None
    unlisted: bool = False


@dataclass(frozen=True, slots=True)
class Expansion:
    """The text with its resources, and what became of each."""

    text: str
    resources: Sequence[Outcome]


async def expanded(hub: Hub, wish: Wish) -> Expansion:
    """Start and list the servers that the text names, read what it mentions, and write it down."""
    index = MentionIndex(wish.text)
    named = [mention.server for mention in await _mentions(hub, index, wish.markdown)]
    # Which server an unqualified one means, and whether it is alone with it, only all can tell.
    await hub.inputs.give_each(dict.fromkeys(name for name in named if name))
    await hub.ensure_listed(None if None in named else dict.fromkeys(name for name in named if name))
    mentions = await _mentions(hub, index, wish.markdown)
    wanted = [_explained(hub, one) for one in plan(hub.catalogue, mentions, unlisted=wish.unlisted)]
    keys = [(one.server, one.uri) for one in wanted if one.server is not None and one.status is None]
    reads = {key: _read(result) for key, result in (await read_each(hub, keys)).items()}
    # There may be much to write down, and others wait for the event loop.
    return await asyncio.to_thread(_written, wish, wanted, reads, hub.catalogue)


def _written(wish: Wish, wanted: Sequence[Wanted], reads: Reads, catalogue: Catalogue) -> Expansion:
    found = outcomes(wanted, reads, catalogue, wish.max_bytes)
    text = framed(wish.text, found, wish.style, lambda: secrets.token_hex(_NONCE_BYTES))
    return Expansion(text, found)


async def _mentions(hub: Hub, index: MentionIndex, markdown: bool) -> list[Mention]:
    catalogue = hub.catalogue
    index.read_as(catalogue.listings, listed_in(catalogue), catalogue, markdown=markdown)
    await collected(index.steps(), lambda: True)
    return index.mentions()


def _explained(hub: Hub, wanted: Wanted) -> Wanted:
    """With the reason of its server, where that could not be listed."""
    if wanted.status != "failed" or wanted.server is None:
        return wanted
    link = hub.link(wanted.server)
    why = link.last_error if link.entry.can_start else str(link.entry.refused())
    return Wanted(wanted.server, wanted.uri, "failed", why or wanted.reason)


def _read(result: ReadResult | Failure) -> ReadResult | Unread:
    if isinstance(result, ReadResult):
        return result
    status: Status = "failed"
    if result.kind in ("notFound", "tooLarge"):
        status = "notFound" if result.kind == "notFound" else "tooLarge"
    return Unread(status, result.message)

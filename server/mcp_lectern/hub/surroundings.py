"""What every link needs from the hub; it must not know which server a link is for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_lectern.catalogue.model import ServerListing

if TYPE_CHECKING:
    from mcp_lectern.mcp.auth.tokens import TokenStorage
    from mcp_lectern.mcp.connect import Answers, Limits, Root, Timing


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every link needs from the hub: where listings go, who is told, and the limits.

    ``listing`` is what is known of a server's lists now.
    """

    publish: Callable[[ServerListing], Awaitable[None]]
    listing: Callable[[str], ServerListing]
    changed: Callable[[str], None]
    updated: Callable[[str, str | None], None]
    roots: Callable[[], Sequence[Root]]
    timing: Timing
    limits: Limits
    version: str
    tokens: Callable[[], TokenStorage]
    answers: Answers | None = None

"""What a session asks of an era: how requests look and what the peer may ask; must not know connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from mcp_lectern.mcp.wire.lifecycle import Capabilities, Root

Json = Any
Roots = Callable[[], Sequence[Root]]


class Era(Protocol):
    """One of the two ways of the protocol, at one version; chosen once per connection."""

    @property
    def name(self) -> Literal["handshake", "stateless"]:
        """For people and logs only."""

    @property
    def version(self) -> str:
        """The negotiated revision."""

    @property
    def batches(self) -> bool:
        """Whether an array of messages is to be processed."""

    def params(self, params: Mapping[str, Json], progress_token: int | None) -> dict[str, Json]:
        """The parameters of a request, with this era's ``_meta``."""

    def answer(self, method: str, /) -> dict[str, Json] | None:
        """The ``result`` or ``error`` member that answers the server's request; None: nothing is written."""

    def change_stream(self, capabilities: Capabilities, /) -> dict[str, Json] | None:
        """The parameters of the ``subscriptions/listen`` that brings list changes, where one is needed."""

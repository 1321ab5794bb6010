"""What a session asks of an era: how requests look and what the peer may ask; must not know connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from mcp_lectern.mcp.wire.lifecycle import Root

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

    @property
    def listens(self) -> bool:
        """Whether notices come on ``subscriptions/listen`` streams, and not by themselves."""

    def listen_params(self, *, list_changes: bool, uris: Sequence[str]) -> dict[str, Json] | None:
        """The parameters of a ``subscriptions/listen`` for these notices; None where none is to be opened."""

"""The stateless era, 2026-07-28: every request carries all that is to be known; must not do I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mcp_lectern.mcp.wire.lifecycle import META, client_info

Json = Any


@dataclass(frozen=True, slots=True)
class Stateless:
    """An ``Era``. ``offers`` are the client's capabilities, which it declares on every request."""

    version: str
    client_version: str
    offers: Mapping[str, Json] = field(default_factory=dict)

    @property
    def name(self) -> Literal["handshake", "stateless"]:
        """For people and logs only."""
        return "stateless"

    @property
    def batches(self) -> bool:
        """There are no batches in this era."""
        return False

    def params(self, params: Mapping[str, Json], progress_token: int | None) -> dict[str, Json]:
        """Parameters with the required ``_meta`` fields (specification 2026-07-28, basic, ``_meta``)."""
        meta: dict[str, Json] = {
            META + "protocolVersion": self.version,
            META + "clientInfo": client_info(self.client_version),
            META + "clientCapabilities": dict(self.offers),
        }
        if progress_token is not None:
            meta["progressToken"] = progress_token
        return {**params, "_meta": meta}

    def answer(self, _method: str, /) -> dict[str, Json] | None:
        """None: clients of this era write no responses (basic/transports/stdio)."""
        return None

    @property
    def listens(self) -> bool:
        """All notices come on ``subscriptions/listen`` streams."""
        return True

    def listen_params(self, *, list_changes: bool, uris: Sequence[str]) -> dict[str, Json] | None:
        """A filter that holds what is wanted and nothing else (basic/patterns/subscriptions)."""
        wanted: dict[str, Json] = {}
        if list_changes:
            wanted["resourcesListChanged"] = True
        if uris:
            wanted["resourceSubscriptions"] = list(uris)
        return {"notifications": wanted} if wanted else None

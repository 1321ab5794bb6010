"""The stateless era, 2026-07-28: every request carries all that is to be known; must not do I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mcp_lectern.mcp.wire.lifecycle import META, Capabilities, client_info

Json = Any


@dataclass(frozen=True, slots=True)
class Stateless:
    """An ``Era``. The client declares no capabilities so far, and says so on every request."""

    version: str
    client_version: str

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
            META + "clientCapabilities": {},
        }
        if progress_token is not None:
            meta["progressToken"] = progress_token
        return {**params, "_meta": meta}

    def answer(self, _method: str, /) -> dict[str, Json] | None:
        """None: clients of this era write no responses (basic/transports/stdio)."""
        return None

    def change_stream(self, capabilities: Capabilities, /) -> dict[str, Json] | None:
        """A listen for list changes where the server declares them (basic/patterns/subscriptions)."""
        return {"notifications": {"resourcesListChanged": True}} if capabilities.list_changed else None

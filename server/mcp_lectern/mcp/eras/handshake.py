"""The handshake era, up to 2025-11-25: state is agreed on once, and the server may ask; must not do I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mcp_lectern.mcp.wire.jsonrpc import METHOD_NOT_FOUND

from .era import Roots

Json = Any


@dataclass(frozen=True, slots=True)
class Handshake:
    """An ``Era``. ``roots`` is None where the client offers none."""

    version: str
    roots: Roots | None = None

    @property
    def name(self) -> Literal["handshake", "stateless"]:
        """For people and logs only."""
        return "handshake"

    @property
    def batches(self) -> bool:
        """Only 2025-03-26 has batches, and receiving them is required there."""
        return self.version == "2025-03-26"

    def params(self, params: Mapping[str, Json], progress_token: int | None) -> dict[str, Json]:
        """Parameters with a progress token (basic/utilities/progress)."""
        if progress_token is None:
            return dict(params)
        return {**params, "_meta": {"progressToken": progress_token}}

    def answer(self, method: str, /) -> dict[str, Json] | None:
        """``ping`` and, where roots are offered, ``roots/list``; everything else is refused."""
        if method == "ping":
            return {"result": {}}
        if method == "roots/list" and self.roots is not None:
            return {"result": {"roots": [{"uri": root.uri, "name": root.name} for root in self.roots()]}}
        return {"error": {"code": METHOD_NOT_FOUND, "message": f"Method not found: {method[:100]}"}}

    @property
    def listens(self) -> bool:
        """Change notices come by themselves, and updates after ``resources/subscribe``."""
        return False

    def listen_params(self, *, list_changes: bool, uris: Sequence[str]) -> dict[str, Json] | None:  # noqa: ARG002 - an Era
        """None: this era has no such stream."""
        return None

"""What ``lectern.servers`` tells of a server, as plain data; must not know how a server is reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum


class State(Enum):
    """The states of contract 6."""

    IDLE = "idle"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    BACKING_OFF = "backingOff"
    STOPPED = "stopped"
    NOT_TRUSTED = "notTrusted"
    NEEDS_SIGN_IN = "needsSignIn"


SILENT = frozenset({State.FAILED, State.BACKING_OFF, State.STOPPED, State.NOT_TRUSTED, State.NEEDS_SIGN_IN})
"""States from which no listing is to be expected soon: they never make an answer incomplete."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """One server as it stands. ``listing_seconds`` and ``start_seconds`` are None until measured."""

    name: str
    origin: str
    transport: str
    state: State
    approved: bool
    fingerprint: str
    shows: Mapping[str, object]
    resources: int
    templates: int
    listed: bool
    partial: str | None = None
    era: str | None = None
    protocol_version: str | None = None
    server_info: Mapping[str, str] | None = None
    last_error: str | None = None
    pid: int | None = None
    start_seconds: float | None = None
    listing_seconds: float | None = None
    changed: tuple[str, ...] = field(default=())
    subscriptions: int = 0

    def to_json(self) -> dict[str, object]:
        """The shape of contract 6; absent values are left out."""
        answer: dict[str, object] = {
            "name": self.name,
            "origin": self.origin,
            "transport": self.transport,
            "state": self.state.value,
            "trust": {"approved": self.approved, "fingerprint": self.fingerprint, "shows": dict(self.shows)},
            "era": self.era,
            "protocolVersion": self.protocol_version,
            "serverInfo": dict(self.server_info) if self.server_info else None,
            "resources": self.resources,
            "templates": self.templates,
            "subscriptions": self.subscriptions,
            "lastError": self.last_error,
            "pid": self.pid,
        }
        return {key: value for key, value in answer.items() if value is not None}


def troubles(statuses: Iterable[ServerStatus]) -> dict[str, str]:
    """A sentence for each server that cannot be used, or that does not list all that it has, by name."""
    said = {one.name: one.partial if one.state is State.READY else one.last_error for one in statuses}
    return {name: why for name, why in said.items() if why}

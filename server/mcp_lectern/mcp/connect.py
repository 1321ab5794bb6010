"""The way in: a context manager that starts a server, opens a session, and ends both; knows all floors below.

async with connect(parameters, server="docs", observer=observer, version="0.1.0") as connection:
    listing = await connection.list_resources()
    result = await connection.read(listing.entries[0].uri)
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Literal

import anyio
from anyio.abc import TaskGroup

from .client.changes import Changes, Observer
from .client.opening import Opened, Opening, Preference
from .client.paging import WalkLimits
from .client.resources import ResourceClient
from .eras.era import Roots
from .eras.handshake import Handshake
from .eras.versions import HANDSHAKE_VERSIONS
from .errors import ConnectionLost, RequestTimeout, StartFailed
from .session import Patience, Session
from .transport.stdio import StdioParameters, start_process
from .wire.failures import last_words
from .wire.lifecycle import Capabilities, Root, ServerInfo
from .wire.resources import Listing, ReadResult, Resource, ResourceTemplate

__all__ = [
    "Capabilities",
    "Connection",
    "Limits",
    "Observer",
    "Root",
    "ServerInfo",
    "StdioParameters",
    "Timing",
    "connect",
]


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds: to be ready, without progress, in all, and until the probe is followed by ``initialize``."""

    start: float = 60
    request: float = 30
    total: float = 300
    probe: float = 3


@dataclass(frozen=True, slots=True)
class Limits:
    """``read_bytes``: one message; ``pages``, ``entries`` and ``walk`` (seconds): one listing."""

    read_bytes: int = 64 * 1024 * 1024
    pages: int = 10_000
    entries: int = 500_000
    walk: float = 120


class Connection:
    """One open connection. Its calls may run at the same time, and each may be cancelled by itself."""

    def __init__(self, session: Session, resources: ResourceClient, opened: Opened, pid: int | None) -> None:
        self.era: Literal["handshake", "stateless"] = opened.era.name
        self.protocol_version: str = opened.era.version
        self.server_info: ServerInfo | None = opened.server_info
        self.capabilities: Capabilities = opened.capabilities
        self.pid = pid
        self._session = session
        self._resources = resources

    async def list_resources(self) -> Listing[Resource]:
        """Every page; nothing, if the server has no resources. Raises McpError."""
        return await self._resources.list_resources()

    async def list_templates(self) -> Listing[ResourceTemplate]:
        """Every page; nothing, if the server has no templates. Raises McpError."""
        return await self._resources.list_templates()

    async def read(self, uri: str) -> ReadResult:
        """All items of one resource. Raises McpError, ResourceNotFound among them."""
        return await self._resources.read(uri)

    @property
    def closed(self) -> bool:
        """Whether the server is gone: every call would fail."""
        return self._session.ended

    async def wait_closed(self) -> ConnectionLost:
        """Wait until the server is gone, and return why; calls fail by themselves then."""
        await self._session.wait_ended()
        return self._session.lost()


@dataclass(frozen=True, slots=True)
class _Plan:
    parameters: StdioParameters
    server: str
    observer: Observer
    timing: Timing
    limits: Limits
    roots: Roots | None
    version: str

    def log(self, line: str) -> None:
        self.observer.log(f"[lectern] {line}")


@asynccontextmanager
async def connect(
    parameters: StdioParameters,
    *,
    server: str,
    observer: Observer,
    timing: Timing | None = None,
    limits: Limits | None = None,
    protocol: Preference = "auto",
    roots: Roots | None = None,
    version: str,
) -> AsyncIterator[Connection]:
    """Start the server and agree with it; leaving ends its whole process tree, within about 2.5 s.

    ``server`` is its configured name, for messages; ``version`` is this client's. Raises StartFailed,
    VersionMismatch, RequestTimeout (not ready within ``timing.start``) or ServerError. A server that dies of
    the probe is started once more, with ``initialize`` alone.
    """
    plan = _Plan(parameters, server, observer, timing or Timing(), limits or Limits(), roots, version)
    async with AsyncExitStack() as stack:
        try:
            connection = await stack.enter_async_context(_connected(plan, protocol))
        except _DiedUnansweredError as death:
            if protocol != "auto":
                raise death.error from None
            plan.log(
                "the server ended without an answer to server/discover; starting it again with initialize"
            )
            try:
                connection = await stack.enter_async_context(_connected(plan, "legacy"))
            except _DiedUnansweredError as again:
                raise again.error from None
        yield connection


class _DiedUnansweredError(Exception):
    """The server ended before it answered anything."""

    def __init__(self, error: StartFailed) -> None:
        super().__init__(str(error))
        self.error = error


@asynccontextmanager
async def _connected(plan: _Plan, protocol: Preference) -> AsyncIterator[Connection]:
    changes = Changes(plan.observer, plan.log)
    limit = plan.limits.read_bytes
    process = start_process(plan.parameters, server=plan.server, log=plan.observer.log, limit=limit)
    async with process as duplex, _task_group() as tasks:
        plan.log(f"started process {duplex.pid}")
        session = Session(
            duplex,
            Handshake(HANDSHAKE_VERSIONS[0], plan.roots),
            server=plan.server,
            limit=limit,
            log=plan.log,
            on_notification=changes.heard,
        )
        tasks.start_soon(session.run)
        try:
            opened = await _opened(plan, session, protocol)
            plan.log(f"speaks {opened.era.version} ({opened.era.name} era)")
            session.era = opened.era
            if opened.era.name == "handshake":
                duplex.agreed(opened.era.version)
                session.notify("notifications/initialized")
            changes.listen(session, opened.capabilities)
            tasks.start_soon(changes.follow, session, opened.capabilities)
            yield Connection(session, _resource_client(plan, session, opened), opened, duplex.pid)
        finally:
            session.close()


async def _opened(plan: _Plan, session: Session, protocol: Preference) -> Opened:
    opening = Opening(session, plan.version, plan.roots, plan.timing.probe, plan.log)
    try:
        with anyio.move_on_after(plan.timing.start):
            return await opening.open(protocol)
    except ConnectionLost as lost:
        error = _start_failed(plan.server, lost)
        if session.answered:
            raise error from lost
        raise _DiedUnansweredError(error) from lost
    raise RequestTimeout(
        f'Server "{plan.server}" was not ready within {plan.timing.start:g} s; look into its log, '
        "or raise timeouts.start if it is slow to start.",
        server=plan.server,
    )


def _start_failed(server: str, lost: ConnectionLost) -> StartFailed:
    how = "closed its output" if lost.exit_code is None else f"ended with exit code {lost.exit_code}"
    tail = lost.stderr_tail
    words = f"; its last words: {last_words(tail)}" if tail else " and wrote nothing on stderr"
    return StartFailed(
        f'Server "{server}" {how} while starting{words}',
        server=server,
        exit_code=lost.exit_code,
        stderr_tail=tail,
    )


def _resource_client(plan: _Plan, session: Session, opened: Opened) -> ResourceClient:
    limits = WalkLimits(plan.limits.pages, plan.limits.entries, plan.limits.walk)
    patience = Patience(plan.timing.request, plan.timing.total)
    return ResourceClient(session, patience, limits, opened.capabilities.resources)


@asynccontextmanager
async def _task_group() -> AsyncIterator[TaskGroup]:
    """A task group whose tasks end with it, and that raises a single error as itself."""
    try:
        async with anyio.create_task_group() as tasks:
            yield tasks
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        error = group.exceptions[0]
        if len(group.exceptions) > 1:
            raise
        raise error from error.__cause__

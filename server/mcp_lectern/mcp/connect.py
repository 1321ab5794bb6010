"""The way in: a context manager that starts a server, opens a session, and ends both; knows all floors below.

async with connect(parameters, server="docs", observer=observer, version="0.1.0") as connection:
    listing = await connection.list_resources()
    result = await connection.read(listing.entries[0].uri)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import anyio

from .client.asking import Answers, Asking
from .client.bounds import Limits, Timing
from .client.changes import Changes
from .client.completion import Completer
from .client.era_watch import WatchedSession
from .client.input_required import Rounds
from .client.listening import Listening
from .client.observer import Observer
from .client.opening import Opened, Opening, Preference
from .client.paging import WalkLimits
from .client.resources import ResourceClient
from .client.subscribing import Subscribing
from .client.subscriptions import Subscriptions
from .eras.era import Roots
from .eras.handshake import Handshake
from .eras.stateless import Stateless
from .eras.versions import HANDSHAKE_VERSIONS, STATELESS_VERSIONS
from .errors import ConnectionLost, McpError, NotUnderstood, RequestTimeout, StartFailed
from .session import Patience
from .transport.duplex import Duplex
from .transport.remote import HttpParameters
from .transport.stdio import StdioParameters, start_process
from .transport.task_group import task_group
from .wire.completion import Completion
from .wire.elicitation import capability
from .wire.failures import last_words
from .wire.lifecycle import CLIENT_NAME, Capabilities, Root, ServerInfo
from .wire.resources import Listing, ReadResult, Resource, ResourceTemplate

__all__ = [
    "Answers",
    "Capabilities",
    "Connection",
    "HttpParameters",
    "Limits",
    "Observer",
    "Parameters",
    "Root",
    "ServerInfo",
    "StdioParameters",
    "Timing",
    "connect",
]

Parameters = StdioParameters | HttpParameters


class Connection:
    """One open connection. Its calls may run at the same time, and each may be cancelled by itself."""

    def __init__(
        self,
        session: WatchedSession,
        resources: ResourceClient,
        subscriptions: Subscriptions,
        completer: Completer,
        opened: Opened,
        *,
        pid: int | None,
        transport: Literal["stdio", "http", "sse"],
    ) -> None:
        self.era: Literal["handshake", "stateless"] = opened.era.name
        self.protocol_version: str = opened.era.version
        self.server_info: ServerInfo | None = opened.server_info
        self.capabilities: Capabilities = opened.capabilities
        self.pid = pid
        self.transport = transport
        self._session = session
        self._resources = resources
        self._subscriptions = subscriptions
        self._completer = completer

    async def list_resources(self) -> Listing[Resource]:
        """Every page; nothing, if the server has no resources. Raises McpError."""
        return await self._resources.list_resources()

    async def list_templates(self) -> Listing[ResourceTemplate]:
        """Every page; nothing, if the server has no templates. Raises McpError."""
        return await self._resources.list_templates()

    async def read(self, uri: str, *, asked: bool = False) -> ReadResult:
        """All items of one resource. Raises McpError, ResourceNotFound among them.

        ``asked``: a person caused this read. Only then may the server ask them something for it.
        """
        return await self._resources.read(uri, asked=asked)

    async def complete(
        self, uri_template: str, argument: str, value: str, arguments: Mapping[str, str]
    ) -> Completion:
        """Values for one argument of a template; ``value`` is what is typed of it, decoded.

        ``arguments`` are those chosen before. Nothing where the server offers nothing. Raises McpError.
        """
        return await self._completer.complete(uri_template, argument, value, arguments)

    def subscribe(self, uri: str, *, missed: bool = False) -> None:
        """From now on the observer is told of changes to this resource, where the server offers that.

        Counted: each call needs its ``unsubscribe``. Never waits; a refusal is quiet. ``missed``: it may have
        changed unheard before, so that it counts as changed once the server watches it.
        """
        self._subscriptions.subscribe(uri, missed=missed)

    def unsubscribe(self, uri: str) -> None:
        """One of those who wanted to be told of changes wants it no more."""
        self._subscriptions.unsubscribe(uri)

    @property
    def subscriptions(self) -> frozenset[str]:
        """The URIs that the server says it watches for us."""
        return self._subscriptions.granted

    @property
    def trouble(self) -> str | None:
        """Why no changes are heard although the server promised to tell of them, as a sentence."""
        return self._subscriptions.trouble

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
    parameters: Parameters
    server: str
    observer: Observer
    timing: Timing
    limits: Limits
    roots: Roots | None
    version: str
    answers: Answers | None

    def log(self, line: str) -> None:
        self.observer.log(f"[lectern] {line}")


@asynccontextmanager
async def connect(
    parameters: Parameters,
    *,
    server: str,
    observer: Observer,
    timing: Timing | None = None,
    limits: Limits | None = None,
    protocol: Preference = "auto",
    roots: Roots | None = None,
    answers: Answers | None = None,
    version: str,
    before_again: Callable[[], Awaitable[None]] | None = None,
) -> AsyncIterator[Connection]:
    """Start or reach the server and agree with it; leaving ends a process's whole tree, within about 2.5 s.

    ``server`` is its configured name, for messages; ``version`` is this client's. Raises StartFailed,
    VersionMismatch, RequestTimeout (not ready within ``timing.start``), ServerError or HttpFailure. A process
    that dies of the probe is started once more, with ``initialize`` alone, after ``before_again``, which may
    raise to forbid it; a remote server that takes no message at its address is tried over the older HTTP+SSE
    (2026-07-28, basic/transports/streamable-http).
    """
    plan = _Plan(
        parameters, server, observer, timing or Timing(), limits or Limits(), roots, version, answers
    )
    async with AsyncExitStack() as stack:
        try:
            connection = await stack.enter_async_context(_connected(plan, protocol))
        except _DiedUnansweredError as death:
            if protocol != "auto":
                raise death.error from None
            plan.log(
                "the server ended without an answer to server/discover; starting it again with initialize"
            )
            if before_again is not None:
                await before_again()
            try:
                connection = await stack.enter_async_context(_connected(plan, "legacy"))
            except _DiedUnansweredError as again:
                raise again.error from None
        except NotUnderstood as refused:
            older = _older(plan, refused)
            if older is None:
                raise
            plan.log("the server takes no messages at its address; trying the older HTTP+SSE")
            try:
                connection = await stack.enter_async_context(_connected(older, "legacy"))
            except McpError as error:
                plan.log(str(error))
                raise refused from error
        yield connection


def _older(plan: _Plan, refused: NotUnderstood) -> _Plan | None:
    """The same plan over the transport of 2024-11-05, where the refusal of ``initialize`` hints at it."""
    parameters = plan.parameters
    hints = refused.method == "initialize" and refused.status in (400, 404, 405)
    if not hints or not isinstance(parameters, HttpParameters) or parameters.kind != "http":
        return None
    return replace(plan, parameters=replace(parameters, kind="sse"))


class _DiedUnansweredError(Exception):
    """The server ended before it answered anything."""

    def __init__(self, error: StartFailed) -> None:
        super().__init__(str(error))
        self.error = error


@asynccontextmanager
async def _connected(plan: _Plan, protocol: Preference) -> AsyncIterator[Connection]:
    changes = Changes(plan.observer, plan.log)
    limit = plan.limits.read_bytes
    async with _transport(plan, limit) as duplex, task_group() as tasks:
        if duplex.pid is not None:
            plan.log(f"started process {duplex.pid}")
        session = WatchedSession(
            duplex,
            Handshake(HANDSHAKE_VERSIONS[0], plan.roots),
            server=plan.server,
            limit=limit,
            log=plan.log,
            on_notification=changes.heard,
            on_renewed=changes.renewed,
        )
        asking = Asking(session, plan.answers, tasks, plan.timing.total, plan.log)
        session.on_call = asking.takes
        changes.handlers.update(asking.handlers)
        tasks.start_soon(session.run)
        try:
            opened = await _opened(plan, session, protocol, asking)
            plan.log(f"speaks {opened.era.version} ({opened.era.name} era)")
            session.era = opened.era
            session.watch(
                Stateless(STATELESS_VERSIONS[0], plan.version, _offers(plan, asking)), plan.timing.probe
            )
            if opened.era.name == "handshake":
                duplex.agreed(opened.era.version)
                session.notify("notifications/initialized")
            subscriptions = _subscriptions(plan, session, opened, changes)
            subscriptions.start()
            tasks.start_soon(subscriptions.run)
            resources = _resource_client(plan, session, opened, asking)
            kind = "stdio" if isinstance(plan.parameters, StdioParameters) else plan.parameters.kind
            completer = Completer(session, resources.patience, opened.capabilities.completions)
            yield Connection(
                session, resources, subscriptions, completer, opened, pid=duplex.pid, transport=kind
            )
        finally:
            session.close()


def _transport(plan: _Plan, limit: int) -> AbstractAsyncContextManager[Duplex]:
    parameters = plan.parameters
    if isinstance(parameters, StdioParameters):
        return start_process(parameters, server=plan.server, log=plan.observer.log, limit=limit)
    agent = f"{CLIENT_NAME}/{plan.version}"
    if parameters.kind == "sse":
        from .transport.sse import open_sse

        return open_sse(parameters, server=plan.server, agent=agent, log=plan.log, limit=limit)
    from .transport.http import open_http

    return open_http(parameters, server=plan.server, agent=agent, log=plan.log, limit=limit)


async def _opened(plan: _Plan, session: WatchedSession, protocol: Preference, asking: Asking) -> Opened:
    offers = _offers(plan, asking)
    opening = Opening(session, plan.version, plan.roots, plan.timing.probe, plan.log, offers)
    try:
        with anyio.move_on_after(plan.timing.start):
            return await opening.open(protocol)
    except ConnectionLost as lost:
        if isinstance(plan.parameters, HttpParameters):
            raise
        error = _start_failed(plan.server, lost)
        if session.answered:
            raise error from lost
        raise _DiedUnansweredError(error) from lost
    raise RequestTimeout(
        f'Server "{plan.server}" was not ready within {plan.timing.start:g} s; look into its log, '
        "or raise timeouts.start if it is slow to start.",
        server=plan.server,
    )


def _offers(plan: _Plan, asking: Asking) -> dict[str, Any]:
    return {**capability(asking.modes), **_extensions(plan.parameters)}


def _extensions(parameters: Parameters) -> dict[str, dict[str, dict[str, str]]]:
    """What is declared of extensions (specification 2026-07-28, basic, capabilities)."""
    names = parameters.extensions if isinstance(parameters, HttpParameters) else ()
    return {"extensions": {name: {} for name in names}} if names else {}


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


def _resource_client(plan: _Plan, session: WatchedSession, opened: Opened, asking: Asking) -> ResourceClient:
    limits = WalkLimits(plan.limits.pages, plan.limits.entries, plan.limits.walk)
    patience = Patience(plan.timing.request, plan.timing.total)
    rounds = Rounds(session, patience, asking)
    return ResourceClient(session, patience, limits, rounds, opened.capabilities.resources)


def _subscriptions(plan: _Plan, session: WatchedSession, opened: Opened, changes: Changes) -> Subscriptions:
    kind = Listening if opened.era.listens else Subscribing
    patience = Patience(plan.timing.request, plan.timing.total)
    subscriptions = kind(session, opened.capabilities, patience, plan.observer, plan.log)
    changes.handlers.update(subscriptions.handlers)
    changes.on_renewed = subscriptions.renew
    return subscriptions

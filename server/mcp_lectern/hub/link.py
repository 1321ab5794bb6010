"""One configured server: waiting, starting, ready, failed, backing off; it must not know other servers.

A link lives as long as its entry stands in the configuration. Its one task starts the server when somebody
wants it, keeps the listing current while it runs, and starts it again, later each time, when it dies.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from mcp_lectern.config.mask import masker
from mcp_lectern.config.model import Remote
from mcp_lectern.hub import failure
from mcp_lectern.hub.backoff import Backoff
from mcp_lectern.hub.credentials import Credentials, extensions
from mcp_lectern.hub.ending import end_of
from mcp_lectern.hub.entry import Entry
from mcp_lectern.hub.failure import Refused
from mcp_lectern.hub.log import ServerLog
from mcp_lectern.hub.memory import Memory
from mcp_lectern.hub.refresh import Refresh
from mcp_lectern.hub.status import State
from mcp_lectern.hub.surroundings import Surroundings
from mcp_lectern.mcp.client.bounds import Timing
from mcp_lectern.mcp.errors import ConnectionLost, EraChanged, McpError, StartFailed
from mcp_lectern.mcp.transport.remote import HttpParameters

if TYPE_CHECKING:
    from mcp_lectern.mcp.connect import Connection, Parameters

_AT_WILL = (State.STOPPED, State.NEEDS_SIGN_IN)
"""States that only an explicit wish ends: nobody is asked to sign in because of a document's text."""
_NEVER_SEEN = object()


@dataclass(eq=False)
class Attempt:
    """One start of the server. ``settled`` is set when it is ready or has failed."""

    settled: anyio.Event = field(default_factory=anyio.Event)
    connection: Connection | None = None
    error: McpError | None = None
    refresh: Refresh | None = None


class Link:
    """The live side of one :class:`Entry`. All methods run on the event loop."""

    def __init__(self, entry: Entry, log: ServerLog, surroundings: Surroundings) -> None:
        self.entry = entry
        self.log = log
        self.state = entry.resting_state
        self.last_error: str | None = entry.refusal
        self.start_seconds: float | None = None
        self.attempt: Attempt | None = None
        self.authorization = ""
        self.credentials = Credentials(entry.spec.name, surroundings.tokens, log.write)
        log.mask = _also(self.credentials.hide, log.mask)
        self._watched: dict[str, None] = {}
        self._surroundings = surroundings
        self._backoff = Backoff()
        self._memory = Memory()
        self._wanted = anyio.Event()
        self._scope: anyio.CancelScope | None = None
        self._at_rest = anyio.Event()
        self._at_rest.set()
        self._decided = anyio.Event()
        if not entry.preparing:
            self._decided.set()
        self._patient_until = 0.0
        self._stamp: object = _NEVER_SEEN

    @property
    def name(self) -> str:
        """The configured name."""
        return self.entry.spec.name

    @property
    def connection(self) -> Connection | None:
        """The live connection, if the server is ready."""
        return self.attempt.connection if self.attempt and self.state is State.READY else None

    def want(self, *, explicit: bool) -> None:
        """Somebody needs the server. Only an explicit wish overrides a stop or a back-off."""
        if self.state is State.READY and self.attempt and self.attempt.refresh:
            self.attempt.refresh.looked_at()
        if not self.entry.can_start and not self.entry.preparing:
            self._wanted.set()
            return
        if self.state in (State.STARTING, State.READY):
            return
        if not explicit and (self.state in _AT_WILL or time.monotonic() < self._patient_until):
            return
        if self.attempt is None or self.attempt.settled.is_set():
            self.attempt = Attempt()
        self._wanted.set()

    async def decided(self) -> None:
        """Wait until it is known whether the entry can be started."""
        if not self._decided.is_set():
            await self._decided.wait()

    async def ready(self) -> Connection:
        """The connection of a running server, started if need be. Raises :class:`McpError` or Refused."""
        connection = self.connection
        if connection is not None and not connection.closed:
            return connection
        if connection is not None:
            await self._at_rest.wait()
        if not self.entry.approved:
            await self._look_again()
        if not self.entry.can_start and not self.entry.preparing:
            raise self.entry.refused()
        self.want(explicit=True)
        attempt = self.attempt
        if attempt is None:
            raise self.entry.refused()
        await attempt.settled.wait()
        if attempt.connection is None:
            if not self.entry.can_start and not self.entry.preparing:
                raise self.entry.refused()
            raise attempt.error or self._stopped()
        return attempt.connection

    async def first_listing(self) -> None:
        """Wait until a start that is under way has failed, or its first listing has ended. Starts nothing."""
        if (attempt := self.attempt) is None:
            return
        await attempt.settled.wait()
        if attempt.connection is not None and attempt.refresh is not None:
            await attempt.refresh.ended.wait()

    def watch(self, uri: str) -> None:
        """Be told of changes to this resource, by this process of the server and all later ones."""
        self._watched[uri] = None
        if (connection := self.connection) is not None:
            connection.subscribe(uri)

    def unwatch(self, uri: str) -> None:
        """Be told of them no longer."""
        self._watched.pop(uri, None)
        if (connection := self.connection) is not None:
            connection.unsubscribe(uri)

    def _watch_again(self, connection: Connection) -> None:
        """A new process knows of no subscription, and what changed before it started cannot be known."""
        for uri in self._watched:
            connection.subscribe(uri, missed=True)

    async def listed(self) -> None:
        """Start the server if need be and wait until its first walk has ended. Raises as :meth:`ready`."""
        await self.ready()
        if self.attempt and self.attempt.refresh:
            await self.attempt.refresh.ended.wait()

    async def list_again(self) -> None:
        """A new walk, published before this returns; the server is started if need be."""
        running = self.connection is not None
        await self.ready()
        refresh = self.attempt.refresh if self.attempt else None
        if refresh is None:
            return
        await (refresh.walk_again() if running else refresh.ended.wait())
        if isinstance(refresh.error, EraChanged):
            await self.listed()

    async def stop(self, state: State = State.STOPPED) -> None:
        """End the process tree and stay in this state until somebody explicitly wants the server again."""
        if self._scope is not None:
            self._scope.cancel()
        await self._at_rest.wait()
        self._decided.set()
        if self.entry.preparing and self.attempt is not None:
            self.attempt.settled.set()
        if self.entry.can_start:
            self._enter(state)

    async def run(self) -> None:
        """The link's task: serve when wanted, for ever."""
        while True:
            await self._wanted.wait()
            self._wanted = anyio.Event()
            if not self.entry.can_start:
                await self._look_for_an_approval()
                continue
            if self.attempt is None or self.attempt.settled.is_set():
                continue
            self._at_rest = anyio.Event()
            try:
                delay = await self._serve(self.attempt)
            finally:
                self._at_rest.set()
            if delay is None:
                continue
            with anyio.move_on_after(delay):
                await self._wanted.wait()
            if self.state is State.BACKING_OFF:
                self._patient_until = 0.0
                self.want(explicit=False)

    async def _serve(self, attempt: Attempt) -> float | None:
        """One life of the server. Returns the seconds after which it is started again by itself, or None."""
        began = time.monotonic()
        self._enter(State.STARTING)
        try:
            with anyio.CancelScope() as self._scope:
                return await self._live(attempt, began)
            return None
        finally:
            self._scope = None
            attempt.settled.set()

    async def _live(self, attempt: Attempt, began: float) -> float | None:
        try:
            await self._look_again()
            if not self.entry.can_start:
                return None
            lost = await self._session(attempt, began)
        except McpError as error:
            attempt.error = error
            return self._ended(error, 0.0)
        except Exception as error:  # noqa: BLE001 - a fault of ours must cost one server, not the hub
            if isinstance(error, Refused) and not self.entry.can_start:
                return None
            attempt.error = StartFailed(
                f"Lectern failed while talking to the server “{self.name}”: {error!r}.", server=self.name
            )
            return self._ended(attempt.error, 0.0)
        return self._ended(lost, time.monotonic() - began)

    async def _session(self, attempt: Attempt, began: float) -> ConnectionLost:
        surroundings = self._surroundings
        known = partial(surroundings.listing, self.name)
        attempt.refresh = refresh = Refresh(self.name, surroundings.publish, self.log.write, known)
        connect = await anyio.to_thread.run_sync(_way_in)
        async with connect(
            await self._parameters(),
            server=self.name,
            observer=_Observer(self, refresh),
            timing=self._timing(),
            limits=surroundings.limits,
            protocol=self._memory.protocol(self.entry.protocol),
            roots=surroundings.roots if self.entry.roots else None,
            answers=surroundings.answers,
            version=surroundings.version,
            before_again=self._still_approved,
        ) as connection:
            self.start_seconds = time.monotonic() - began
            attempt.connection = connection
            self._memory.learn(connection)
            self.last_error = None
            self._enter(State.READY)
            attempt.settled.set()
            self._watch_again(connection)
            async with anyio.create_task_group() as group:
                group.start_soon(refresh.run, connection)
                end = await end_of(connection, refresh)
                group.cancel_scope.cancel()
        if not isinstance(end, ConnectionLost):
            raise end
        return end

    async def _look_again(self) -> None:
        """Decide on the entry as it is on disk now, at the last moment before something is started.

        A file may have been replaced since it was approved, and approvals come and go in other processes.
        """
        while (anew := (entry := self.entry).anew) is not None:
            now = await anyio.to_thread.run_sync(anew.entry)
            if self.entry is entry:
                self._adopt(now)
                return

    def prepared(self, entry: Entry) -> None:
        """The entry is known at last: what was wanted meanwhile is done, or refused."""
        self._adopt(entry)
        self._decided.set()
        self._enter(entry.resting_state)
        if self.attempt is None:
            return
        if not entry.can_start:
            self.attempt.settled.set()
        self._wanted.set()

    def _adopt(self, entry: Entry) -> None:
        before, self.entry = self.entry, entry
        self.log.mask = _also(self.credentials.hide, masker(entry.secrets))
        if (before.can_start, before.refusal) == (entry.can_start, entry.refusal):
            return
        self.last_error = entry.refusal
        if entry.refusal:
            self.log.write(entry.refusal)
        if not (entry.can_start and self.state is State.STARTING):
            self._enter(entry.resting_state)

    async def _still_approved(self) -> None:
        """Raises Refused where the entry may no longer be started."""
        await self._look_again()
        self.entry.launch()

    async def _look_for_an_approval(self) -> None:
        """Somebody types ``@`` while the entry waits: it may have been approved in another process."""
        anew = self.entry.anew
        if anew is None or self.entry.approved:
            return
        try:
            stamp = await anyio.to_thread.run_sync(anew.stamp)
            if stamp == self._stamp:
                return
            self._stamp = stamp
            await self._look_again()
        except Exception as error:  # noqa: BLE001 - a fault of ours must cost one server, not the hub
            self.log.write(f"Lectern could not look at this entry again: {error!r}.")
        if self.entry.can_start:
            self.want(explicit=False)

    async def _parameters(self) -> Parameters:
        ready = self.entry.launch()
        parameters = self._memory.parameters(ready)
        if isinstance(ready, Remote) and isinstance(parameters, HttpParameters):
            signer = await self.credentials.signer(ready)
            self.authorization = self.credentials.identity
            return replace(parameters, auth=signer, extensions=extensions(ready))
        return parameters

    def _timing(self) -> Timing:
        timing = self._surroundings.timing
        return Timing(
            start=self._backoff.stretch(timing.start, timing.total),
            request=timing.request,
            total=timing.total,
            probe=timing.probe,
        )

    def _ended(self, error: McpError, uptime: float) -> float | None:
        """Note why the server is gone, and decide whether it is worth another try by itself."""
        delay = max(self._backoff.delay(uptime), getattr(error, "retry_after", None) or 0.0)
        changed = isinstance(error, EraChanged)
        if changed or not uptime:
            self._memory = Memory()
        if changed and self._backoff.failures == 1:
            # It is there, and waits for nothing. One that goes to and fro is waited for all the same.
            delay = 0.0
        self._patient_until = time.monotonic() + delay
        self.last_error = self.credentials.hide(failure.message_of(error))
        self.log.write(self.last_error)
        if failure.needs_sign_in(error):
            self._enter(State.NEEDS_SIGN_IN)
            return None
        may_heal = failure.may_heal(error)
        self._enter(State.BACKING_OFF if may_heal else State.FAILED)
        return delay if may_heal else None

    def _stopped(self) -> failure.Refused:
        return failure.refused(
            "cancelled", f"The server “{self.name}” was stopped before it was ready.", server=self.name
        )

    def _enter(self, state: State) -> None:
        self.state = state
        self._surroundings.changed(self.name)


def _way_in() -> Callable[..., AbstractAsyncContextManager[Connection]]:
    """All that speaks to servers takes a while to load, and ``@`` is answered before any has spoken."""
    from mcp_lectern.mcp.connect import connect

    return connect


def _also(first: Callable[[str], str], then: Callable[[str], str]) -> Callable[[str], str]:
    return lambda line: then(first(line))


class _Observer:
    """What a connection tells its link."""

    def __init__(self, link: Link, refresh: Refresh) -> None:
        self._link = link
        self._refresh = refresh

    def log(self, line: str) -> None:
        self._link.log.write(line)

    def resources_changed(self) -> None:
        self._refresh.notice()

    def resource_updated(self, uri: str | None) -> None:
        self._link._surroundings.updated(self._link.name, uri)  # noqa: SLF001 - the link's own inner class

    def subscriptions_changed(self) -> None:
        self._link._surroundings.changed(self._link.name)  # noqa: SLF001 - as above

"""One JSON-RPC peer over any transport: ids, pending calls, progress, cancellation, inbound requests.

It must not know processes, HTTP, or which methods mean what. Everything that arrives is handled in ``run``,
and nothing that arrives can end it: only the transport's end does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from mcp_lectern.mcp.eras.era import Era
from mcp_lectern.mcp.errors import ConnectionLost, McpError
from mcp_lectern.mcp.transport.duplex import Arrival, Cut, Duplex, Ending, Renewed, Unanswered, Waiting
from mcp_lectern.mcp.transport.throttle import Throttle
from mcp_lectern.mcp.wire import failures, jsonrpc
from mcp_lectern.mcp.wire.failures import Asked
from mcp_lectern.mcp.wire.framing import Oversize
from mcp_lectern.mcp.wire.jsonrpc import Answer, Batch, Call, Notification, Refusal, Rubbish

Json = Any
Outcome = Answer | Refusal | McpError


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: ``request`` without progress, ``total`` in all."""

    request: float
    total: float


class Clock:
    """When the time of one request is over; it can be held, since a person takes their own time."""

    def __init__(self, patience: Patience, left: float | None = None) -> None:
        now = anyio.current_time()
        self._patience = patience
        self._end = now + (patience.total if left is None else left)
        self._holds = 0
        self._held_since = 0.0
        self.scope = anyio.CancelScope(deadline=min(now + patience.request, self._end))

    def extend(self) -> None:
        """There is progress: the time without it begins anew, within the time in all."""
        if not self._holds:
            self.scope.deadline = min(anyio.current_time() + self._patience.request, self._end)

    def hold(self) -> None:
        """Time stands still until a ``release`` for each ``hold``."""
        if not self._holds:
            self._held_since = anyio.current_time()
            self.scope.deadline = float("inf")
        self._holds += 1

    def release(self) -> None:
        """Time goes on."""
        self._holds -= 1
        if not self._holds:
            self._end += anyio.current_time() - self._held_since
            self.extend()

    @property
    def left(self) -> float:
        """Seconds of the time in all that are left."""
        return self._end - anyio.current_time()

    @property
    def over_in_all(self) -> bool:
        """Whether it is the time in all that is over."""
        return anyio.current_time() >= self._end


@dataclass(slots=True)
class Pending:
    """A request that was sent. ``outcome`` is set once, and only once, when ``done`` is.

    ``again``: whether it may be sent once more, under a new id, should the stream of its answer break off.
    """

    id: int
    asked: Asked
    params: Mapping[str, Json]
    era: Era
    progress: bool
    again: bool
    done: anyio.Event = field(default_factory=anyio.Event)
    outcome: Outcome | None = None
    clock: Clock | None = None

    @property
    def method(self) -> str:
        """The method that was asked."""
        return self.asked.method

    def settle(self, outcome: Outcome) -> None:
        """The first outcome wins."""
        if self.outcome is None:
            self.outcome = outcome
            self.done.set()


class Session:
    """``run`` must be running for anything else to work. ``era`` may be replaced until requests are made.

    ``on_call`` may take a request of the peer, where the era answers any, and ``reply`` to it later.
    """

    def __init__(
        self,
        duplex: Duplex,
        era: Era,
        *,
        server: str,
        limit: int,
        log: Callable[[str], None],
        on_notification: Callable[[Notification], None],
        on_renewed: Callable[[], None] = lambda: None,
    ) -> None:
        self.era = era
        self.server = server
        self._duplex = duplex
        self._limit = limit
        self._log = Throttle(log)
        self._on_notification = on_notification
        self._on_renewed = on_renewed
        self.on_call: Callable[[Call], bool] = lambda _call: False
        self._pending: dict[int, Pending] = {}
        self._last_id = 0
        self._ended = anyio.Event()
        self._ending = Ending()
        self._line_settled = False
        self.answered = False

    # What the layer above asks.

    async def request(self, asked: Asked, params: Mapping[str, Json], patience: Patience) -> Json:
        """Ask and wait for the result; raises McpError. A request given up here is cancelled there, too."""
        pending = self.begin(asked, params)
        outcome = await self.outcome(pending, patience)
        if isinstance(outcome, Answer):
            return outcome.result
        if isinstance(outcome, Refusal):
            raise asked.refused(outcome)
        raise outcome

    def asked(self, method: str, subject: str = "") -> Asked:
        """A request to this server; ``subject`` names in messages what it is about."""
        return Asked(self.server, method, subject)

    def begin(
        self,
        asked: Asked,
        params: Mapping[str, Json],
        *,
        era: Era | None = None,
        progress: bool = True,
        again: bool = True,
    ) -> Pending:
        """Send a request and return; it ends with ``outcome``, ``abandon`` or ``forget``."""
        pending = Pending(0, asked, params, era or self.era, progress, again)
        if self._ended.is_set():
            pending.settle(self.lost(asked.method))
        else:
            self._post(pending)
        return pending

    def _post(self, pending: Pending) -> None:
        self._last_id += 1
        pending.id = self._last_id
        self._pending[pending.id] = pending
        token = pending.id if pending.progress else None
        params = pending.era.params(pending.params, token)
        self._duplex.post(jsonrpc.request(pending.id, pending.method, params))

    async def outcome(self, pending: Pending, patience: Patience, left: float | None = None) -> Outcome:
        """Wait for it: the answer, the refusal, or why there is none. Cancelling this cancels the request.

        ``left``: the seconds that are left of the time in all, where some of it is used up.
        """
        pending.clock = clock = Clock(patience, left)
        try:
            with clock.scope:
                await pending.done.wait()
        except BaseException:
            self.abandon(pending, "no longer wanted")
            raise
        if pending.outcome is None:
            pending.settle(_timed_out(pending, patience, in_all=clock.over_in_all))
            self.abandon(pending, "timed out")
        self.forget(pending)
        assert pending.outcome is not None
        return pending.outcome

    async def peek(self, pending: Pending, seconds: float) -> Outcome | None:
        """Its outcome, if there is one within so many seconds; the request goes on waiting."""
        with anyio.move_on_after(seconds):
            await pending.done.wait()
        return pending.outcome

    def abandon(self, pending: Pending, reason: str) -> None:
        """Forget a request, and tell the server if it may still work on it (never about ``initialize``)."""
        forgotten = self._pending.pop(pending.id, None)
        answered = isinstance(pending.outcome, Answer | Refusal)
        if not forgotten or self._ended.is_set():
            return
        if answered or pending.method == "initialize":
            self._duplex.release(pending.id)
        else:
            self.cancel(pending, reason)

    def cancel(self, pending: Pending, reason: str) -> None:
        """Tell the server, as the transport does that, that nothing more is wanted of a request."""
        params = {"requestId": pending.id, "reason": reason}
        self._duplex.release(pending.id, jsonrpc.notification("notifications/cancelled", params))

    def forget(self, pending: Pending) -> None:
        """Forget a request silently; a late answer to it is logged and dropped."""
        if self._pending.pop(pending.id, None):
            self._duplex.release(pending.id)

    def notify(self, method: str, params: Mapping[str, Json] | None = None) -> None:
        """Send a notification, as far as that is possible."""
        self._duplex.post(jsonrpc.notification(method, params))

    def reply(self, call: Call, body: Mapping[str, Json]) -> None:
        """Answer a request that ``on_call`` took: ``body`` is the ``result`` or ``error`` member."""
        if not self._ended.is_set():
            self._duplex.post({"jsonrpc": "2.0", "id": call.id, **body})

    @property
    def ended(self) -> bool:
        """Whether the other side is gone."""
        return self._ended.is_set()

    async def wait_ended(self) -> Ending:
        """Wait until the peer is gone, and say how."""
        await self._ended.wait()
        return self._ending

    def lost(self, method: str | None = None) -> ConnectionLost:
        """The error for a call that the peer's end took with it."""
        ending = self._ending
        return failures.lost(self.server, method, ending.exit_code, ending.stderr_tail, ending.reason)

    def close(self) -> None:
        """Fail what is pending, and send nothing more about it: the peer sees the end of the transport."""
        self._ended.set()
        for pending in tuple(self._pending.values()):
            pending.settle(self.lost(pending.method))
        self._pending.clear()

    # What arrives.

    async def run(self) -> None:
        """Handle everything that arrives, until the peer is gone; then fail what is pending."""
        try:
            async for arrival in self._duplex.receive():
                self._arrived(arrival)
                del arrival
            self._ending = await self._duplex.ended()
        finally:
            self.close()

    def _arrived(self, arrival: Arrival) -> None:
        if isinstance(arrival, Oversize):
            self._oversize(arrival)
        elif isinstance(arrival, Unanswered):
            self._unanswered(arrival)
        elif isinstance(arrival, Cut):
            self._cut(arrival)
        elif isinstance(arrival, Renewed):
            self._on_renewed()
        elif isinstance(arrival, Waiting):
            self._progress(arrival.id)
        else:
            self._handle(jsonrpc.read(arrival), arrival if isinstance(arrival, bytes) else arrival.head)

    def _unanswered(self, arrival: Unanswered) -> None:
        self.answered = self.answered or isinstance(arrival.outcome, Refusal)
        if pending := self._pending.pop(arrival.id, None):
            pending.settle(arrival.outcome)

    def _cut(self, arrival: Cut) -> None:
        pending = self._pending.pop(arrival.id, None)
        if pending is None:
            return
        if pending.again:
            pending.again = False
            self._log(f"the answer to {pending.method} broke off; it is asked for once more")
            self._post(pending)
        else:
            pending.settle(pending.asked.broken_off(arrival.reason))

    def _handle(self, message: jsonrpc.Message, raw: bytes) -> None:
        if isinstance(message, Batch):
            if self.era.batches:
                self._handle_batch(message)
            else:
                self._log("skipped a batch, which this protocol version does not have")
        elif isinstance(message, Rubbish):
            self._rubbish(message, raw)
        elif isinstance(message, Call):
            if reply := self._reply(message):
                self._duplex.post(reply)
        else:
            self._handle_one(message)

    def _handle_one(self, message: Answer | Refusal | Notification) -> None:
        if not isinstance(message, Notification):
            self.answered = True
            if pending := self._pending.pop(message.id, None):
                pending.settle(message)
                self._duplex.release(message.id)
            else:
                self._log(f"skipped an answer to request {message.id}, which is not waiting for one")
        elif message.method == "notifications/progress":
            self._progress(message.params.get("progressToken"))
        else:
            self._on_notification(message)

    def _handle_batch(self, batch: Batch) -> None:
        replies = []
        for message in batch.messages:
            if isinstance(message, Rubbish):
                self._rubbish(message, b"")
            elif not isinstance(message, Call):
                self._handle_one(message)
            elif reply := self._reply(message):
                replies.append(reply)
        if replies:
            self._duplex.post(replies)

    def _reply(self, call: Call) -> dict[str, Json] | None:
        reply = self.era.answer(call.method)
        if reply is None:
            self._log(f"skipped the request {call.method[:100]}: servers make none in this protocol version")
            return None
        if self.on_call(call):
            return None
        return {"jsonrpc": "2.0", "id": call.id, **reply}

    def _progress(self, token: Json) -> None:
        number = jsonrpc.number_of(token)
        pending = None if number is None else self._pending.get(number)
        if pending and pending.clock:
            pending.clock.extend()

    def _rubbish(self, rubbish: Rubbish, raw: bytes) -> None:
        shown = raw[:200].decode("utf-8", "replace")
        self._log(f"skipped {rubbish.reason}: {shown}" if shown else f"skipped {rubbish.reason}")
        pending = self._pending.pop(rubbish.id, None) if rubbish.id is not None else None
        if pending:
            pending.settle(pending.asked.invalid(rubbish.reason))
            self._duplex.release(pending.id)

    def _oversize(self, line: Oversize) -> None:
        """Fail the request that the line answers: at the limit if that can be told there, else at its end."""
        settled, self._line_settled = self._line_settled, False
        if not settled:
            settled = self._fail_too_large(line)
        self._line_settled = settled and line.tail is None

    def _fail_too_large(self, line: Oversize) -> bool:
        identity = jsonrpc.find_id(line.head, line.tail or b"")
        pending = self._pending.get(identity) if identity is not None else None
        if pending is None and identity is None:
            pending = self._suspect(line)
        if pending is None:
            return False
        self._log(f"skipped an answer of more than {self._limit} bytes to {pending.method}")
        pending.settle(pending.asked.too_large(self._limit))
        self.abandon(pending, "the answer is too large")
        return True

    def _suspect(self, line: Oversize) -> Pending | None:
        """The request that a line without an id most likely answers: the only one, or at last the oldest."""
        candidates = [
            pending for pending in self._pending.values() if pending.method != "subscriptions/listen"
        ]
        if len(candidates) == 1 or (candidates and line.tail is not None):
            return candidates[0]
        return None


def _timed_out(pending: Pending, patience: Patience, *, in_all: bool) -> McpError:
    if in_all:
        return pending.asked.timed_out(patience.total, "timeouts.total")
    return pending.asked.timed_out(patience.request, "timeouts.request")

"""One JSON-RPC peer over any transport: ids, pending calls, progress, cancellation, inbound requests.

It must not know processes, HTTP, or which methods mean what. Everything that arrives is handled in ``run``; nothing
that arrives can end it, only the transport's end does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from mcp_lectern.mcp.eras.era import Era
from mcp_lectern.mcp.errors import (
    ConnectionLost,
    InvalidResult,
    McpError,
    RequestTimeout,
    ServerError,
    TooLarge,
)
from mcp_lectern.mcp.transport.duplex import Duplex, Ending
from mcp_lectern.mcp.transport.throttle import Throttle
from mcp_lectern.mcp.wire import jsonrpc
from mcp_lectern.mcp.wire.framing import Oversize
from mcp_lectern.mcp.wire.jsonrpc import Answer, Batch, Call, Notification, Refusal, Rubbish

Json = Any
Outcome = Answer | Refusal | McpError


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: ``request`` without progress, ``total`` in all."""

    request: float
    total: float


@dataclass(slots=True)
class Pending:
    """A request that was sent. ``outcome`` is set once, and only once, when ``done`` is."""

    id: int
    method: str
    subject: str
    done: anyio.Event = field(default_factory=anyio.Event)
    outcome: Outcome | None = None
    on_progress: Callable[[], None] | None = None

    def settle(self, outcome: Outcome) -> None:
        """The first outcome wins."""
        if self.outcome is None:
            self.outcome = outcome
            self.done.set()


class Session:
    """``run`` must be running for anything else to work. ``era`` may be replaced until requests are made."""

    def __init__(
        self,
        duplex: Duplex,
        era: Era,
        *,
        server: str,
        limit: int,
        log: Callable[[str], None],
        on_notification: Callable[[Notification], None],
    ) -> None:
        self.era = era
        self.server = server
        self._duplex = duplex
        self._limit = limit
        self._log = Throttle(log)
        self._on_notification = on_notification
        self._pending: dict[int, Pending] = {}
        self._last_id = 0
        self._ended = anyio.Event()
        self._ending = Ending()
        self.answered = False

    # What the layer above asks.

    async def request(
        self, method: str, params: Mapping[str, Json], patience: Patience, *, subject: str = ""
    ) -> Json:
        """Ask and wait for the result. Raises McpError; a cancelled or timed out request is cancelled there, too.

        ``subject`` names in messages what the request is about (a URI, say).
        """
        pending = await self.begin(method, params, subject=subject)
        outcome = await self.outcome(pending, patience)
        if isinstance(outcome, Answer):
            return outcome.result
        if isinstance(outcome, Refusal):
            raise self._server_error(pending, outcome)
        raise outcome

    async def begin(
        self,
        method: str,
        params: Mapping[str, Json],
        *,
        era: Era | None = None,
        subject: str = "",
        progress: bool = True,
    ) -> Pending:
        """Send a request and return; its outcome comes later. Ended with ``outcome`` or ``abandon``."""
        self._last_id += 1
        pending = Pending(self._last_id, method, subject)
        if self._ended.is_set():
            pending.settle(self.lost(method))
            return pending
        self._pending[pending.id] = pending
        token = pending.id if progress else None
        message = jsonrpc.request(pending.id, method, (era or self.era).params(params, token))
        try:
            await self._duplex.send(message)
        except BaseException:
            self.abandon(pending, "cancelled")
            raise
        return pending

    async def outcome(self, pending: Pending, patience: Patience) -> Outcome:
        """Wait for it: the answer, the refusal, or why there is none. Cancelling this cancels the request."""
        deadline = anyio.current_time() + patience.total
        try:
            with anyio.move_on_after(min(patience.request, patience.total)) as scope:

                def extend() -> None:
                    scope.deadline = min(anyio.current_time() + patience.request, deadline)

                pending.on_progress = extend
                await pending.done.wait()
        except BaseException:
            self.abandon(pending, "no longer wanted")
            raise
        if pending.outcome is None:
            pending.settle(self._timeout(pending, patience, anyio.current_time() >= deadline))
            self.abandon(pending, "timed out")
        self._pending.pop(pending.id, None)
        assert pending.outcome is not None
        return pending.outcome

    async def peek(self, pending: Pending, seconds: float) -> Outcome | None:
        """Its outcome, if there is one within so many seconds; the request goes on waiting."""
        with anyio.move_on_after(seconds):
            await pending.done.wait()
        return pending.outcome

    def abandon(self, pending: Pending, reason: str) -> None:
        """Forget a request, and tell the server if it may still be working on it. ``initialize`` is never taken back."""
        forgotten = self._pending.pop(pending.id, None)
        answered = isinstance(pending.outcome, Answer | Refusal)
        if forgotten and not answered and pending.method != "initialize" and not self._ended.is_set():
            self.notify("notifications/cancelled", {"requestId": pending.id, "reason": reason})

    def forget(self, pending: Pending) -> None:
        """Forget a request silently; a late answer to it is logged and dropped."""
        self._pending.pop(pending.id, None)

    def notify(self, method: str, params: Mapping[str, Json] | None = None) -> None:
        """Send a notification, as far as that is possible."""
        self._duplex.post(jsonrpc.notification(method, params))

    async def wait_ended(self) -> Ending:
        """Wait until the peer is gone, and say how."""
        await self._ended.wait()
        return self._ending

    def lost(self, method: str | None = None) -> ConnectionLost:
        """The error for a call that the peer's end took with it."""
        ending = self._ending
        how = "ended" if ending.exit_code is None else f"ended with exit code {ending.exit_code}"
        during = f" during {method}" if method else ""
        words = f"; its last words: {ending.stderr_tail[-500:]}" if ending.stderr_tail else ""
        return ConnectionLost(
            f'Server "{self.server}" {how}{during}{words}. It is started again when it is next needed.',
            server=self.server,
            method=method,
            exit_code=ending.exit_code,
            stderr_tail=ending.stderr_tail,
        )

    # What arrives.

    async def run(self) -> None:
        """Handle everything that arrives, until the peer is gone; then fail what is pending."""
        try:
            async for raw in self._duplex.receive():
                if isinstance(raw, Oversize):
                    self._oversize(raw)
                else:
                    self._handle(jsonrpc.read(raw), raw)
            self._ending = await self._duplex.ended()
        finally:
            self._ended.set()
            for pending in tuple(self._pending.values()):
                pending.settle(self.lost(pending.method))
            self._pending.clear()

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
        return {"jsonrpc": "2.0", "id": call.id, **reply}

    def _progress(self, token: Json) -> None:
        pending = self._pending.get(token) if isinstance(token, int) else None
        if pending and pending.on_progress:
            pending.on_progress()

    def _rubbish(self, rubbish: Rubbish, raw: bytes) -> None:
        shown = raw[:200].decode("utf-8", "replace")
        self._log(f"skipped {rubbish.reason}: {shown}" if shown else f"skipped {rubbish.reason}")
        pending = self._pending.pop(rubbish.id, None) if rubbish.id is not None else None
        if pending:
            pending.settle(
                InvalidResult(
                    f'Server "{self.server}" answered {pending.method} with {rubbish.reason}.',
                    server=self.server,
                    method=pending.method,
                )
            )

    def _oversize(self, line: Oversize) -> None:
        identity = jsonrpc.find_id(line.head, line.tail or b"")
        pending = self._pending.get(identity) if identity is not None else None
        if pending is None and identity is None:
            pending = self._suspect(line)
        if pending is None:
            return
        self._log(f"skipped an answer of more than {self._limit} bytes to {pending.method}")
        pending.settle(
            TooLarge(
                f'Server "{self.server}" answered {pending.method} with more than the limit of {self._limit} bytes'
                f"{_about(pending.subject)}; raise limits.readBytes if that much is wanted.",
                server=self.server,
                method=pending.method,
            )
        )
        self.abandon(pending, "the answer is too large")

    def _suspect(self, line: Oversize) -> Pending | None:
        """The request that an endless line without an id most likely answers: the only one, or else the oldest."""
        candidates = [
            pending for pending in self._pending.values() if pending.method != "subscriptions/listen"
        ]
        if len(candidates) == 1 or (candidates and line.tail is not None):
            return candidates[0]
        return None

    # Errors.

    def _timeout(self, pending: Pending, patience: Patience, in_all: bool) -> RequestTimeout:
        limit = f"{patience.total:g} s in all" if in_all else f"{patience.request:g} s"
        key = "timeouts.total" if in_all else "timeouts.request"
        return RequestTimeout(
            f'Server "{self.server}" did not answer {pending.method} within {limit}{_about(pending.subject)}; '
            f"try again, or raise {key} if it is slow.",
            server=self.server,
            method=pending.method,
        )

    def _server_error(self, pending: Pending, refusal: Refusal) -> ServerError:
        code = "" if refusal.code is None else f" (code {refusal.code})"
        return ServerError(
            f'Server "{self.server}" refused {pending.method}{_about(pending.subject)}: {refusal.message}{code}.',
            server=self.server,
            method=pending.method,
            code=refusal.code,
            server_message=refusal.message,
            data=refusal.data,
        )


def _about(subject: str) -> str:
    return f" for {subject}" if subject else ""

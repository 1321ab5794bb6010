"""Questions of a server on their way to a person, one at a time; must not know how they are shown.

Only a read that a person caused may lead to one: anything else is cancelled without being shown.
Specification 2025-11-25 and 2026-07-28, client/elicitation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import anyio
from anyio.abc import TaskGroup

from mcp_lectern.mcp.session import Pending, Session
from mcp_lectern.mcp.wire.elicitation import (
    CANCEL,
    CREATE,
    Mode,
    Question,
    Reply,
    Unaskable,
    UrlQuestion,
    again,
    question_of,
)
from mcp_lectern.mcp.wire.jsonrpc import INVALID_PARAMS, Call, Notification

from .waiting import first_of

Json = Any

MOST_QUESTIONS: Final = 10
"""How much one read may ask, before the rest is cancelled unseen."""
MOST_ATTEMPTS: Final = 3
"""How often a person may fill in one form."""
MOST_REMEMBERED: Final = 1000


class Answers(Protocol):
    """Whoever asks a person. Both methods may be cancelled at any time: the question is then void."""

    @property
    def modes(self) -> frozenset[Mode]:
        """What can be asked at all; looked at once, when a connection is opened."""

    async def answer(self, question: Question) -> Reply:
        """Show the question, with the server's name, and return what was said.

        An address is shown in full with its host set off, and opened in a browser only after a yes.
        """

    async def finished(self, question: UrlQuestion) -> bool:
        """The address was opened. Returns when the person says that they are done there; False to give up."""


@dataclass(eq=False)
class Reading:
    """A read, and whether a person waits for it. ``pending`` is its request, while one is under way.

    ``unseen``: a question came for it, and was cancelled without being shown. ``rounds`` is how often the
    read had to be made again.
    """

    asked: bool
    unseen: bool = False
    pending: Pending | None = None
    questions: int = 0
    rounds: int = 0
    ended: anyio.Event = field(default_factory=anyio.Event)

    @property
    def answered(self) -> bool:
        """Whether more than the URI went into the result."""
        return self.rounds > 0 or self.questions > 0 or self.unseen


class Asking:
    """One connection's questions. ``answers`` is None where there is nobody to ask."""

    def __init__(
        self,
        session: Session,
        answers: Answers | None,
        tasks: TaskGroup,
        total: float,
        log: Callable[[str], None],
    ) -> None:
        self.modes: frozenset[Mode] = answers.modes if answers else frozenset()
        self._session = session
        self._answers = answers
        self._tasks = tasks
        self._total = total
        self._log = log
        self._readings: set[Reading] = set()
        self._one_at_a_time = anyio.Lock()
        self._calls: dict[int | str, anyio.CancelScope] = {}
        self._completed: dict[str, anyio.Event] = {}

    @property
    def handlers(self) -> dict[str, Callable[[Notification], None]]:
        """What is to be heard, by method."""
        return {
            "notifications/cancelled": self._cancelled,
            "notifications/elicitation/complete": self._complete,
        }

    @contextmanager
    def reading(self, *, asked: bool) -> Iterator[Reading]:
        """A read is under way; ``asked``: a person caused it and may be asked something."""
        reading = Reading(asked)
        self._readings.add(reading)
        try:
            yield reading
        finally:
            self._readings.discard(reading)
            reading.ended.set()

    def question(self, params: Json) -> Question:
        """What an ``elicitation/create`` asks. Raises Unaskable."""
        return question_of(params, self._session.server, self.modes)

    async def ask(self, question: Question) -> Reply:
        """What a person says; an answer that does not fit its form is asked for again, a few times."""
        async with self._one_at_a_time:
            for _ in range(MOST_ATTEMPTS):
                reply = await self._answered(question)
                if reply.action != "accept" or isinstance(question, UrlQuestion):
                    return Reply(reply.action)
                content = question.completed(reply.content)
                problems = question.problems(content)
                if not problems:
                    return Reply("accept", content)
                question = again(question, problems)
        self._log("a form was filled in wrongly several times, and is cancelled")
        return CANCEL

    async def _answered(self, question: Question) -> Reply:
        if self._answers is None:
            return CANCEL
        try:
            return await self._answers.answer(question)
        except Exception as error:  # noqa: BLE001 - what cannot be asked is not answered, and costs no more
            self._log(f"a question could not be put: {error!r}")
            return CANCEL

    def awaited(self, question: UrlQuestion) -> anyio.Event:
        """Set when the server says that what was opened for this question is done."""
        event = anyio.Event()
        if question.identity is not None and len(self._completed) < MOST_REMEMBERED:
            event = self._completed.setdefault(question.identity, event)
        return event

    async def done(self, question: UrlQuestion, completed: anyio.Event) -> bool:
        """Wait until the server or the person says so, or for as long as a request may last in all."""
        person_gave_up = False

        async def wait_for_person() -> None:
            nonlocal person_gave_up
            person_gave_up = self._answers is None or not await self._answers.finished(question)
            completed.set()

        with anyio.move_on_after(self._total):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait_for_person)
                await completed.wait()
                tasks.cancel_scope.cancel()
        self._completed.pop(question.identity or "", None)
        return not person_gave_up

    # Requests of a server of the handshake era.

    def takes(self, call: Call) -> bool:
        """Whether a server's request is a question that was offered to be answered; then it will be."""
        if call.method != CREATE or not self.modes:
            return False
        self._tasks.start_soon(self._answer_call, call)
        return True

    async def _answer_call(self, call: Call) -> None:
        with anyio.CancelScope() as scope:
            self._calls[call.id] = scope
            try:
                body = await self._body(call)
                self._session.reply(call, body)
            finally:
                self._calls.pop(call.id, None)

    async def _body(self, call: Call) -> dict[str, Json]:
        try:
            question = self.question(call.params)
        except Unaskable as why:
            self._log(f"refused to put {why}")
            return {"error": {"code": INVALID_PARAMS, "message": f"This client does not put {why}"}}
        readings = [each for each in self._readings if each.asked and each.questions < MOST_QUESTIONS]
        if not readings:
            self._log("cancelled a question that came while nobody waited for an answer to a read")
            for reading in self._readings:
                # Which of them it was for is not said: what any of them returns may be due to our refusal.
                reading.unseen = reading.unseen or not reading.asked
            return {"result": CANCEL.to_json()}
        for reading in readings:
            reading.questions += 1
        reply = await self._while_read(readings, question)
        return {"result": reply.to_json()}

    async def _while_read(self, readings: list[Reading], question: Question) -> Reply:
        """Ask for as long as one of these reads is waited for; their time stands still meanwhile."""
        reply = CANCEL
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                nonlocal reply
                with _held(readings):
                    reply = await self.ask(question)
                tasks.cancel_scope.cancel()

            tasks.start_soon(ask)
            for reading in readings:
                await reading.ended.wait()
            tasks.cancel_scope.cancel()
        if isinstance(question, UrlQuestion) and reply.action == "accept":
            self._tasks.start_soon(self._hold_until_complete, readings, question)
        return reply

    async def _hold_until_complete(self, readings: list[Reading], question: UrlQuestion) -> None:
        """A person is busy elsewhere: the read may wait for them as long as a request may last in all."""
        completed = self.awaited(question)
        with _held(readings), anyio.move_on_after(self._total):
            await first_of(completed, *(reading.ended for reading in readings))
        self._completed.pop(question.identity or "", None)

    # What is heard.

    def _cancelled(self, notification: Notification) -> None:
        identity = notification.params.get("requestId")
        scope = self._calls.get(identity) if isinstance(identity, (int, str)) else None
        if scope is not None:
            self._log("the server withdrew its question")
            scope.cancel()

    def _complete(self, notification: Notification) -> None:
        identity = notification.params.get("elicitationId")
        event = self._completed.get(identity) if isinstance(identity, str) else None
        if event is not None:
            event.set()


@contextmanager
def _held(readings: list[Reading]) -> Iterator[None]:
    """The clocks of these reads stand still."""
    clocks = [each.pending.clock for each in readings if each.pending and each.pending.clock]
    for clock in clocks:
        clock.hold()
    try:
        yield
    finally:
        for clock in clocks:
            clock.release()

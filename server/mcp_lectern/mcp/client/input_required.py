"""A read that needs more than one round: what the server asks for is gathered, and the read made again.

It must not know who is asked. Specification 2026-07-28, basic/patterns/mrtr; 2025-11-25, client/elicitation
(URL elicitation required).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import anyio

from mcp_lectern.mcp.errors import ServerError
from mcp_lectern.mcp.session import Patience, Session
from mcp_lectern.mcp.wire.elicitation import CANCEL, CREATE, Question, Reply, Unaskable, UrlQuestion
from mcp_lectern.mcp.wire.failures import Asked
from mcp_lectern.mcp.wire.jsonrpc import Answer, Refusal, is_nested_deeper

from .asking import MOST_QUESTIONS, Asking, Reading
from .results import READ, complete, is_input_required

Json = Any

MOST_ROUNDS: Final = 10
URL_REQUIRED: Final = -32042
DEEPEST_STATE: Final = 200
"""Levels; Python's own encoder gives up at several hundred."""
_UNSEEN: Final = "nobody is asked anything for a read that nobody waits for; open the resource"
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 1.0
"""Seconds before a read that is only to be made again; each time the pause is doubled."""


class Rounds:
    """Reads over one connection, each with as many rounds as it needs, within reason."""

    def __init__(self, session: Session, patience: Patience, asking: Asking) -> None:
        self._session = session
        self._patience = patience
        self._asking = asking

    async def read(self, uri: str, *, asked: bool) -> tuple[dict[str, Json], Reading]:
        """The finished result of ``resources/read``, and what its server asked on the way.

        Raises McpError: InputRequired where nobody can or wants to give what is asked for.
        """
        return await self.request(self._session.asked(READ, uri), {"uri": uri}, asked=asked)

    async def request(
        self, request: Asked, params: Mapping[str, Json], *, asked: bool
    ) -> tuple[dict[str, Json], Reading]:
        """The same for any request that may take several rounds."""
        with self._asking.reading(asked=asked) as reading:
            answer = _Answer(request, reading, self._patience.total)
            for number in range(MOST_ROUNDS):
                outcome = await self._once(answer, params)
                if isinstance(outcome, Refusal):
                    await self._elsewhere(answer, request.refused(outcome))
                elif is_input_required(outcome):
                    await self._gather(answer, outcome, min(FIRST_PAUSE * 2**number, LONGEST_PAUSE))
                else:
                    reading.rounds = number
                    return complete(outcome, request), reading
        raise request.needs_input(f"it goes on asking after {MOST_ROUNDS} rounds")

    async def _once(self, answer: _Answer, params: Mapping[str, Json]) -> Json:
        """One request: its result, or the refusal that says that something is to be done elsewhere first."""
        pending = self._session.begin(answer.request, {**params, **answer.params})
        answer.reading.pending = pending
        outcome = await self._session.outcome(pending, self._patience, answer.left)
        answer.left = pending.clock.left if pending.clock else answer.left
        if isinstance(outcome, Answer):
            return outcome.result
        if isinstance(outcome, Refusal):
            if outcome.code == URL_REQUIRED:
                return outcome
            answer.check_seen()
            raise answer.request.refused(outcome)
        raise outcome

    # 2026-07-28: the result says what is missing.

    async def _gather(self, answer: _Answer, result: Mapping[str, Json], pause: float) -> None:
        """Set the parameters of the next round."""
        answer.check_willing()
        answer.params = {}
        if "requestState" in result:
            if is_nested_deeper(result["requestState"], DEEPEST_STATE):
                raise answer.request.invalid("a state that is nested too deeply to be sent back")
            answer.params["requestState"] = result["requestState"]
        requests = result.get("inputRequests")
        if requests is None and "requestState" not in result:
            raise answer.request.invalid("a call for input that asks for nothing")
        if not requests:
            await anyio.sleep(pause)
        if requests is None:
            return
        questions = self._questions(answer, requests)
        replies = {key: await self._reply(answer, question) for key, question in questions.items()}
        answer.params["inputResponses"] = {key: reply.to_json() for key, reply in replies.items()}

    def _questions(self, answer: _Answer, requests: Json) -> dict[str, Question]:
        """All that is asked for, judged before any of it is shown."""
        if not isinstance(requests, dict) or not all(isinstance(each, dict) for each in requests.values()):
            raise answer.request.invalid("a call for input that cannot be read")
        answer.count(len(requests))
        questions: dict[str, Question] = {}
        for key, each in requests.items():
            method = each.get("method")
            if method != CREATE or not self._asking.modes:
                raise answer.request.needs_input(f"{str(method)[:50]} was never offered to it")
            try:
                questions[key] = self._asking.question(each.get("params"))
            except Unaskable as why:
                raise answer.request.needs_input(f"it is {why}") from why
        return questions

    async def _reply(self, answer: _Answer, question: Question) -> Reply:
        if not answer.reading.asked:
            answer.reading.unseen = True
        if answer.unwilling or answer.reading.unseen:
            return CANCEL
        reply = await self._asking.ask(question)
        if reply.action != "accept":
            answer.unwilling = "it was not answered"
        return reply

    # 2025-11-25: the error says what is to be done first.

    async def _elsewhere(self, answer: _Answer, error: ServerError) -> None:
        """Have every address of the error opened, and wait until all is done there."""
        questions = self._addresses(answer, error)
        completed = [self._asking.awaited(question) for question in questions]
        for question in questions:
            if (await self._reply(answer, question)).action != "accept":
                answer.check_willing()
        for question, event in zip(questions, completed, strict=True):
            if not await self._asking.done(question, event):
                raise answer.request.needs_input("it was given up", declined=True)

    def _addresses(self, answer: _Answer, error: ServerError) -> list[UrlQuestion]:
        listed = error.data.get("elicitations") if isinstance(error.data, dict) else None
        if not self._asking.modes or not isinstance(listed, list) or not listed:
            raise error
        answer.count(len(listed))
        try:
            questions = [self._asking.question(each) for each in listed]
        except Unaskable as why:
            raise answer.request.needs_input(f"it is {why}") from why
        addresses = [question for question in questions if isinstance(question, UrlQuestion)]
        if len(addresses) != len(questions):
            raise answer.request.invalid("a call for an address that has none")
        return addresses


class _Answer:
    """What is gathered for one read. ``unwilling`` is a clause that says why no more is.

    ``left`` is what is left of its time in all, in seconds: a person's is not counted.
    """

    def __init__(self, request: Asked, reading: Reading, left: float) -> None:
        self.request = request
        self.reading = reading
        self.left = left
        self.params: dict[str, Json] = {}
        self.unwilling = ""

    def count(self, questions: int) -> None:
        """Raises InputRequired where these questions are more than anybody is asked for one read."""
        if questions > MOST_QUESTIONS:
            raise self.request.needs_input(f"it asks for {questions} things at once")
        self.reading.questions += questions
        if self.reading.questions > MOST_QUESTIONS:
            raise self.request.needs_input(f"it goes on asking after {MOST_QUESTIONS} questions")

    def check_willing(self) -> None:
        """Raises InputRequired where an earlier question was not answered: nobody is asked twice."""
        self.check_seen()
        if self.unwilling:
            raise self.request.needs_input(self.unwilling, declined=True)

    def check_seen(self) -> None:
        """Raises InputRequired where a question was put away unseen: what came after is no real answer."""
        if self.reading.unseen:
            raise self.request.needs_input(_UNSEEN, unasked=True)

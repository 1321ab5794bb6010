"""What servers propose for the variables of templates, asked behind the back of whoever types.

A completion is answered from what is known here. What is not known is asked for, a moment after the last
letter, and is there for the next answer. It must not start a server, nor know how a value is written.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_lectern.features.completion import Question
    from mcp_lectern.lsp.session import Session

logger = logging.getLogger(__name__)

PAUSE = 0.18
"""Seconds without another letter after which a server is asked: people type five to twelve in a second."""
GOOD_FOR = 10.0
"""Seconds after which a server is asked again for what is still shown meanwhile."""
MOST_REMEMBERED = 500
_LONGEST_VALUE = 200
"""Characters of a beginning for which shorter ones are looked up."""


@dataclass(frozen=True, slots=True)
class _Answer:
    values: Sequence[str]
    until: float


class ArgumentValues:
    """One for the session. For each server only the questions of the latest letter are asked."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._answers: dict[Question, _Answer] = {}
        self._asking: dict[str, tuple[tuple[Question, ...], asyncio.Task[None]]] = {}

    def known(self, question: Question) -> Sequence[str]:
        """What the server proposed; until it has, what fits of its proposals for a shorter beginning."""
        answer = self._answers.get(question)
        if answer is not None:
            return answer.values
        typed = question.value.casefold()
        for length in range(min(len(question.value), _LONGEST_VALUE) - 1, -1, -1):
            shorter = self._answers.get(replace(question, value=question.value[:length]))
            if shorter is not None:
                return [value for value in shorter.values if value.casefold().startswith(typed)]
        return ()

    async def arrived(self, questions: Iterable[Question], seconds: float) -> bool:
        """Wait so long at most for the answers that are asked for now; whether there was one to wait for."""
        servers = {question.server for question in questions}
        tasks = [task for server, (_, task) in self._asking.items() if server in servers]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        return bool(tasks)

    def ask(self, questions: Iterable[Question]) -> None:
        """Ask for what is not known (any more); older questions to the same servers are given up."""
        now = time.monotonic()
        by_server: dict[str, list[Question]] = {}
        for question in questions:
            answer = self._answers.get(question)
            if answer is None or answer.until < now:
                by_server.setdefault(question.server, []).append(question)
        for server, wanted in by_server.items():
            self._begin(server, tuple(wanted))

    def forget(self, server: str) -> None:
        """The server is another one now, or lists something else."""
        self._answers = {
            question: answer for question, answer in self._answers.items() if question.server != server
        }

    def _begin(self, server: str, questions: tuple[Question, ...]) -> None:
        asked, task = self._asking.get(server, ((), None))
        if asked == questions:
            return
        if task is not None:
            task.cancel()
        task = asyncio.get_running_loop().create_task(self._ask(questions), name="lectern-values")
        self._asking[server] = questions, task
        task.add_done_callback(lambda done: self._ended(server, done))

    def _ended(self, server: str, task: asyncio.Task[None]) -> None:
        asked = self._asking.get(server)
        if asked is not None and asked[1] is task:
            del self._asking[server]
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("asking for values failed", exc_info=error)

    async def _ask(self, questions: Sequence[Question]) -> None:
        await asyncio.sleep(PAUSE)
        for question in questions:
            values = await self._asked(question)
            self._answers.pop(question, None)
            self._answers[question] = _Answer(values, time.monotonic() + GOOD_FOR)
            while len(self._answers) > MOST_REMEMBERED:
                del self._answers[next(iter(self._answers))]

    async def _asked(self, question: Question) -> Sequence[str]:
        """The server's values; none where it is not running, or fails."""
        from mcp_lectern.hub.failure import Refused
        from mcp_lectern.mcp.errors import McpError

        hub = self._session.hub
        if hub is None or question.server not in hub.catalogue.listings:
            return ()
        link = hub.link(question.server)
        if link.connection is None or link.connection.closed:
            return ()
        try:
            found = await hub.complete(
                question.server,
                question.uri_template,
                question.argument,
                question.value,
                dict(question.arguments),
            )
        except (McpError, Refused) as error:
            link.log.write(str(error))
            return ()
        return found.values

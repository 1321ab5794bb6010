"""One question at a time, whichever server asks; must not know how it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from mcp_lectern.mcp.client.asking import Answers
    from mcp_lectern.mcp.wire.elicitation import Mode, Question, Reply, UrlQuestion


class OneAtATime:
    """The same answers, for all servers: a question waits until the one before it is answered.

    ``turn`` is held while somebody is asked.
    """

    def __init__(self, answers: Answers, turn: anyio.Lock) -> None:
        self._answers = answers
        self._turn = turn

    @property
    def modes(self) -> frozenset[Mode]:
        """What can be asked."""
        return self._answers.modes

    async def answer(self, question: Question) -> Reply:
        """What the person says, when it is this question's turn."""
        async with self._turn:
            return await self._answers.answer(question)

    async def finished(self, question: UrlQuestion) -> bool:
        """Nobody else waits for this: it is no question, and may take long."""
        return await self._answers.finished(question)

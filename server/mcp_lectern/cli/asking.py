"""A server's questions at a terminal: shown in full, answered by typing; must not know how they came.

Without a terminal nobody can be asked, and servers are told so from the start.
"""

from __future__ import annotations

import asyncio
import getpass
import sys
import webbrowser
from collections.abc import Callable
from typing import Any

from mcp_lectern.config.inputs import Input
from mcp_lectern.mcp.wire.elicitation import CANCEL, DECLINE, FormQuestion, Mode, Question, Reply, UrlQuestion
from mcp_lectern.mcp.wire.forms import Field
from mcp_lectern.text.untrusted import single_line

_WORDS = 1000
"""Characters of a server's own words."""
_YES = frozenset({"y", "yes"})


class Terminal:
    """``Answers`` and ``Prompt`` at a terminal; what is said goes to stderr.

    ``read`` returns a line, or raises EOFError; ``read_hidden`` does so without showing what is typed.
    """

    def __init__(self, read: Callable[[str], str], read_hidden: Callable[[str], str]) -> None:
        self._read = read
        self._read_hidden = read_hidden

    @property
    def modes(self) -> frozenset[Mode]:
        """Both: a terminal shows any form, and a browser is opened after a yes."""
        return frozenset({"form", "url"})

    async def answer(self, question: Question) -> Reply:
        """What the person types; an end of input cancels."""
        try:
            if isinstance(question, UrlQuestion):
                return await self._url(question)
            return await self._form(question)
        except EOFError:
            return CANCEL

    async def finished(self, question: UrlQuestion) -> bool:
        """Return ends the wait, an end of input gives it up."""
        try:
            await self._line(f"Press Return when you are done on {question.host}: ")
        except EOFError:
            return False
        return True

    async def value(self, server: str, wanted: Input) -> str | None:
        """What the person types for an input; nothing at all is the default, or nothing."""
        _say(f"The entry of the server “{single_line(server)}” asks for {single_line(wanted.label, _WORDS)}")
        for choice in wanted.choices:
            _say(f"  - {single_line(choice.value)}: {single_line(choice.label)}")
        hint = f" [{single_line(wanted.default)}]" if wanted.default and not wanted.password else ""
        read = self._read_hidden if wanted.password else self._read
        try:
            typed = (await asyncio.to_thread(read, f"  {single_line(wanted.id)}{hint}: ")).strip()
        except EOFError:
            return None
        return typed or wanted.default

    async def _url(self, question: UrlQuestion) -> Reply:
        _say(f"The server “{single_line(question.server)}” asks you to open a page on {question.host}:")
        _say(f"  {single_line(question.message, _WORDS)}")
        _say(f"  {question.url}")
        if question.warning:
            _say(f"  {question.warning}")
        if (await self._line("Open it? [y/N] ")).strip().lower() not in _YES:
            return DECLINE
        await asyncio.to_thread(webbrowser.open, question.url)
        return Reply("accept")

    async def _form(self, question: FormQuestion) -> Reply:
        _say(f"The server “{single_line(question.server)}” asks: {single_line(question.message, _WORDS)}")
        content = {field.name: await self._value(field) for field in question.fields}
        if (await self._line("Send this? [y/N] ")).strip().lower() not in _YES:
            return DECLINE
        return Reply("accept", {name: value for name, value in content.items() if value is not None})

    async def _value(self, field: Field) -> Any:
        hint = "" if field.required else " (may be left empty)"
        if field.description:
            _say(f"  {single_line(field.description, _WORDS)}")
        for option in field.options[:50]:
            _say(f"  - {single_line(option.value)}: {single_line(option.title)}")
        typed = await self._line(f"  {single_line(field.title)}{hint}: ")
        return _converted(field, typed.strip())

    async def _line(self, prompt: str) -> str:
        return await asyncio.to_thread(self._read, prompt)


def at_terminal() -> Terminal | None:
    """Whoever sits at this terminal, or nobody."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return Terminal(_prompted, lambda prompt: getpass.getpass(prompt, sys.stderr))


def _prompted(prompt: str) -> str:
    print(prompt, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def _converted(field: Field, typed: str) -> Any:
    """What was typed as the type that the field has; what cannot be converted is told by the form's check."""
    if not typed:
        return None
    if field.kind == "boolean":
        return typed.lower() in _YES | {"true"}
    if field.kind == "array":
        return [part.strip() for part in typed.split(",") if part.strip()]
    if field.kind in ("number", "integer"):
        try:
            return int(typed) if typed.lstrip("-").isdigit() else float(typed)
        except ValueError:
            return typed
    return typed


def _say(line: str) -> None:
    print(line, file=sys.stderr)

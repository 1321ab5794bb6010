"""A server's questions, put to the editor's user; must not know how they came, nor judge an answer.

A client that declares a mode is asked ``lectern/elicit``. For others a message with buttons serves, where the
question is one for buttons; what it cannot serve is cancelled, and the user is told so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern
    from mcp_lectern.mcp.wire.elicitation import FormQuestion, Mode, Question, Reply, UrlQuestion

_MOST_BUTTONS = 6
_MESSAGE_LIMIT = 1000
"""Characters of a server's own words."""
_YES, _NO, _DECLINE = "Yes", "No", "Decline"
_CONTINUE, _GIVE_UP = "Continue", "Give Up"


class Elicitation:
    """The hub's ``Answers`` for one editor."""

    def __init__(self, lectern: Lectern) -> None:
        self._lectern = lectern

    @property
    def modes(self) -> frozenset[Mode]:
        """Forms always (buttons serve the simple ones); addresses where the client can open one."""
        client = self._lectern.session.client
        served: set[Mode] = {"form"}
        if "url" in client.elicitation or client.shows_documents:
            served.add("url")
        return frozenset(served)

    async def answer(self, question: Question) -> Reply:
        """What the user says. A client that fails to ask has cancelled."""
        from mcp_lectern.mcp.wire.elicitation import CANCEL

        declared = question.mode in self._lectern.session.client.elicitation
        try:
            if declared:
                return _reply(await self._lectern.protocol.ask("lectern/elicit", _params(question)))
            return await (self._form(question) if question.mode == "form" else self._url(question))
        except JsonRpcException:
            return CANCEL

    async def finished(self, question: UrlQuestion) -> bool:
        """Whether the user says that they are done; a message that is merely put away says nothing."""
        import asyncio

        text = f"The server {_named(question)} waits until you are done on {question.host}."
        choice = await self._choose(types.MessageType.Info, text, (_CONTINUE, _GIVE_UP))
        if choice is None:
            await asyncio.Event().wait()
        return choice == _CONTINUE

    async def _url(self, question: UrlQuestion) -> Reply:
        from mcp_lectern.mcp.wire.elicitation import CANCEL, DECLINE, Reply

        words = _words(question.message)
        odd = f" {question.warning}" if question.warning else ""
        text = (
            f"The server {_named(question)} asks you to open a page on {question.host}: {words} — "
            f"The whole address is {question.url} .{odd}"
        )
        kind = types.MessageType.Warning if question.warning else types.MessageType.Info
        opens = f"Open {question.host}"
        choice = await self._choose(kind, text, (opens, _DECLINE))
        if choice != opens:
            return DECLINE if choice == _DECLINE else CANCEL
        params = {"uri": question.url, "external": True}
        shown = await self._lectern.protocol.ask(types.WINDOW_SHOW_DOCUMENT, params)
        success = isinstance(shown, Mapping) and shown.get("success") is True
        return Reply("accept") if success else CANCEL

    async def _form(self, question: FormQuestion) -> Reply:
        from mcp_lectern.mcp.wire.elicitation import CANCEL, DECLINE, Reply

        contents = _buttons(question)
        if contents is None:
            self._lectern.show(
                types.MessageType.Warning,
                f"The server {_named(question)} asks for what this editor cannot show, so that it got no "
                f"answer: {_words(question.message)}",
            )
            return CANCEL
        text = f"The server {_named(question)} asks: {_words(question.message)}"
        choice = await self._choose(types.MessageType.Info, text, (*contents, _DECLINE))
        if choice is None or choice == _DECLINE:
            return DECLINE if choice else CANCEL
        return Reply("accept", contents.get(choice, {}))

    async def _choose(self, kind: types.MessageType, text: str, titles: Sequence[str]) -> str | None:
        """The title of the button that was pressed."""
        params = {"type": kind.value, "message": text, "actions": [{"title": title} for title in titles]}
        choice = await self._lectern.protocol.ask(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
        title = choice.get("title") if isinstance(choice, Mapping) else None
        return title if isinstance(title, str) else None


def _buttons(question: FormQuestion) -> dict[str, dict[str, Any]] | None:
    """What each button would answer; None where buttons cannot answer at all."""
    from mcp_lectern.text.untrusted import single_line

    if not question.fields:
        return {_YES: {}}
    if len(question.fields) > 1:
        return None
    field = question.fields[0]
    if field.kind == "boolean":
        return {_YES: {field.name: True}, _NO: {field.name: False}}
    titles = [single_line(option.title, 60) for option in field.options]
    usable = field.kind == "string" and 0 < len(titles) <= _MOST_BUTTONS
    if not usable or len({*titles, _DECLINE}) <= len(titles):
        return None
    return {title: {field.name: option.value} for title, option in zip(titles, field.options, strict=True)}


def _params(question: Question) -> dict[str, Any]:
    from mcp_lectern.text.untrusted import plain_text

    shared = {"server": question.server, "mode": question.mode}
    words = plain_text(question.message)
    if question.mode == "form":
        return {**shared, "message": words, "schema": dict(question.schema)}
    message = f"{words}\n\n{question.warning}" if question.warning else words
    return {**shared, "message": message, "url": question.url, "host": question.host}


def _reply(answer: Any) -> Reply:
    """The client's answer; anything but the three actions is a cancellation."""
    from mcp_lectern.mcp.wire.elicitation import CANCEL, Reply

    action = answer.get("action") if isinstance(answer, Mapping) else None
    content = answer.get("content") if isinstance(answer, Mapping) else None
    if action == "accept":
        return Reply("accept", content if isinstance(content, Mapping) else None)
    return Reply("decline") if action == "decline" else CANCEL


def _named(question: Question) -> str:
    from mcp_lectern.text.untrusted import single_line

    return f"“{single_line(question.server, 100)}”"


def _words(message: str) -> str:
    from mcp_lectern.text.untrusted import single_line

    return single_line(message, _MESSAGE_LIMIT)

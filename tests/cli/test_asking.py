"""Questions at a terminal, answered by typing; and nobody to ask where there is none."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from typing import Any

import pytest

from mcp_lectern.cli.asking import Terminal, at_terminal
from mcp_lectern.config.inputs import Choice, Input
from mcp_lectern.mcp.wire.elicitation import FormQuestion, Mode, Question, UrlQuestion, question_of

pytestmark = pytest.mark.anyio

MODES: frozenset[Mode] = frozenset({"form", "url"})


def typing(*lines: str) -> Terminal:
    """A person who types these lines and then ends the input."""
    left = list(lines)

    def read(_prompt: str) -> str:
        if not left:
            raise EOFError
        return left.pop(0) + "\n"

    return Terminal(read, lambda prompt: f"hidden {read(prompt)}")


def question(properties: dict[str, Any]) -> Question:
    schema = {"type": "object", "properties": properties}
    return question_of({"message": "Tell \x1b[2J me", "requestedSchema": schema}, "it", MODES)


def page(url: str) -> UrlQuestion:
    found = question_of({"mode": "url", "message": "Sign in", "url": url}, "it", MODES)
    assert isinstance(found, UrlQuestion)
    return found


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    opened: list[str] = []
    remember: Callable[[str], None] = opened.append
    monkeypatch.setattr(webbrowser, "open", remember)
    return opened


async def test_what_is_typed_becomes_what_the_form_asks_for(capsys: pytest.CaptureFixture[str]) -> None:
    form = question(
        {
            "name": {"type": "string"},
            "age": {"type": "integer"},
            "size": {"type": "number"},
            "sure": {"type": "boolean"},
            "some": {"type": "array", "items": {"enum": ["a", "b"]}},
            "none": {"type": "string"},
        }
    )
    reply = await typing("Ada", "36", "1.5", "y", "a, b", "", "yes").answer(form)
    assert reply.action == "accept"
    assert reply.content == {"name": "Ada", "age": 36, "size": 1.5, "sure": True, "some": ["a", "b"]}
    assert isinstance(form, FormQuestion)
    assert not form.problems(form.completed(reply.content))
    said = capsys.readouterr()
    assert said.out == ""
    assert "“it” asks: Tell" in said.err
    assert "\x1b" not in said.err


@pytest.mark.parametrize(
    ("lines", "action"), [(("Ada", "n"), "decline"), (("Ada",), "cancel"), ((), "cancel")]
)
async def test_without_a_yes_nothing_is_sent(lines: tuple[str, ...], action: str) -> None:
    reply = await typing(*lines).answer(question({"name": {"type": "string"}}))
    assert (reply.action, reply.content) == (action, None)


async def test_an_address_is_shown_in_full_and_opened_after_a_yes(
    browser: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = page("https://xn--pypal-4ve.com/in?x=1")
    assert (await typing("").answer(asked)).action == "decline"
    assert (await typing().answer(asked)).action == "cancel"
    assert browser == []
    assert (await typing("y").answer(asked)).action == "accept"
    assert browser == [asked.url]
    said = capsys.readouterr().err
    assert asked.url in said
    assert "a page on xn--pypal-4ve.com" in said
    assert "another alphabet" in said


async def test_the_person_says_when_they_are_done() -> None:
    asked = page("https://example.com/")
    assert await typing("").finished(asked) is True
    assert await typing().finished(asked) is False


async def test_without_a_terminal_there_is_nobody_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert at_terminal() is None


@pytest.mark.parametrize(
    ("wanted", "typed", "value"),
    [
        (Input("key", "The \x1b[2Jkey", password=True), "abc", "hidden abc"),
        (Input("name"), "Ada", "Ada"),
        (Input("name", default="Bob"), "", "Bob"),
        (Input("name"), "", None),
        (Input("where", choices=(Choice("eu", "Europe"), Choice("us", "America"))), "us", "us"),
    ],
)
async def test_what_an_entry_asks_for_is_typed_and_a_secret_is_not_shown(
    wanted: Input, typed: str, value: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await typing(typed).value("it", wanted) == value
    said = capsys.readouterr()
    assert said.out == ""
    assert "“it” asks for" in said.err
    assert "\x1b" not in said.err
    for choice in wanted.choices:
        assert f"{choice.value}: {choice.label}" in said.err


async def test_an_end_of_input_gives_nothing() -> None:
    assert await typing().value("it", Input("name", default="Bob")) is None

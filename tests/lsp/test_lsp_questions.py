"""A server's questions as an editor's user sees them: by ``lectern/elicit``, by buttons, or not at all."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from tests.support.lsp_client import Editor, running
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.anyio

ONE = [{"uri": "a://1", "name": "one", "mimeType": "text/plain"}]
TEXT = {"type": "object", "properties": {"first-name": {"type": "string"}}, "required": ["first-name"]}
YES_NO = {"type": "object", "properties": {"sure": {"type": "boolean"}}}
COLOUR = {
    "type": "object",
    "properties": {"c": {"type": "string", "enum": ["#f00", "#00f"], "enumNames": ["Red", "Blue"]}},
}
NATIVE = {"elicitation": ["form", "url"]}
TELLING = {**NATIVE, "shown": True}
"""An editor that previews documents, and tells which ones a person looks at."""


def form(schema: dict[str, Any], message: str = "Who?") -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def page(url: str) -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"mode": "url", "message": "Sign in", "url": url}}


def asking(folder: Path, question: dict[str, Any], **script: Any) -> ScriptedServer:
    first = {"result": {"resultType": "input_required", "inputRequests": {"q": question}}}
    answers = {"resources/read": [first, {}]}
    return ScriptedServer(
        folder, era="modern", resources=ONE, contents={"a://1": "x"}, answers=answers, **script
    )


def replies(server: ScriptedServer) -> list[Any]:
    reads = [message["params"] for message in server.received("resources/read")]
    return [read["inputResponses"]["q"] for read in reads if "inputResponses" in read]


async def opened(editor: Editor) -> Any:
    return await editor.command("open", server="it", uri="a://1", reveal=False)


@pytest.mark.case("RD-09")
async def test_rd_09_a_form_goes_to_a_client_that_takes_it_and_its_answer_back(tmp_path: Path) -> None:
    with asking(tmp_path, form(TEXT, "Who\u202e?\U000e0041")) as server:
        async with running(tmp_path, {"it": server.entry()}, experimental=NATIVE) as editor:
            editor.elicit = lambda _: {"action": "accept", "content": {"first-name": "Ada"}}
            document = (await opened(editor))["documents"][0]["document"]
            (asked,) = editor.elicited
            assert (asked["server"], asked["mode"], asked["message"]) == ("it", "form", "Who?")
            assert asked["schema"]["required"] == TEXT["required"]
            assert replies(server) == [{"action": "accept", "content": {"first-name": "Ada"}}]
            # What the read that opened it returned is shown, and nobody is asked twice for it.
            assert await editor.content(document) == "x"
            assert len(server.received("resources/read")) == 2
            await opened(editor)
            assert len(server.received("resources/read")) == 3


@pytest.mark.case("RD-09")
@pytest.mark.parametrize("answer", [{"action": "decline"}, {"action": "cancel"}, None, {}, {"action": "ok"}])
async def test_rd_09_who_gives_no_answer_gets_an_error_and_no_empty_document(
    tmp_path: Path, answer: Any
) -> None:
    with asking(tmp_path, form(TEXT)) as server:
        server.change(
            answers={"resources/read": server._script["answers"]["resources/read"][0]}, notify=False
        )
        async with running(tmp_path, {"it": server.entry()}, experimental=NATIVE) as editor:
            editor.elicit = lambda _: answer
            with pytest.raises(JsonRpcException, match="asks something"):
                await opened(editor)
            action = answer["action"] if answer in ({"action": "decline"}, {"action": "cancel"}) else "cancel"
            assert replies(server) == [{"action": action}]
            assert len(editor.elicited) == 1


async def test_an_address_goes_to_a_client_that_takes_it_in_full_with_its_host(tmp_path: Path) -> None:
    url = "https://xn--pypal-4ve.com/in?x=1"
    with asking(tmp_path, page(url)) as server:
        async with running(tmp_path, {"it": server.entry()}, experimental=NATIVE) as editor:
            editor.elicit = lambda _: {"action": "accept"}
            await opened(editor)
            (asked,) = editor.elicited
            assert (asked["url"], asked["host"], asked["mode"]) == (url, "xn--pypal-4ve.com", "url")
            assert "another alphabet" in asked["message"]
            assert replies(server) == [{"action": "accept"}]
            assert not editor.shown


@pytest.mark.parametrize(
    ("schema", "buttons", "press", "answer"),
    [
        (YES_NO, ["Yes", "No", "Decline"], "No", {"action": "accept", "content": {"sure": False}}),
        (COLOUR, ["Red", "Blue", "Decline"], "Blue", {"action": "accept", "content": {"c": "#00f"}}),
        (
            {"type": "object", "properties": {}},
            ["Yes", "Decline"],
            "Yes",
            {"action": "accept", "content": {}},
        ),
        (YES_NO, ["Yes", "No", "Decline"], "Decline", {"action": "decline"}),
        (YES_NO, ["Yes", "No", "Decline"], None, {"action": "cancel"}),
    ],
)
async def test_buttons_serve_what_is_a_question_for_buttons(
    tmp_path: Path, schema: Any, buttons: list[str], press: str | None, answer: Any
) -> None:
    with asking(tmp_path, form(schema, "Are you [sure](command:evil)?")) as server:
        async with running(tmp_path, {"it": server.entry()}) as editor:
            editor.choose = lambda _: press
            await opened(editor)
            (question,) = editor.questions
            assert [action.title for action in question.actions or ()] == buttons
            assert "“it”" in question.message
            assert "](" not in question.message
            assert replies(server) == [answer]


async def test_what_buttons_cannot_serve_is_cancelled_in_words(tmp_path: Path) -> None:
    with asking(tmp_path, form(TEXT)) as server:
        async with running(tmp_path, {"it": server.entry()}) as editor:
            await opened(editor)
            await editor.until(lambda: any("cannot show" in each.message for each in editor.messages))
            assert replies(server) == [{"action": "cancel"}]
            assert not editor.questions


@pytest.mark.parametrize(("press", "action"), [("Open example.com", "accept"), ("Decline", "decline")])
async def test_an_address_is_shown_in_full_and_opened_after_a_yes_alone(
    tmp_path: Path, press: str, action: str
) -> None:
    url = "https://example.com/in?x=1"
    with asking(tmp_path, page(url)) as server:
        async with running(tmp_path, {"it": server.entry()}) as editor:
            editor.choose = lambda _: press
            await opened(editor)
            (question,) = editor.questions
            assert url in question.message
            assert [action.title for action in question.actions or ()] == ["Open example.com", "Decline"]
            assert replies(server) == [{"action": action}]
            opened_pages = [(shown.uri, shown.external) for shown in editor.shown]
            assert opened_pages == ([(url, True)] if action == "accept" else [])


@pytest.mark.case("RD-09")
async def test_rd_09_a_refresh_asks_nobody(tmp_path: Path) -> None:
    with asking(tmp_path, form(YES_NO), capabilities={"resources": {"subscribe": True}}) as server:
        experimental = {**NATIVE, "status": True}
        async with running(tmp_path, {"it": server.entry()}, experimental=experimental) as editor:
            editor.elicit = lambda _: {"action": "accept", "content": {"sure": True}}
            document = (await opened(editor))["documents"][0]["document"]
            editor.open(document, await editor.content(document), "plaintext")
            await editor.until(
                lambda: bool(editor.statuses) and editor.statuses[-1]["it"]["subscriptions"] == 1
            )
            question = server._script["answers"]["resources/read"][0]
            server.change(answers={"resources/read": question}, notify=False)
            server.notify("notifications/resources/updated", {"uri": "a://1"})
            await editor.until(lambda: "nobody" in editor.statuses[-1]["it"].get("lastError", ""))
            assert len(editor.elicited) == 1
            assert await editor.content(document) == "x"


async def test_cancelling_the_command_withdraws_the_question(tmp_path: Path) -> None:
    with asking(tmp_path, form(TEXT)) as server:
        async with running(tmp_path, {"it": server.entry()}, experimental=NATIVE) as editor:
            withdrawn = asyncio.Event()

            async def think(_params: Any) -> Any:
                try:
                    await asyncio.Event().wait()
                finally:
                    withdrawn.set()

            editor.elicit = think
            argument = {"server": "it", "uri": "a://1", "reveal": False}
            params = types.ExecuteCommandParams("lectern.open", [argument])
            future = editor.client.protocol.send_request("workspace/executeCommand", params, msg_id="mine")
            await editor.until(lambda: bool(editor.elicited))
            editor.client.cancel_request(types.CancelParams("mine"))
            with pytest.raises(JsonRpcException):
                await asyncio.wrap_future(future)
            async with asyncio.timeout(10):
                await withdrawn.wait()
            assert replies(server) == []


async def followed(editor: Editor) -> str:
    """What an editor does for a mention, whether the pointer rests on it or it is clicked: the address."""
    await editor.listed()
    uri = editor.open("note.md", "@it:a://1")
    found = await editor.definition(uri, 0, 5)
    assert found is not None
    return found.uri


def show(editor: Editor, *documents: str) -> None:
    editor.client.protocol.notify("lectern/shown", {"documents": list(documents)})


@pytest.mark.case("SEC-01")
@pytest.mark.parametrize("more", [{}, {"fileSystem": True}])
async def test_sec_01_resting_on_a_mention_asks_nobody_and_coming_to_it_does(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    with asking(tmp_path, form(TEXT)) as server:
        server.change(
            answers={"resources/read": [*server._script["answers"]["resources/read"][:1] * 3, {}]},
            notify=False,
        )
        async with running(tmp_path, {"it": server.entry()}, experimental={**TELLING, **more}) as editor:
            editor.elicit = lambda _: {"action": "accept", "content": {"first-name": "Ada"}}
            document = await followed(editor)
            page = await editor.content(document)
            assert "asks something before it answers" in page
            assert not editor.elicited
            # The preview becomes a tab, which fetches nothing anew.
            editor.open(document, page, "plaintext")
            show(editor, document)
            await editor.until(lambda: document in editor.refreshed)
            assert len(editor.elicited) == 1
            assert await editor.content(document) == "x"


async def test_an_editor_that_fetches_only_what_a_person_opens_need_not_tell(tmp_path: Path) -> None:
    with asking(tmp_path, form(TEXT)) as server:
        async with running(tmp_path, {"it": server.entry()}, experimental=NATIVE) as editor:
            editor.elicit = lambda _: {"action": "accept", "content": {"first-name": "Ada"}}
            document = await followed(editor)
            assert await editor.content(document) == "x"
            assert len(editor.elicited) == 1


async def test_who_comes_to_a_document_is_asked_before_it_is_shown(tmp_path: Path) -> None:
    with asking(tmp_path, form(TEXT)) as server:
        experimental = {**TELLING, "fileSystem": True}
        async with running(tmp_path, {"it": server.entry()}, experimental=experimental) as editor:
            editor.elicit = lambda _: {"action": "accept", "content": {"first-name": "Ada"}}
            document = await followed(editor)
            show(editor, document)
            assert await editor.content(document) == "x"
            assert len(editor.elicited) == 1


async def test_a_document_that_comes_to_the_front_while_it_is_read_is_asked_for(tmp_path: Path) -> None:
    with asking(tmp_path, form(TEXT)) as server:
        question = server._script["answers"]["resources/read"][0]
        server.change(
            answers={"resources/read": [{**question, "gate": "go"}, question, question, {}]}, notify=False
        )
        experimental = {**TELLING, "fileSystem": True}
        async with running(tmp_path, {"it": server.entry()}, experimental=experimental) as editor:
            editor.elicit = lambda _: {"action": "accept", "content": {"first-name": "Ada"}}
            document = await followed(editor)
            reading = asyncio.ensure_future(editor.content(document))
            await server.wait_waiting("go")
            show(editor, document)
            server.open("go")
            assert await reading == "x"
            assert len(editor.elicited) == 1


async def over_and_read_again(editor: Editor, argument: dict[str, Any]) -> None:
    """Until the server has heard that a question was declined, whoever reads shares that end."""
    async with asyncio.timeout(20):
        while True:
            try:
                await editor.command("open", **argument)
            except JsonRpcException as error:
                assert "was not answered" in str(error)  # noqa: PT017 - anything else is a failure
            else:
                return


async def test_who_declined_still_has_a_way_from_the_page(tmp_path: Path) -> None:
    with asking(tmp_path, form(TEXT)) as server:
        question = server._script["answers"]["resources/read"][0]
        server.change(answers={"resources/read": [*[question] * 5, {}]}, notify=False)
        async with running(tmp_path, {"it": server.entry()}, experimental=TELLING) as editor:
            editor.elicit = lambda _: {"action": "decline"}
            document = await followed(editor)
            page = await editor.content(document)
            editor.open(document, page, "plaintext")
            show(editor, document)
            await editor.until(lambda: len(editor.elicited) == 1)
            show(editor)
            show(editor, document)
            action = (await editor.actions(document, 0, 0))["Lectern: Read this resource"]
            editor.elicit = lambda _: {"action": "accept", "content": {"first-name": "Ada"}}
            assert isinstance(action, types.Command)
            (argument,) = action.arguments or ()
            await over_and_read_again(editor, dict(argument or {}))
            await editor.until(lambda: document in editor.refreshed)
            assert await editor.content(document) == "x"
            assert len(editor.elicited) == 2


async def test_an_older_server_whose_question_nobody_saw_is_read_again_for_who_comes(tmp_path: Path) -> None:
    ask = {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": form(TEXT)["params"]}
    with ScriptedServer(
        tmp_path,
        resources=ONE,
        contents={"a://1": "x"},
        answers={"resources/read": [{"gate": "first"}, {"gate": "second"}]},
    ) as server:
        async with running(tmp_path, {"it": server.entry()}, experimental=TELLING) as editor:
            editor.elicit = lambda _: {"action": "accept", "content": {"first-name": "Ada"}}
            document = await followed(editor)
            reading = asyncio.ensure_future(editor.content(document))
            await server.wait_waiting("first")
            server.send(ask)
            await server._wait(
                lambda: any(each.get("id") == "q" for each in server.received()), "a reply", 20
            )
            server.open("first")
            text = await reading
            assert text == "x"
            assert not editor.elicited
            editor.open(document, text, "plaintext")
            show(editor, document)
            await server.wait_waiting("second")
            server.send({**ask, "id": "again"})
            await editor.until(lambda: len(editor.elicited) == 1)
            server.open("second")
            await editor.until(lambda: document in editor.refreshed)

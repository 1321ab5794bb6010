"""Servers that ask before they answer a read: in rounds, by a request of their own, or by an address."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest
from tests.support.http_mcp import HttpMcp, in_turn
from tests.support.http_server import HttpServer, Request
from tests.support.http_server import Reply as HttpReply
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.mcp.connect import Connection, Timing
from mcp_lectern.mcp.errors import InputRequired, InvalidResult, McpError, RequestTimeout, ServerError
from mcp_lectern.mcp.wire.elicitation import CANCEL, DECLINE, FormQuestion, Mode, Question, Reply, UrlQuestion
from mcp_lectern.mcp.wire.resources import ReadResult, TextItem

from .conftest import Connect, RecordingObserver, Script

pytestmark = pytest.mark.anyio
Reach = Callable[..., AbstractAsyncContextManager[Connection]]

URI = "a://1"
BOTH: frozenset[Mode] = frozenset({"form", "url"})
META = "io.modelcontextprotocol/clientCapabilities"
NAME = {
    "message": "Who are you?",
    "requestedSchema": {
        "type": "object",
        "properties": {"name": {"type": "string", "minLength": 2}},
        "required": ["name"],
    },
}
PAGE = {"mode": "url", "message": "Sign in", "url": "https://example.com/in?a=b", "elicitationId": "e1"}
FORM = {"method": "elicitation/create", "params": {"mode": "form", **NAME}}
ADA = Reply("accept", {"name": "Ada"})


class Person:
    """Answers in the order given, and remembers what was asked; with ``gate`` only when told to."""

    def __init__(self, *replies: Reply, modes: frozenset[Mode] = BOTH, slow: bool = False) -> None:
        self.modes = modes
        self.asked: list[Question] = []
        self.open = 0
        self.most_open = 0
        self.is_asked = anyio.Event()
        self.may_answer = anyio.Event()
        self.is_done = anyio.Event()
        self._replies = list(replies)
        if not slow:
            self.may_answer.set()

    async def answer(self, question: Question) -> Reply:
        self.asked.append(question)
        self.open += 1
        self.most_open = max(self.open, self.most_open)
        self.is_asked.set()
        try:
            await self.may_answer.wait()
        finally:
            self.open -= 1
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    async def finished(self, question: UrlQuestion) -> bool:
        await self.is_done.wait()
        return True


def required(requests: Any = None, **more: Any) -> dict[str, Any]:
    members = {} if requests is None else {"inputRequests": requests}
    return {"result": {"resultType": "input_required", **members, **more}}


def reads(server: ScriptedServer) -> list[dict[str, Any]]:
    """The parameters of each read, without ``_meta``."""
    messages = server.received("resources/read")
    return [{k: v for k, v in message["params"].items() if k != "_meta"} for message in messages]


def text(result: ReadResult) -> str:
    (item,) = result.items
    assert isinstance(item, TextItem)
    return item.text


# 2026-07-28: in rounds.


@pytest.mark.case("RD-09")
async def test_rd_09_the_answer_and_the_untouched_state_go_back_with_the_same_read(
    script: Script, connected: Connect
) -> None:
    state = 'opaque: "\\u0000" \U0001f600 {"a": [1.0, 1e2]}'
    answers = [required({"q 1": FORM}, requestState=state), {}]
    server = script(era="modern", answers={"resources/read": answers}, contents={URI: "x"})
    person = Person(ADA)
    async with connected(server, answers=person) as connection:
        result = await connection.read(URI, asked=True)
    assert text(result) == "x"
    assert result.answered
    assert reads(server) == [
        {"uri": URI},
        {"uri": URI, "requestState": state, "inputResponses": {"q 1": ADA.to_json()}},
    ]
    first, second = server.received("resources/read")
    assert first["id"] != second["id"]
    (question,) = person.asked
    assert isinstance(question, FormQuestion)
    assert (question.server, question.message) == ("scripted", "Who are you?")
    assert question.schema == NAME["requestedSchema"]


@pytest.mark.case("RD-09")
async def test_rd_09_without_a_state_none_is_sent_and_an_old_one_is_not_kept(
    script: Script, connected: Connect
) -> None:
    rounds = [
        required({"a": FORM}, requestState="s1"),
        required({"b": FORM}),
        required(requestState="s3"),
        {},
    ]
    server = script(era="modern", answers={"resources/read": rounds}, contents={URI: "x"})
    async with connected(server, answers=Person(ADA)) as connection:
        assert text(await connection.read(URI, asked=True)) == "x"
    assert reads(server)[1:] == [
        {"uri": URI, "requestState": "s1", "inputResponses": {"a": ADA.to_json()}},
        {"uri": URI, "inputResponses": {"b": ADA.to_json()}},
        {"uri": URI, "requestState": "s3"},
    ]


@pytest.mark.case("RD-09")
async def test_rd_09_rounds_have_an_end(script: Script, connected: Connect) -> None:
    server = script(era="modern", answers={"resources/read": required({"a": FORM})})
    async with connected(server, answers=Person(ADA)) as connection:
        with pytest.raises(InputRequired, match="goes on asking"):
            await connection.read(URI, asked=True)
        assert await connection.list_resources()
    assert len(reads(server)) == 10


@pytest.mark.case("RD-09")
async def test_rd_09_a_read_asks_so_much_and_no_more_in_all_its_rounds(
    script: Script, connected: Connect
) -> None:
    many = required({f"q{number}": FORM for number in range(4)})
    server = script(era="modern", answers={"resources/read": many})
    person = Person(ADA)
    async with connected(server, answers=person) as connection:
        with pytest.raises(InputRequired, match="goes on asking after 10 questions"):
            await connection.read(URI, asked=True)
    assert len(person.asked) == 8


@pytest.mark.case("RD-09")
async def test_rd_09_a_read_that_is_only_to_be_made_again_is_so_ever_later(
    script: Script, connected: Connect
) -> None:
    rounds = [required(requestState="s")] * 3
    server = script(era="modern", answers={"resources/read": [*rounds, {}]}, contents={URI: "x"})
    async with connected(server) as connection:
        began = anyio.current_time()
        assert text(await connection.read(URI)) == "x"
        assert anyio.current_time() - began >= 0.1 + 0.2 + 0.4


@pytest.mark.case("RD-09")
async def test_rd_09_all_rounds_of_a_read_share_its_time(reach: Reach) -> None:
    mcp, rounds = HttpMcp("modern"), 0

    async def slow(request: Request, reply: HttpReply) -> None:
        nonlocal rounds
        rounds += 1
        await anyio.sleep(0.4)
        await reply.result(request, required(requestState="s")["result"])

    mcp.on["resources/read"] = slow
    async with HttpServer(mcp) as server, reach(server, timing=Timing(request=5, total=1)) as connection:
        with pytest.raises(RequestTimeout, match=r"within 1 s.*timeouts\.total"):
            await connection.read(URI, asked=True)
    assert 1 < rounds <= 3


@pytest.mark.case("RD-09")
@pytest.mark.parametrize("reply", [DECLINE, CANCEL])
async def test_rd_09_who_does_not_answer_is_not_asked_again(
    reply: Reply, script: Script, connected: Connect
) -> None:
    server = script(era="modern", answers={"resources/read": required({"a": FORM, "b": FORM})})
    person = Person(reply)
    async with connected(server, answers=person) as connection:
        with pytest.raises(InputRequired) as error:
            await connection.read(URI, asked=True)
    assert error.value.declined
    assert len(person.asked) == 1
    assert reads(server)[1:] == [
        {"uri": URI, "inputResponses": {"a": reply.to_json(), "b": CANCEL.to_json()}}
    ]


@pytest.mark.case("RD-09")
async def test_rd_09_a_read_that_no_person_caused_asks_nobody(script: Script, connected: Connect) -> None:
    server = script(
        era="modern", answers={"resources/read": [required({"a": FORM}), {}]}, contents={URI: "x"}
    )
    person = Person(ADA)
    async with connected(server, answers=person) as connection:
        assert text(await connection.read(URI)) == "x"
    assert not person.asked
    assert reads(server)[1] == {"uri": URI, "inputResponses": {"a": {"action": "cancel"}}}


@pytest.mark.case("RD-09")
@pytest.mark.parametrize(
    ("requests", "error"),
    [
        ({"a": FORM, "b": {"method": "sampling/createMessage", "params": {}}}, InputRequired),
        ({"a": {"method": "roots/list"}}, InputRequired),
        ({"a": {"method": 7}}, InputRequired),
        ({"a": {"method": "elicitation/create", "params": {"message": "no schema"}}}, InputRequired),
        ({"a": {"method": "elicitation/create", "params": {**PAGE, "url": "http://x.y"}}}, InputRequired),
        ({str(number): FORM for number in range(11)}, InputRequired),
        ([FORM], InvalidResult),
        ({"a": "who?"}, InvalidResult),
        ("who?", InvalidResult),
        (None, InvalidResult),
    ],
)
async def test_rd_09_what_cannot_be_asked_fails_the_read_and_shows_nothing(
    requests: Any, error: type[McpError], script: Script, connected: Connect
) -> None:
    server = script(era="modern", answers={"resources/read": required(requests)})
    person = Person(ADA)
    async with connected(server, answers=person) as connection:
        with pytest.raises(error, match="scripted"):
            await connection.read(URI, asked=True)
    assert not person.asked
    assert len(reads(server)) == 1


@pytest.mark.case("RD-09")
async def test_rd_09_a_mode_that_was_not_declared_is_not_shown(script: Script, connected: Connect) -> None:
    page = {"a": {"method": "elicitation/create", "params": PAGE}}
    server = script(era="modern", answers={"resources/read": required(page)})
    person = Person(ADA, modes=frozenset({"form"}))
    async with connected(server, answers=person) as connection:
        with pytest.raises(InputRequired, match="not offered"):
            await connection.read(URI, asked=True)
    assert not person.asked


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize(
    ("person", "declared"),
    [
        (None, None),
        (Person(ADA, modes=frozenset()), None),
        (Person(ADA, modes=frozenset({"form"})), {"form": {}}),
        (Person(ADA), {"form": {}, "url": {}}),
    ],
)
async def test_only_what_is_served_is_declared(
    era: str, person: Person | None, declared: Any, script: Script, connected: Connect
) -> None:
    server = script(era=era)
    async with connected(server, answers=person) as connection:
        await connection.list_resources()
    if era == "legacy":
        sent = [server.received("initialize")[0]["params"]["capabilities"]]
    else:
        sent = [message["params"]["_meta"][META] for message in server.received() if "id" in message]
        assert len(sent) >= 2
    assert all(capabilities.get("elicitation") == declared for capabilities in sent)
    assert all("sampling" not in capabilities for capabilities in sent)


async def test_an_answer_that_does_not_fit_is_asked_for_again_with_the_reason(
    script: Script, connected: Connect
) -> None:
    server = script(
        era="modern", answers={"resources/read": [required({"a": FORM}), {}]}, contents={URI: "x"}
    )
    person = Person(Reply("accept", {"name": "A"}), Reply("accept", {"name": "Ada", "extra": "secret"}))
    async with connected(server, answers=person) as connection:
        await connection.read(URI, asked=True)
    assert "at least 2" in person.asked[1].message
    assert reads(server)[1]["inputResponses"] == {"a": ADA.to_json()}


async def test_an_answer_that_never_fits_is_cancelled(script: Script, connected: Connect) -> None:
    server = script(
        era="modern", answers={"resources/read": [required({"a": FORM}), {}]}, contents={URI: "x"}
    )
    person = Person(Reply("accept", {}))
    async with connected(server, answers=person) as connection:
        await connection.read(URI, asked=True)
    assert len(person.asked) == 3
    assert reads(server)[1]["inputResponses"] == {"a": {"action": "cancel"}}


# Up to 2025-11-25: by a request of the server.


def asking(*questions: dict[str, Any]) -> dict[str, Any]:
    """A read during which the server asks these, and which it answers when the test opens the gate."""
    requests = [
        {"request": {"jsonrpc": "2.0", "id": f"q{number}", "method": "elicitation/create", "params": params}}
        for number, params in enumerate(questions)
    ]
    return {"before": [*requests, {"gate": "go"}]}


async def replied(server: ScriptedServer, identity: str) -> dict[str, Any]:
    """The client's response to the server's request, and the read goes on."""

    def found() -> list[dict[str, Any]]:
        return [each for each in server.received() if each.get("id") == identity and "method" not in each]

    await server._wait(lambda: bool(found()), f"a response to {identity}", 20)
    return found()[0]


@pytest.mark.case("RD-09")
async def test_rd_09_a_question_during_a_read_is_put_and_answered(script: Script, connected: Connect) -> None:
    server = script(answers={"resources/read": asking(NAME)}, contents={URI: "x"})
    person = Person(ADA)
    results: list[ReadResult] = []
    async with connected(server, answers=person) as connection, anyio.create_task_group() as tasks:
        tasks.start_soon(read_into, connection, results)
        assert (await replied(server, "q0"))["result"] == ADA.to_json()
        server.open("go")
    assert text(results[0]) == "x"
    assert results[0].answered


@pytest.mark.case("RD-09")
async def test_rd_09_one_read_may_ask_so_much_and_no_more(script: Script, connected: Connect) -> None:
    server = script(answers={"resources/read": asking(*[NAME] * 11)}, contents={URI: "x"})
    person = Person(ADA)
    results: list[ReadResult] = []
    async with connected(server, answers=person) as connection, anyio.create_task_group() as tasks:
        tasks.start_soon(read_into, connection, results)
        replies = [(await replied(server, f"q{number}"))["result"] for number in range(11)]
        server.open("go")
    assert sum(reply == ADA.to_json() for reply in replies) == 10
    assert sum(reply == CANCEL.to_json() for reply in replies) == 1
    assert len(person.asked) == 10


async def read_into(connection: Connection, results: list[ReadResult]) -> None:
    results.append(await connection.read(URI, asked=True))


@pytest.mark.case("RD-09")
async def test_rd_09_a_question_without_a_read_that_a_person_caused_is_cancelled(
    script: Script, connected: Connect
) -> None:
    server = script(answers={"resources/read": asking(NAME)}, contents={URI: "x"})
    person = Person(ADA)
    stray = {"jsonrpc": "2.0", "id": "stray", "method": "elicitation/create", "params": NAME}
    async with connected(server, answers=person) as connection, anyio.create_task_group() as tasks:
        server.send(stray)
        assert (await replied(server, "stray"))["result"] == {"action": "cancel"}
        tasks.start_soon(connection.read, URI)
        assert (await replied(server, "q0"))["result"] == {"action": "cancel"}
        server.open("go")
    assert not person.asked


async def test_questions_come_one_at_a_time(script: Script, connected: Connect) -> None:
    server = script(answers={"resources/read": asking(NAME, NAME, NAME)}, contents={URI: "x"})
    person = Person(ADA, slow=True)
    results: list[ReadResult] = []
    async with connected(server, answers=person) as connection, anyio.create_task_group() as tasks:
        tasks.start_soon(read_into, connection, results)
        await server.wait_waiting("go")
        await person.is_asked.wait()
        assert len(person.asked) == 1
        person.may_answer.set()
        for number in range(3):
            assert (await replied(server, f"q{number}"))["result"] == ADA.to_json()
        server.open("go")
    assert (len(person.asked), person.most_open) == (3, 1)


async def test_the_time_of_a_read_stands_still_while_a_person_thinks(
    script: Script, connected: Connect
) -> None:
    server = script(answers={"resources/read": asking(NAME)}, contents={URI: "x"})
    person = Person(ADA, slow=True)
    results: list[ReadResult] = []
    timing = Timing(request=0.5, total=1)
    async with (
        connected(server, answers=person, timing=timing) as connection,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(read_into, connection, results)
        await person.is_asked.wait()
        began = anyio.current_time()
        while anyio.current_time() < began + 1.5:
            await connection.list_templates()
        person.may_answer.set()
        await replied(server, "q0")
        server.open("go")
    assert text(results[0]) == "x"


async def test_a_read_that_is_given_up_withdraws_its_question(script: Script, connected: Connect) -> None:
    server = script(answers={"resources/read": asking(NAME)}, contents={URI: "x"})
    person = Person(ADA, slow=True)
    async with connected(server, answers=person) as connection:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read_into, connection, [])
            await person.is_asked.wait()
            tasks.cancel_scope.cancel()
        assert (await replied(server, "q0"))["result"] == {"action": "cancel"}
        await server.wait_received("notifications/cancelled")
        assert person.open == 0


async def test_a_server_may_withdraw_its_question(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(answers={"resources/read": asking(NAME)}, contents={URI: "x"})
    person = Person(ADA, slow=True)
    results: list[ReadResult] = []
    async with connected(server, answers=person) as connection, anyio.create_task_group() as tasks:
        tasks.start_soon(read_into, connection, results)
        await person.is_asked.wait()
        server.notify("notifications/cancelled", {"requestId": "q0", "reason": "never mind"})
        await observer.wait_for(lambda: observer.logged("withdrew its question") == 1)
        server.open("go")
    assert text(results[0]) == "x"
    assert person.open == 0
    assert not [each for each in server.received() if each.get("id") == "q0"]


@pytest.mark.parametrize(
    "params",
    [
        {**PAGE, "url": "javascript:alert(1)"},
        {**PAGE, "url": "http://example.com"},
        {"message": "no schema"},
        {"mode": "voice", "message": "hm"},
        {},
    ],
)
async def test_what_must_not_be_put_is_refused_and_the_read_goes_on(
    params: dict[str, Any], script: Script, connected: Connect
) -> None:
    server = script(answers={"resources/read": asking(params)}, contents={URI: "x"})
    person = Person(ADA)
    results: list[ReadResult] = []
    async with connected(server, answers=person) as connection, anyio.create_task_group() as tasks:
        tasks.start_soon(read_into, connection, results)
        assert (await replied(server, "q0"))["error"]["code"] == -32602
        server.open("go")
    assert not person.asked
    assert text(results[0]) == "x"


@pytest.mark.parametrize("method", ["elicitation/create", "sampling/createMessage", "tools/list"])
async def test_what_was_not_offered_is_an_unknown_method(
    method: str, script: Script, connected: Connect
) -> None:
    server = script()
    async with connected(server):
        server.send({"jsonrpc": "2.0", "id": "q", "method": method, "params": NAME})
        assert (await replied(server, "q"))["error"]["code"] == -32601


async def test_the_stateless_era_writes_no_responses(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(era="modern", answers={"resources/read": asking(NAME)}, contents={URI: "x"})
    person = Person(ADA)
    results: list[ReadResult] = []
    async with connected(server, answers=person) as connection, anyio.create_task_group() as tasks:
        tasks.start_soon(read_into, connection, results)
        await observer.wait_for(lambda: observer.logged("skipped the request elicitation/create") == 1)
        server.open("go")
    assert text(results[0]) == "x"
    assert not person.asked
    assert all("method" in message for message in server.received())


# 2025-11-25: by an address.


def elsewhere(*pages: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": -32042, "message": "more is needed", "data": {"elicitations": list(pages)}}}


def by_the_server(server: ScriptedServer, _person: Person) -> None:
    for identity in ("unknown", "e1", "e1"):
        server.notify("notifications/elicitation/complete", {"elicitationId": identity})


def by_the_person(_server: ScriptedServer, person: Person) -> None:
    person.is_done.set()


@pytest.mark.parametrize("done", [by_the_server, by_the_person])
async def test_an_address_is_opened_and_the_read_made_again_when_all_is_done_there(
    done: Callable[[ScriptedServer, Person], None], script: Script, connected: Connect
) -> None:
    server = script(answers={"resources/read": [elsewhere(PAGE), {}]}, contents={URI: "x"})
    person = Person(Reply("accept"))
    results: list[ReadResult] = []
    async with connected(server, answers=person) as connection, anyio.create_task_group() as tasks:
        tasks.start_soon(read_into, connection, results)
        await person.is_asked.wait()
        await connection.list_templates()
        assert len(reads(server)) == 1
        done(server, person)
    assert text(results[0]) == "x"
    assert reads(server) == [{"uri": URI}, {"uri": URI}]
    (question,) = person.asked
    assert isinstance(question, UrlQuestion)
    assert (question.url, question.host, question.warning) == (PAGE["url"], "example.com", None)


async def test_a_read_sends_a_person_to_so_many_addresses_and_no_more_in_all_its_rounds(
    script: Script, connected: Connect
) -> None:
    pages = [{**PAGE, "elicitationId": f"e{number}"} for number in range(4)]
    server = script(answers={"resources/read": elsewhere(*pages)})
    person = Person(Reply("accept"))
    person.is_done.set()
    async with connected(server, answers=person) as connection:
        with pytest.raises(InputRequired, match="goes on asking after 10 questions"):
            await connection.read(URI, asked=True)
    assert len(person.asked) == 8


@pytest.mark.parametrize(
    ("answer", "person", "error"),
    [
        (elsewhere(PAGE), Person(DECLINE), InputRequired),
        (elsewhere({**PAGE, "url": "http://example.com"}), Person(ADA), InputRequired),
        (elsewhere(NAME), Person(ADA), InvalidResult),
        (elsewhere(), Person(ADA), ServerError),
        (elsewhere(PAGE), None, ServerError),
        ({"error": {"code": -32042, "message": "more is needed"}}, Person(ADA), ServerError),
    ],
)
async def test_an_address_that_is_not_opened_fails_the_read(
    answer: dict[str, Any],
    person: Person | None,
    error: type[McpError],
    script: Script,
    connected: Connect,
) -> None:
    server = script(answers={"resources/read": answer})
    async with connected(server, answers=person) as connection:
        with pytest.raises(error):
            await connection.read(URI, asked=True)
    assert len(reads(server)) == 1


async def test_the_time_of_a_read_stands_still_until_the_server_says_that_all_is_done_elsewhere(
    script: Script, connected: Connect
) -> None:
    server = script(answers={"resources/read": asking(PAGE)}, contents={URI: "x"})
    results: list[ReadResult] = []
    timing = Timing(request=0.5, total=5)
    async with (
        connected(server, answers=Person(Reply("accept")), timing=timing) as connection,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(read_into, connection, results)
        await replied(server, "q0")
        began = anyio.current_time()
        while anyio.current_time() < began + 1.0:
            await connection.list_templates()
        server.notify("notifications/elicitation/complete", {"elicitationId": "e1"})
        server.open("go")
    assert text(results[0]) == "x"


@pytest.mark.case("RD-09")
@pytest.mark.parametrize("over", ["stdio", "http"])
async def test_rd_09_a_state_that_cannot_be_sent_back_fails_the_read(
    script: Script, connected: Connect, reach: Reach, over: str
) -> None:
    deep = "[" * 900 + "]" * 900
    text = '{"jsonrpc": "2.0", "id": %d, "result": {"resultType": "input_required", "requestState": %s}}'

    async def read(request: Request, reply: HttpReply) -> None:
        await reply.send(200, text % (request.message["id"], deep), content_type="application/json")

    mcp = HttpMcp("modern")
    mcp.on["resources/read"] = in_turn(read, mcp.serve)
    answers = {"resources/read": [{"raw": text.replace("%d", "$ID") % deep + "\n"}, {}]}
    server = script(era="modern", answers=answers, contents={"memo://a": "x"})
    async with (
        HttpServer(mcp) as remote,
        connected(server) if over == "stdio" else reach(remote) as connection,
    ):
        with pytest.raises(InvalidResult, match="nested too deeply"):
            await connection.read("memo://a")
        assert (await connection.read("memo://a")).items

"""The sample server over real pipes, spoken to line by line and by the official SDK's client."""

from __future__ import annotations

import base64
import json
import struct
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.subscriptions import ResourceUpdated

COMMAND = [sys.executable, "-P", "-m", "mcp_lectern", "demo-server"]
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SERVER = str(Path(__file__).parents[2] / "server")
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


class Pipe:
    """A running server and its two ends; ``next`` waits for a line, the test's own timeout bounds it."""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen([*COMMAND, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.count = 0

    def send(self, message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(
            (message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n"
        )
        self.process.stdin.flush()

    def next(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, **params: Any) -> Any:
        self.count += 1
        self.send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        answer = self.next()
        assert answer["id"] == self.count
        return answer.get("result") or answer.get("error") or {}

    def modern(self, method: str, **params: Any) -> Any:
        return self.ask(method, _meta=META, **params)

    def handshake(self, version: str = "2025-11-25") -> Any:
        result = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo={})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    def end(self) -> int:
        self.process.communicate(timeout=10)
        return self.process.returncode


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    running = Pipe("--tick", "0.05")
    yield running
    running.end()


def everything(pipe: Pipe, method: str, key: str, **params: Any) -> list[list[dict[str, Any]]]:
    pages, cursor = [], {}
    while True:
        result = pipe.ask(method, **params, **cursor)
        pages.append(result[key])
        if "nextCursor" not in result:
            return pages
        cursor = {"cursor": result["nextCursor"]}


def test_it_ends_with_its_input_and_says_nothing_unasked() -> None:
    pipe = Pipe("--tick", "0")
    out, _ = pipe.process.communicate(timeout=10)
    assert (out, pipe.process.returncode) == (b"", 0)


def test_discover_names_the_modern_version_and_carries_caching_hints(pipe: Pipe) -> None:
    result = pipe.modern("server/discover")
    assert result["resultType"] == "complete"
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["capabilities"] == {
        "resources": {"subscribe": True, "listChanged": True},
        "completions": {},
    }
    assert result["ttlMs"] > 0
    assert result["cacheScope"] == "public"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "lectern-tour"


@pytest.mark.parametrize("version", ["1999-01-01", "2025-11-25", 7, ["2026-07-28"]])
def test_an_unknown_version_is_refused_with_the_known_ones(pipe: Pipe, version: Any) -> None:
    error = pipe.ask("resources/list", _meta={**META, "io.modelcontextprotocol/protocolVersion": version})
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": str(version)}


def test_a_request_without_metadata_or_handshake_is_refused(pipe: Pipe) -> None:
    assert pipe.ask("resources/list")["code"] == -32602
    assert (
        pipe.ask("resources/list", _meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"})["code"]
        == -32602
    )


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_the_handshake_agrees_on_every_older_version(pipe: Pipe, version: str) -> None:
    assert pipe.handshake(version)["protocolVersion"] == version
    result = pipe.ask("resources/list")
    assert not {"resultType", "ttlMs", "cacheScope"} & set(result)


@pytest.mark.parametrize("asked", ["2099-01-01", "2026-07-28", None, 5])
def test_the_handshake_offers_its_newest_version_for_any_other(pipe: Pipe, asked: Any) -> None:
    assert pipe.handshake(asked)["protocolVersion"] == "2025-11-25"


def test_lists_come_in_several_pages_and_repeat_nothing(pipe: Pipe) -> None:
    pages = everything(pipe, "resources/list", "resources", _meta=META)
    uris = [entry["uri"] for page in pages for entry in page]
    assert len(pages) >= 3
    assert len(uris) == len(set(uris))
    assert uris[0] == "tour://welcome"


@pytest.mark.parametrize("cursor", ["", "from--1", "from-99999", "from-٣", "p2", 4, None])
def test_a_cursor_of_somebody_else_is_refused(pipe: Pipe, cursor: Any) -> None:
    assert pipe.modern("resources/list", cursor=cursor)["code"] == -32602


def test_every_listed_resource_can_be_read_and_keeps_its_promises(pipe: Pipe) -> None:
    for page in everything(pipe, "resources/list", "resources", _meta=META):
        for entry in page:
            contents = pipe.modern("resources/read", uri=entry["uri"])["contents"]
            assert contents
            assert entry["name"]
            assert entry["title"]
            assert entry["description"]
            assert 0 <= entry["annotations"]["priority"] <= 1
            if "mimeType" in entry:
                assert {item["mimeType"] for item in contents} == {entry["mimeType"]}
                assert {item["uri"] for item in contents} == {entry["uri"]}
            if "size" in entry:
                assert entry["size"] == sum(len(data_of(item)) for item in contents)


def data_of(item: dict[str, Any]) -> bytes:
    return base64.b64decode(item["blob"], validate=True) if "blob" in item else item["text"].encode()


def test_the_picture_is_a_png_of_the_size_it_says(pipe: Pipe) -> None:
    (item,) = pipe.modern("resources/read", uri="tour://picture")["contents"]
    data = data_of(item)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", data[16:24]) == (320, 260)


def test_the_parcel_holds_text_json_and_bytes(pipe: Pipe) -> None:
    contents = pipe.modern("resources/read", uri="tour://parcel")["contents"]
    assert [item["mimeType"] for item in contents] == ["text/markdown", "application/json", "image/png"]
    assert len({item["uri"] for item in contents}) == 3
    assert json.loads(contents[1]["text"])["stamp"] == "image"


@pytest.mark.parametrize(("handshake", "code"), [(False, -32602), (True, -32002)])
def test_a_missing_resource_is_refused_in_the_era_s_own_code(pipe: Pipe, handshake: bool, code: int) -> None:
    if handshake:
        pipe.handshake()
    ask = pipe.ask if handshake else pipe.modern
    error = ask("resources/read", uri="tour://no-such-page")
    assert (error["code"], error["data"]) == (code, {"uri": "tour://no-such-page"})


@pytest.mark.parametrize("uri", [None, 7, ["tour://welcome"], {}])
def test_a_uri_that_is_no_text_is_refused(pipe: Pipe, uri: Any) -> None:
    assert pipe.modern("resources/read", uri=uri)["code"] == -32602


def test_a_template_s_values_lead_to_something_readable(pipe: Pipe) -> None:
    keys = "tour://keys/{editor}/{action}"
    editors = complete(pipe, keys, "editor", "")
    assert "VS Code" in editors
    for editor in editors:
        for action in complete(pipe, keys, "action", "", {"editor": editor}):
            uri = f"tour://keys/{editor.replace(' ', '%20')}/{action}"
            assert pipe.modern("resources/read", uri=uri)["contents"][0]["text"]


def test_values_depend_on_what_is_typed_and_on_the_arguments_before(pipe: Pipe) -> None:
    keys = "tour://keys/{editor}/{action}"
    assert complete(pipe, keys, "editor", "vs") == ["VS Code"]
    assert "open" in complete(pipe, keys, "action", "", {"editor": "VS Code"})
    assert "open" not in complete(pipe, keys, "action", "", {"editor": "Emacs"})
    assert "open" in complete(pipe, keys, "action", "", {"editor": ["Emacs"]})


@pytest.mark.parametrize(
    "params",
    [
        {"ref": {"uri": "tour://x"}, "argument": {"name": "editor", "value": ""}},
        {"ref": {"uri": "tour://glossary/{term}"}, "argument": {"name": "nothing", "value": ""}},
        {"ref": {"uri": "tour://glossary/{term}"}, "argument": {"name": "term"}},
        {"ref": 3, "argument": []},
        {},
    ],
)
def test_a_completion_of_nothing_known_is_refused(pipe: Pipe, params: dict[str, Any]) -> None:
    assert pipe.modern("completion/complete", **params)["code"] == -32602


def complete(pipe: Pipe, template: str, name: str, value: str, context: Any = None) -> list[str]:
    more = {"context": {"arguments": context}} if context else {}
    reference = {"type": "ref/resource", "uri": template}
    argument = {"name": name, "value": value}
    values: list[str] = pipe.modern("completion/complete", ref=reference, argument=argument, **more)[
        "completion"
    ]["values"]
    return values


def test_a_stream_is_acknowledged_first_then_told_of_the_clock_until_cancelled(pipe: Pipe) -> None:
    wanted = {"resourceSubscriptions": ["tour://clock", "tour://nowhere", 7], "toolsListChanged": True}
    pipe.send({"jsonrpc": "2.0", "id": "s", "method": "subscriptions/listen",
               "params": {"_meta": META, "notifications": wanted}})  # fmt: skip
    acknowledged = pipe.next()
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"] == {
        "_meta": {SUBSCRIPTION: "s"},
        "notifications": {"resourceSubscriptions": ["tour://clock"]},
    }
    updated = pipe.next()
    assert updated["method"] == "notifications/resources/updated"
    assert updated["params"] == {"_meta": {SUBSCRIPTION: "s"}, "uri": "tour://clock"}
    pipe.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "s"}})
    assert after(pipe, 3) == []


def after(pipe: Pipe, ticks: int) -> list[Any]:
    """What is sent unasked while the clock moves ``ticks`` times; the reads themselves are answered."""
    first, unasked = None, []
    while True:
        pipe.send(
            {
                "jsonrpc": "2.0",
                "id": "r",
                "method": "resources/read",
                "params": {"_meta": META, "uri": "tour://clock"},
            }
        )
        while (answer := pipe.next()).get("id") != "r":
            unasked.append(answer)
        times = answer["result"]["contents"][0]["text"].split("changed ")[1].split(" ")[0]
        count = 1 if times == "once" else int(times)
        if first is None:
            first, unasked = count, []
        if count >= first + ticks:
            return unasked


def test_a_handshake_subscription_lasts_until_it_is_ended(pipe: Pipe) -> None:
    pipe.handshake()
    assert pipe.ask("resources/subscribe", uri="tour://clock") == {}
    assert pipe.next() == {
        "jsonrpc": "2.0",
        "method": "notifications/resources/updated",
        "params": {"uri": "tour://clock"},
    }
    pipe.send(
        {"jsonrpc": "2.0", "id": "u", "method": "resources/unsubscribe", "params": {"uri": "tour://clock"}}
    )
    while pipe.next().get("id") != "u":
        pass
    assert after(pipe, 3) == []


def test_subscribing_to_nothing_is_refused(pipe: Pipe) -> None:
    pipe.handshake()
    assert pipe.ask("resources/subscribe", uri="tour://nowhere")["code"] == -32002


def test_the_journal_grows_and_says_so_in_both_eras() -> None:
    pipe = Pipe("--tick", "0.02", "--journal", "0.1")
    pipe.handshake()
    pipe.send({"jsonrpc": "2.0", "id": "s", "method": "subscriptions/listen",
               "params": {"_meta": META, "notifications": {"resourcesListChanged": True}}})  # fmt: skip
    notices = [pipe.next() for _ in range(3)]
    changed = [notice for notice in notices if notice["method"] == "notifications/resources/list_changed"]
    assert [notice.get("params") for notice in changed][:2] in (
        [None, {"_meta": {SUBSCRIPTION: "s"}}],
        [None, None],
    )
    pipe.send(
        {"jsonrpc": "2.0", "id": "r", "method": "resources/read", "params": {"uri": "tour://journal/1"}}
    )
    while (answer := pipe.next()).get("id") != "r":
        pass
    assert "page 1" in answer["result"]["contents"][0]["text"]
    pipe.end()


@pytest.mark.parametrize("line", [b"{", b"[" * 100_000, b"1" * 5000, b"\xff\xfe"])
def test_what_is_not_json_is_answered_and_survived(pipe: Pipe, line: bytes) -> None:
    pipe.send(line)
    assert pipe.next()["error"]["code"] == -32700
    assert pipe.modern("server/discover")["supportedVersions"]


NO_REQUESTS = [
    7,
    None,
    [],
    "x",
    {},
    {"id": 1},
    {"method": 5, "id": 1},
    {"method": "ping", "id": None},
    {"method": "ping", "id": True},
    [{"method": "ping", "id": 1}],
]


@pytest.mark.parametrize("message", NO_REQUESTS)
def test_what_is_no_request_is_answered_and_survived(pipe: Pipe, message: Any) -> None:
    pipe.send(message)
    assert pipe.next()["error"]["code"] == -32600
    assert pipe.modern("server/discover")["supportedVersions"]


def test_responses_and_unknown_notices_get_no_answer(pipe: Pipe) -> None:
    pipe.send({"jsonrpc": "2.0", "id": 1, "result": {}})
    pipe.send({"jsonrpc": "2.0", "method": "notifications/nothing", "params": [1]})
    pipe.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}})
    assert pipe.modern("server/discover")["supportedVersions"]


def test_a_batch_is_answered_as_one_where_the_version_has_batches(pipe: Pipe) -> None:
    pipe.handshake("2025-03-26")
    ping = {"jsonrpc": "2.0", "method": "ping"}
    pipe.send([{**ping, "id": "a"}, {"jsonrpc": "2.0", "method": "notifications/x"}, {**ping, "id": "b"}])
    assert [answer["id"] for answer in pipe.next()] == ["a", "b"]


@pytest.mark.parametrize(
    "method", ["tools/list", "prompts/list", "sampling/createMessage", "resources/subscribe"]
)
def test_other_methods_are_unknown(pipe: Pipe, method: str) -> None:
    assert pipe.modern(method)["code"] == -32601


def test_a_lone_surrogate_goes_back_as_it_came(pipe: Pipe) -> None:
    assert pipe.modern("resources/read", uri="tour://\ud800")["data"] == {"uri": "tour://\ud800"}


def test_it_imports_the_standard_library_alone() -> None:
    script = (
        "import sys; from mcp_lectern.cli.demo_server import stdio; "
        "print([m for m in sys.modules if m.split('.')[0] not in sys.stdlib_module_names"
        " and not m.startswith('mcp_lectern') and m != '__main__'],"
        " sorted(m for m in sys.modules if m.startswith('mcp_lectern.') and 'demo_server' not in m))"
    )
    script = f"import sys; sys.path.insert(0, {SERVER!r}); {script}"
    command = [sys.executable, "-I", "-S", "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[] ['mcp_lectern.cli']"


@pytest.fixture(params=["legacy", "auto"])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    arguments = [*COMMAND[1:], "--tick", "0.05"]
    transport = stdio_client(StdioServerParameters(command=COMMAND[0], args=arguments))
    async with Client(transport, mode=request.param) as connected:
        yield connected


@pytest.mark.anyio
async def test_the_official_client_lists_reads_and_completes(
    client: Client, request: pytest.FixtureRequest
) -> None:
    legacy = client.protocol_version != "2026-07-28"
    assert legacy == ("legacy" in request.node.name)
    uris, cursor = [], None
    while True:
        page = await client.list_resources(cursor=cursor)
        uris += [str(resource.uri) for resource in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert "tour://clock" in uris
    templates = await client.list_resource_templates()
    assert len(templates.resource_templates) == 2
    read = await client.read_resource("tour://parcel")
    assert len(read.contents) == 3


@pytest.mark.anyio
async def test_the_official_client_hears_of_the_clock() -> None:
    arguments = [*COMMAND[1:], "--tick", "0.05"]
    transport = stdio_client(StdioServerParameters(command=COMMAND[0], args=arguments))
    async with Client(transport, mode="auto") as client:
        with anyio.fail_after(20):
            async with client.listen(resource_subscriptions=["tour://clock"]) as events:
                async for event in events:
                    assert event == ResourceUpdated(uri="tour://clock")
                    break

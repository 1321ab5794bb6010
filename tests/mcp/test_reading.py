"""Reads over the wire: what comes back, and as what it fails."""

from __future__ import annotations

import base64
from typing import Any

import anyio
import pytest

from mcp_lectern.mcp.connect import Limits, Timing
from mcp_lectern.mcp.errors import (
    InputRequired,
    InvalidResult,
    McpError,
    RequestTimeout,
    ResourceNotFound,
    ServerError,
    TooLarge,
)
from mcp_lectern.mcp.wire.resources import BlobItem, TextItem

from .conftest import Connect, RecordingObserver, Script

URI = "a://one"


@pytest.mark.anyio
@pytest.mark.case("RD-01")
@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"code": -32602, "message": "gone", "data": {"uri": URI}}, ResourceNotFound, False),
        ({"code": -32602, "message": "Missing argument"}, ResourceNotFound, False),
        ({"code": -32002, "message": "gone"}, ResourceNotFound, False),
        ({"code": 0, "message": f"Unknown resource: {URI}"}, ResourceNotFound, False),
        ({"code": 0, "message": "gone", "data": {"uri": URI}}, ResourceNotFound, False),
        ({"code": 0, "message": "boom"}, ServerError, False),
        ({"code": -32001, "message": "gone"}, ServerError, False),
        ({"code": -32000, "message": "gone"}, ServerError, False),
        ({"code": -32603, "message": "gone"}, ServerError, True),
        ({"code": "404", "message": "gone"}, ServerError, False),
        ({"code": -32601}, ServerError, False),
        ({"message": "gone"}, ServerError, False),
    ],
)
async def test_rd_01_what_means_not_found_and_what_does_not(
    error: dict[str, Any], kind: type[ServerError], retryable: bool, script: Script, connected: Connect
) -> None:
    server = script(answers={"resources/read": {"error": error}})
    async with connected(server) as connection:
        with pytest.raises(ServerError) as caught:
            await connection.read(URI)
    assert type(caught.value) is kind
    assert caught.value.code == error.get("code")
    assert caught.value.server_message == error.get("message", "an error without a message")
    assert caught.value.retryable is retryable
    assert URI in str(caught.value)
    assert "scripted" in str(caught.value)


@pytest.mark.anyio
@pytest.mark.case("RD-03")
@pytest.mark.parametrize("result", [{}, None, {"contents": None}, {"contents": {}}, {"content": []}, [], "x"])
async def test_rd_03_without_contents_only_this_read_fails(
    result: Any, script: Script, connected: Connect
) -> None:
    server = script(answers={"resources/read": [{"result": result}, {}]}, contents={URI: "fine"})
    async with connected(server) as connection:
        with pytest.raises(InvalidResult, match="resources/read"):
            await connection.read(URI)
        assert (await connection.read(URI)).items == (TextItem(URI, "text/plain", "fine"),)


@pytest.mark.anyio
@pytest.mark.case("RD-09")
@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ({}, None),
        ({"resultType": "complete"}, None),
        (
            {"resultType": "input_required", "inputRequests": {"a": {"method": "sampling/createMessage"}}},
            InputRequired,
        ),
        ({"resultType": "task"}, InvalidResult),
        ({"resultType": "banana"}, InvalidResult),
        ({"resultType": 7}, InvalidResult),
        ({"resultType": None}, InvalidResult),
    ],
)
async def test_rd_09_result_types(
    kind: dict[str, Any], error: type[McpError] | None, era: str, script: Script, connected: Connect
) -> None:
    server = script(era=era, answers={"resources/read": {"result": {**kind, "contents": []}}})
    async with connected(server) as connection:
        if error is None:
            assert (await connection.read(URI)).items == ()
        else:
            with pytest.raises(error):
                await connection.read(URI)
    assert len(server.received("resources/read")) == 1


@pytest.mark.anyio
@pytest.mark.case("RD-09")
async def test_rd_09_a_list_never_asks_for_input(script: Script, connected: Connect) -> None:
    result = {"resultType": "input_required", "resources": []}
    async with connected(script(answers={"resources/list": {"result": result}})) as connection:
        with pytest.raises(InvalidResult):
            await connection.list_resources()


@pytest.mark.anyio
@pytest.mark.case("RD-08")
@pytest.mark.parametrize("size", [65_536, 1_100_000, 12_000_000, 60_000_000])
async def test_rd_08_a_big_line_is_read_whole(size: int, script: Script, connected: Connect) -> None:
    head = '{"jsonrpc":"2.0","id":$ID,"result":{"contents":[{"uri":"a://one","text":"'
    server = script(
        answers={
            "resources/read": {
                "before": [
                    {"write": head.replace("$ID", "3")},
                    {"repeat": "x" * 10_000, "times": size // 10_000},
                ],
                "raw": '"}]}}\n',
            }
        }
    )
    async with connected(server) as connection:
        result = await connection.read(URI)
    assert [len(item.text) for item in result.items if isinstance(item, TextItem)] == [
        size // 10_000 * 10_000
    ]


@pytest.mark.anyio
@pytest.mark.case("RD-08")
async def test_rd_08_a_big_blob_is_decoded(script: Script, connected: Connect) -> None:
    data = bytes(range(256)) * 8192
    item = {"uri": URI, "blob": base64.b64encode(data).decode(), "mimeType": "image/png"}
    async with connected(script(contents={URI: [item]})) as connection:
        assert (await connection.read(URI)).items == (BlobItem(URI, "image/png", data),)


@pytest.mark.anyio
@pytest.mark.case("RD-08")
async def test_rd_08_one_byte_at_a_time(script: Script, connected: Connect) -> None:
    line = '{"jsonrpc":"2.0","id":3,"result":{"contents":[{"text":"h\u00e9"}]}}\n'.encode()
    writes = [{"write_hex": bytes([byte]).hex()} for byte in line]
    server = script(answers={"resources/read": {"before": writes, "silent": True}})
    async with connected(server) as connection:
        assert (await connection.read(URI)).items == (TextItem(None, None, "h\u00e9"),)


OVERLONG = {
    "id first": ('{"jsonrpc":"2.0","id":3,"result":{"contents":[{"text":"', '"}]}}\n'),
    "id last": ('{"result":{"contents":[{"text":"', '"}]},"jsonrpc":"2.0","id":3}\n'),
    "no id": ("", "\n"),
}


@pytest.mark.anyio
@pytest.mark.case("RD-08")
@pytest.mark.parametrize("shape", OVERLONG)
async def test_rd_08_over_the_limit_that_read_fails_and_the_next_works(
    shape: str, script: Script, connected: Connect
) -> None:
    head, tail = OVERLONG[shape]
    too_much = {"before": [{"write": head}, {"repeat": "x" * 1000, "times": 200}], "raw": tail}
    server = script(answers={"resources/read": [too_much, {}]}, contents={URI: "fine"})
    async with connected(server, limits=Limits(read_bytes=100_000)) as connection:
        with pytest.raises(TooLarge, match="100000 bytes"):
            await connection.read(URI)
        assert (await connection.read(URI)).items == (TextItem(URI, "text/plain", "fine"),)


@pytest.mark.anyio
@pytest.mark.case("RD-08")
async def test_rd_08_of_two_reads_the_one_with_the_long_answer_fails(
    script: Script, connected: Connect
) -> None:
    body = '{"result":{"contents":[{"text":"', '"}]},"jsonrpc":"2.0","id":4}\n'
    too_much = {"before": [{"write": body[0]}, {"repeat": "x" * 1000, "times": 200}], "raw": body[1]}
    server = script(answers={"resources/read": [{"gate": "go"}, too_much]}, contents={URI: "fine"})
    outcomes: dict[str, object] = {}
    async with connected(server, limits=Limits(read_bytes=100_000)) as connection:

        async def read(name: str) -> None:
            try:
                outcomes[name] = (await connection.read(URI)).items
            except McpError as error:
                outcomes[name] = type(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read, "first")
            await server.wait_waiting("go")
            await read("second")
            server.open("go")
    assert outcomes == {"second": TooLarge, "first": (TextItem(URI, "text/plain", "fine"),)}


@pytest.mark.anyio
@pytest.mark.case("RD-08")
async def test_rd_08_a_line_that_never_ends_fails_its_read_long_before_any_timeout(
    script: Script, connected: Connect
) -> None:
    endless = {"before": [{"repeat": "x" * 100_000, "times": 200}, {"gate": "never"}]}
    server = script(answers={"resources/read": endless})
    async with connected(server, limits=Limits(read_bytes=1_000_000)) as connection:
        with anyio.fail_after(15), pytest.raises(TooLarge):
            await connection.read(URI)


@pytest.mark.anyio
async def test_a_message_that_cannot_be_decoded_fails_its_read_at_once(
    script: Script, connected: Connect
) -> None:
    nested = "[" * 50_000 + "]" * 50_000
    raw = f'{{"jsonrpc":"2.0","id":$ID,"result":{nested}}}\n'
    server = script(answers={"resources/read": [{"raw": raw}, {}]}, contents={URI: "fine"})
    async with connected(server) as connection:
        with pytest.raises(InvalidResult):
            await connection.read(URI)
        assert len((await connection.read(URI)).items) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("uri", ["", "a b", "\0\n", "x:\ud800", "日本語://é", "a" * 100_000])
async def test_a_uri_goes_out_as_it_is(uri: str, script: Script, connected: Connect) -> None:
    server = script(answers={"resources/read": {"result": {"contents": []}}})
    async with connected(server) as connection:
        await connection.read(uri)
    assert server.received("resources/read")[0]["params"]["uri"] == uri


@pytest.mark.anyio
async def test_reads_at_the_same_time_are_answered_in_any_order(script: Script, connected: Connect) -> None:
    server = script(answers={"resources/read": [{"gate": "go"}, {}]}, contents={"a": "A", "b": "B"})
    order: list[str] = []
    async with connected(server) as connection:

        async def read(uri: str) -> None:
            await connection.read(uri)
            order.append(uri)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read, "a")
            await server.wait_waiting("go")
            await read("b")
            server.open("go")
    assert order == ["b", "a"]


@pytest.mark.anyio
@pytest.mark.case("IO-08")
@pytest.mark.parametrize("identity", ["null", '"x"', "999", "[3]"])
async def test_io_08_an_answer_to_nobody_is_logged_and_a_timeout_names_the_server(
    identity: str, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    answer = {"raw": f'{{"jsonrpc":"2.0","id":{identity},"result":{{"contents":[]}}}}\n'}
    server = script(answers={"resources/read": answer})
    async with connected(server, timing=Timing(request=0.3)) as connection:
        with pytest.raises(RequestTimeout, match=r'"scripted".*0\.3 s'):
            await connection.read(URI)
        assert observer.logged("skipped") == 1
        assert (await connection.list_resources()).entries == ()


@pytest.mark.anyio
@pytest.mark.case("IO-08")
@pytest.mark.parametrize("identity", ["$ID", '"$ID"', "$ID.0"])
async def test_io_08_the_first_of_two_answers_wins(
    identity: str, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    first = f'{{"id":{identity},"result":{{"contents":[{{"text":"first"}}]}}}}\n'
    second = f'{{"id":{identity},"result":{{"contents":[{{"text":"second"}}]}}}}\n'
    server = script(answers={"resources/read": {"raw": first + second}})
    async with connected(server) as connection:
        assert (await connection.read(URI)).items == (TextItem(None, None, "first"),)
        await observer.wait_for(lambda: observer.logged("not waiting") == 1)


@pytest.mark.anyio
@pytest.mark.case("IO-08")
async def test_io_08_stray_notifications_are_harmless(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    stray = [
        {"notify": ["notifications/progress", {"progressToken": 77, "progress": 1}]},
        {"notify": ["notifications/progress", {"progressToken": [1]}]},
        {"notify": ["notifications/progress"]},
        {"notify": ["notifications/stderr", {"x": 1}]},
        {"notify": ["notifications/cancelled", {"requestId": 1}]},
        {"notify": ["notifications/message", {"level": "info", "data": "hello"}]},
        {"notify": ["notifications/resources/updated", {"uri": 7}]},
        {"write": '{"jsonrpc":"2.0","error":{"code":-32600,"message":"bad notification"}}\n'},
    ]
    server = script(on_start=stray, contents={URI: "fine"}, answers={"resources/read": {"before": stray}})
    async with connected(server) as connection:
        assert len((await connection.read(URI)).items) == 1
    assert observer.updates == [None, None]
    assert observer.logged("hello") == 2
    assert observer.logged("bad notification") == 2

"""Connections as they open: both eras, every version, and servers that die, stay silent or cannot start."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_lectern.mcp.connect import ServerInfo, StdioParameters, Timing, connect
from mcp_lectern.mcp.errors import RequestTimeout, ServerError, StartFailed, VersionMismatch
from mcp_lectern.mcp.wire.lifecycle import Root

from .conftest import Connect, RecordingObserver, Script

META = "io.modelcontextprotocol/"
NO_METHOD = {"error": {"code": -32601, "message": "Method not found"}}
SOON = Timing(probe=0.2)


@pytest.mark.anyio
async def test_a_legacy_server_gets_a_handshake(script: Script, connected: Connect) -> None:
    server = script(era="legacy")
    async with connected(server) as connection:
        assert (connection.era, connection.protocol_version) == ("handshake", "2025-11-25")
        assert connection.server_info == ServerInfo("scripted", "1.0")
        assert connection.capabilities.resources
        assert connection.pid == server.pids[0]
        await connection.list_resources()
    methods = [message["method"] for message in server.received()]
    assert methods == ["server/discover", "initialize", "notifications/initialized", "resources/list"]
    assert server.received("initialize")[0]["params"] == {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "mcp-lectern", "version": "9.9"},
    }


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["modern", "both"])
async def test_a_modern_server_is_told_everything_on_every_request(
    era: str, script: Script, connected: Connect
) -> None:
    server = script(era=era)
    async with connected(server) as connection:
        assert (connection.era, connection.protocol_version) == ("stateless", "2026-07-28")
        assert connection.server_info == ServerInfo("scripted", "1.0")
        await connection.list_resources()
    assert not server.received("initialize")
    assert not server.received("notifications/initialized")
    requests = [message for message in server.received() if "id" in message]
    assert [message["method"] for message in requests] == [
        "server/discover",
        "subscriptions/listen",
        "resources/list",
    ]
    for message in requests:
        meta = message["params"]["_meta"]
        assert meta[META + "protocolVersion"] == "2026-07-28"
        assert meta[META + "clientInfo"] == {"name": "mcp-lectern", "version": "9.9"}
        assert meta[META + "clientCapabilities"] == {}


@pytest.mark.anyio
@pytest.mark.case("VER-01")
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_ver_01_every_known_version_works(version: str, script: Script, connected: Connect) -> None:
    async with connected(script(versions=[version], contents={"a": "x"})) as connection:
        assert connection.protocol_version == version
        assert len((await connection.read("a")).items) == 1


@pytest.mark.anyio
@pytest.mark.case("VER-01")
@pytest.mark.parametrize("version", ["1999-01-01", "2099-01-01"])
async def test_ver_01_an_unknown_version_is_refused_naming_both(
    version: str, script: Script, connected: Connect
) -> None:
    with pytest.raises(VersionMismatch, match=f'"scripted".*{version}.*2025-11-25'):
        async with connected(script(versions=[version])):
            pytest.fail("a connection opened")


@pytest.mark.anyio
@pytest.mark.case("VER-01")
async def test_ver_01_a_refusal_that_names_a_known_version_is_followed_once(
    script: Script, connected: Connect
) -> None:
    refused = {"error": {"code": -32602, "message": "Unsupported", "data": {"supported": ["2024-11-05"]}}}
    server = script(answers={"initialize": [refused, {}]})
    async with connected(server) as connection:
        assert connection.protocol_version == "2024-11-05"
    assert [message["params"]["protocolVersion"] for message in server.received("initialize")] == [
        "2025-11-25",
        "2024-11-05",
    ]


@pytest.mark.anyio
@pytest.mark.case("VER-01")
@pytest.mark.parametrize("supported", [["2024-11-05"], ["2025-06-18"]])
async def test_ver_01_a_server_that_refuses_what_it_offers_is_not_asked_without_end(
    supported: list[str], script: Script, connected: Connect
) -> None:
    refused = {"error": {"code": -32602, "message": "Unsupported", "data": {"supported": supported}}}
    server = script(answers={"initialize": refused})
    with pytest.raises(ServerError, match="Unsupported"):
        async with connected(server):
            pytest.fail("a connection opened")
    assert len(server.received("initialize")) == 2


@pytest.mark.anyio
@pytest.mark.case("VER-01")
@pytest.mark.parametrize("result", [{}, {"protocolVersion": None, "capabilities": []}, {"serverInfo": 7}])
async def test_ver_01_a_missing_version_counts_as_the_oldest(
    result: dict[str, Any], script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    async with connected(script(answers={"initialize": {"result": result}})) as connection:
        assert connection.protocol_version == "2024-11-05"
        assert connection.server_info is None
        assert not connection.capabilities.resources
    assert observer.logged("assumed") == 1


@pytest.mark.anyio
@pytest.mark.case("VER-01")
async def test_ver_01_silence_on_the_probe_sends_initialize_down_the_same_pipe(
    script: Script, connected: Connect
) -> None:
    server = script(answers={"server/discover": {"silent": True}})
    async with connected(server, timing=SOON) as connection:
        assert connection.era == "handshake"
    assert server.starts == 1
    assert not server.received("notifications/cancelled")


@pytest.mark.anyio
@pytest.mark.case("VER-01")
@pytest.mark.parametrize("answer", [{"silent": True}, {"gate": "later"}, NO_METHOD, {}])
async def test_ver_01_a_late_discover_result_still_means_modern(
    answer: dict[str, Any], script: Script, connected: Connect
) -> None:
    server = script(era="modern", answers={"server/discover": {"gate": "go"}, "initialize": answer})
    async with anyio.create_task_group() as tasks:

        async def answer_late() -> None:
            await server.wait_received("initialize")
            server.open("go")

        tasks.start_soon(answer_late)
        async with connected(server, timing=Timing(probe=0.5)) as connection:
            assert connection.era == "stateless"
            assert connection.capabilities.resources
    assert server.starts == 1


@pytest.mark.anyio
@pytest.mark.case("VER-01")
async def test_ver_01_a_late_refusal_of_the_probe_changes_nothing(script: Script, connected: Connect) -> None:
    server = script(answers={"server/discover": {"gate": "go"}, "initialize": {"gate": "then"}})
    async with anyio.create_task_group() as tasks:

        async def answer_late() -> None:
            await server.wait_waiting("then")
            server.open("go")
            server.open("then")

        tasks.start_soon(answer_late)
        async with connected(server, timing=SOON) as connection:
            assert connection.era == "handshake"


@pytest.mark.anyio
@pytest.mark.case("VER-01")
async def test_ver_01_a_server_that_dies_of_the_probe_is_started_once_more(
    script: Script, connected: Connect
) -> None:
    server = script(answers={"server/discover": {"exit": 1}})
    async with connected(server) as connection:
        assert connection.era == "handshake"
    assert server.starts == 2
    assert len(server.received("server/discover")) == 1


@pytest.mark.anyio
@pytest.mark.case("VER-01")
async def test_ver_01_a_server_that_dies_of_everything_is_started_twice_and_its_words_are_shown(
    script: Script, connected: Connect
) -> None:
    server = script(on_start=[{"stderr": "no such database\n"}, {"exit": 7}])
    with pytest.raises(StartFailed, match=r'"scripted" ended with exit code 7.*no such database') as caught:
        async with connected(server):
            pytest.fail("a connection opened")
    assert (caught.value.exit_code, caught.value.stderr_tail) == (7, "no such database")
    assert server.starts == 2


@pytest.mark.anyio
@pytest.mark.case("VER-01")
@pytest.mark.parametrize(
    ("protocol", "era", "method"), [("legacy", "both", "initialize"), ("modern", "both", "server/discover")]
)
async def test_ver_01_a_preference_asks_for_that_era_alone(
    protocol: str, era: str, method: str, script: Script, connected: Connect
) -> None:
    server = script(era=era)
    async with connected(server, protocol=protocol) as connection:
        await connection.list_resources()
    assert server.received()[0]["method"] == method


@pytest.mark.anyio
@pytest.mark.case("VER-01")
async def test_ver_01_modern_alone_refuses_a_legacy_server(script: Script, connected: Connect) -> None:
    with pytest.raises(VersionMismatch):
        async with connected(script(), protocol="modern"):
            pytest.fail("a connection opened")


@pytest.mark.anyio
@pytest.mark.case("VER-01")
async def test_ver_01_a_modern_error_without_more_is_modern_all_the_same(
    script: Script, connected: Connect
) -> None:
    missing = {"error": {"code": -32021, "message": "Needs elicitation"}}
    server = script(era="modern", answers={"server/discover": missing}, resources=[{"uri": "a"}])
    async with connected(server) as connection:
        assert connection.era == "stateless"
        assert len((await connection.list_resources()).entries) == 1
    assert not server.received("initialize")


@pytest.mark.anyio
@pytest.mark.case("IO-09")
async def test_io_09_a_server_that_never_answers_times_out_by_its_name_and_is_ended(
    script: Script, connected: Connect
) -> None:
    server = script(answers={"server/discover": {"silent": True}, "initialize": {"silent": True}})
    with pytest.raises(RequestTimeout, match=r'"scripted" was not ready within 0\.6 s.*timeouts\.start'):
        async with connected(server, timing=Timing(start=0.6, probe=0.1)):
            pytest.fail("a connection opened")
    await server.wait_ended()
    assert not server.received("notifications/cancelled")


@pytest.mark.anyio
async def test_an_error_to_initialize_is_shown_with_its_words(script: Script, connected: Connect) -> None:
    server = script(answers={"initialize": {"error": {"code": -32000, "message": "licence expired"}}})
    with pytest.raises(ServerError, match="licence expired"):
        async with connected(server):
            pytest.fail("a connection opened")


@pytest.mark.anyio
async def test_roots_are_offered_and_given_in_the_handshake_era(script: Script, connected: Connect) -> None:
    ask = {"request": {"id": "r1", "method": "roots/list"}}
    server = script(answers={"resources/list": {"before": [ask]}})
    async with connected(server, roots=lambda: [Root("file:///home/me", "me")]) as connection:
        await connection.list_resources()
        await server.wait_received("resources/list")
    assert server.received("initialize")[0]["params"]["capabilities"] == {"roots": {}}
    answers = [message for message in server.received() if message.get("id") == "r1"]
    assert [answer["result"] for answer in answers] == [{"roots": [{"uri": "file:///home/me", "name": "me"}]}]


@pytest.mark.anyio
async def test_a_handshake_server_gets_answers_and_refusals(script: Script, connected: Connect) -> None:
    asks = [
        {"request": {"id": 1, "method": "ping"}},
        {"request": {"id": "2", "method": "roots/list"}},
        {"request": {"id": 3, "method": "sampling/createMessage", "params": {}}},
    ]
    server = script(answers={"resources/list": {"before": asks}})
    async with connected(server) as connection:
        await connection.list_resources()
    replies = {message["id"]: message for message in server.received() if "method" not in message}
    assert replies[1]["result"] == {}
    assert replies["2"]["error"]["code"] == replies[3]["error"]["code"] == -32601


@pytest.mark.anyio
async def test_a_modern_server_that_asks_is_never_answered(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    server = script(
        era="modern", answers={"resources/list": {"before": [{"request": {"id": 1, "method": "ping"}}]}}
    )
    async with connected(server) as connection:
        await connection.list_resources()
    assert all("method" in message for message in server.received())
    assert observer.logged("skipped the request ping") == 1


@pytest.mark.anyio
@pytest.mark.case("IO-01")
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_io_01_log_lines_on_stdout_are_skipped_with_one_line_each(
    era: str, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    banner = 'Starting…\n\x1b[32mready\x1b[0m\n[\n123\n"x"\nnull\n{}\n{"foo":1}\n\n'
    noise = [{"write": banner}, {"write_hex": b"\xff\xfe\n".hex()}]
    server = script(
        era=era, on_start=noise, resources=[{"uri": "a"}], answers={"resources/list": {"before": noise}}
    )
    async with connected(server) as connection:
        assert len((await connection.list_resources()).entries) == 1
    assert observer.logged("skipped") == 18
    assert observer.logged("ready") == 2


@pytest.mark.anyio
@pytest.mark.case("IO-01")
async def test_io_01_a_flood_of_log_lines_is_logged_in_part(
    script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    flood = [{"repeat": "debug: something\n", "times": 5000}]
    async with connected(script(resources=[{"uri": "a"}], on_start=flood)) as connection:
        assert len((await connection.list_resources()).entries) == 1
    assert 1 <= observer.logged("debug: something") <= 25


@pytest.mark.anyio
@pytest.mark.case("IO-01")
@pytest.mark.parametrize(("version", "count"), [("2025-03-26", 1), ("2025-06-18", 0), ("2024-11-05", 0)])
async def test_io_01_a_batch_is_processed_where_its_version_was_negotiated(
    version: str, count: int, script: Script, connected: Connect, observer: RecordingObserver
) -> None:
    batch = (
        '[{"jsonrpc":"2.0","method":"notifications/resources/list_changed"},'
        '{"jsonrpc":"2.0","id":"p","method":"ping"},{"jsonrpc":"2.0","id":"q","method":"ping"}]\n'
    )
    server = script(versions=[version], answers={"resources/list": {"before": [{"write": batch}]}})
    async with connected(server) as connection:
        await connection.list_resources()
    assert observer.changes == count
    assert observer.logged("skipped a batch") == 1 - count
    replies = [message for message in server.received() if isinstance(message, list)]
    assert [[reply["id"] for reply in batch] for batch in replies] == [["p", "q"]] * count


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("command", "words"),
    [("no-such-program", "not found on the PATH"), ("./missing", "no program"), ("/", "no program")],
)
async def test_a_command_that_is_not_there_is_named(
    command: str, words: str, observer: RecordingObserver, tmp_path: Path
) -> None:
    parameters = StdioParameters(command, (), {"PATH": "/usr/bin:/bin"}, tmp_path)
    with pytest.raises(StartFailed, match=words) as caught:
        async with connect(parameters, server="docs", observer=observer, version="1"):
            pytest.fail("a connection opened")
    assert command in str(caught.value)
    assert '"docs"' in str(caught.value)


@pytest.mark.anyio
async def test_a_program_that_cannot_run_and_a_missing_folder_are_named(
    observer: RecordingObserver, tmp_path: Path
) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF nonsense")
    program.chmod(0o755)
    bad = [
        (StdioParameters(str(program), (), {}, tmp_path), str(program)),
        (StdioParameters("sh", ("-c", "exit 0"), dict(os.environ), tmp_path / "nowhere"), "nowhere"),
        (StdioParameters("sh", ("a\0b",), dict(os.environ), tmp_path), "null byte"),
    ]
    for parameters, words in bad:
        with pytest.raises(StartFailed, match=words):
            async with connect(parameters, server="docs", observer=observer, version="1"):
                pytest.fail("a connection opened")


@pytest.mark.anyio
async def test_the_server_gets_exactly_its_environment_and_folder(
    script: Script, connected: Connect, tmp_path: Path
) -> None:
    server = script()
    async with connected(server):
        pass
    (start,) = server.started
    assert Path(start["cwd"]) == tmp_path.resolve()
    assert {key: start["env"].get(key) for key in os.environ} == dict(os.environ)


@pytest.mark.anyio
async def test_the_error_of_the_one_who_uses_the_connection_comes_out_as_itself(
    script: Script, connected: Connect
) -> None:
    server = script()
    with pytest.raises(ZeroDivisionError):
        async with connected(server):
            raise ZeroDivisionError
    await server.wait_ended()


@pytest.mark.anyio
@pytest.mark.case("VER-01")
@pytest.mark.parametrize("refusal", [NO_METHOD, {"error": {"code": -32602, "message": "no"}}, {"result": 7}])
async def test_ver_01_a_remembered_handshake_that_is_refused_is_followed_by_the_probe(
    refusal: dict[str, Any], script: Script, connected: Connect
) -> None:
    server = script(era="modern", answers={"initialize": refusal}, contents={"a": "x"})
    async with connected(server, protocol="remembered") as connection:
        assert connection.era == "stateless"
        assert (await connection.read("a")).items
    methods = [message["method"] for message in server.received()]
    assert methods[:2] == ["initialize", "server/discover"]
    assert server.starts == 1


@pytest.mark.anyio
@pytest.mark.case("VER-01")
async def test_ver_01_a_remembered_handshake_is_not_probed_and_its_refusal_stays_the_reason(
    script: Script, connected: Connect
) -> None:
    server = script()
    async with connected(server, protocol="remembered") as connection:
        assert connection.era == "handshake"
    assert not server.received("server/discover")
    refused = {"initialize": {"error": {"code": -32000, "message": "licence expired"}}}
    with pytest.raises(ServerError, match="licence expired"):
        async with connected(script(answers=refused), protocol="remembered"):
            pytest.fail("a connection opened")

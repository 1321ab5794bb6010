"""Servers as processes, and what they say about versions: IO-01 to IO-09, VER-01."""

from __future__ import annotations

import json
from typing import Any

import psutil
from tests.support.scripted_server import ScriptedServer

from bench.cases.model import (
    FINE,
    READ,
    RESOURCES,
    TWICE,
    Case,
    Section,
    Server,
    answered,
    counted,
    folder_of,
    refused,
    stdio,
    times_asked,
)

METHOD = "resources/read"
SLOW = str(folder_of("bench") / "cases" / "process_hook.py")
ANSWER = f'{{"jsonrpc":"2.0","id":$ID,"result":{json.dumps(FINE)}}}'
VERSION = (("version",),)


def first(oddity: str, text: str, identity: str = "IO-01", **script: Any) -> Case:
    """These bytes before the answer to a read."""
    return stdio(identity, oddity, READ, **answered(METHOD, {"before": [{"write": text}]}), **script)


def starts(server: Server) -> str:
    assert isinstance(server, ScriptedServer)
    return counted(server.starts, "start")


def left_over(server: Server) -> str:
    """The processes that still run when the client's process has ended."""
    assert isinstance(server, ScriptedServer)
    count = sum(runs(pid) for pid in [*server.pids, *server.children])
    return f"{counted(count, 'process', 'processes')} left"


def runs(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


LINES = (
    stdio(
        "IO-01",
        "a banner before anything is asked",
        READ,
        on_start=[{"write": "Welcome!\nlistening on stdio\n"}],
    ),
    first("log lines before the answer", "starting up\n[info] {\n"),
    first('lines [, 123, "x", null, {}', '[\n123\n"x"\nnull\n{}\n'),
    first('a line {"foo":1}', '{"foo":1}\n'),
    first("a line in colour", "\x1b[32mready\x1b[0m\n"),
    first("an empty line, a line break of Windows", "\n\r\n"),
    stdio(
        "IO-01",
        "a line that is not UTF-8",
        READ,
        **answered(METHOD, {"before": [{"write_hex": "fffe41c30a"}]}),
    ),
    stdio(
        "IO-01",
        "the answer in a batch (2025-03-26)",
        READ,
        versions=["2025-03-26"],
        **answered(METHOD, {"raw": f"[{ANSWER}]\n"}),
    ),
    first("a batch of strangers before the answer (2025-11-25)", '[{"jsonrpc":"2.0","id":77,"result":{}}]\n'),
)
GREETED = {"hook": SLOW}
LIVES = (
    stdio("IO-05", "the command is missing", READ, play={"command": ("no-such-program-anywhere",)}),
    stdio("IO-05", "ends with code 3 at once", READ, on_start=[{"stderr": "no licence\n"}, {"exit": 3}]),
    stdio("IO-05", "ends during a read", READ, **answered(METHOD, {"exit": 1})),
    stdio(
        "IO-05",
        "ends after the lists, then a read",
        (*RESOURCES, ("templates",), ("ended",), *READ),
        witness=starts,
        play={"through_hub": True},
        by_start=[answered("resources/templates/list", {"after": [{"exit": 0}]}), {}],
    ),
    stdio(
        "IO-05",
        "ends during the first read, then the resource",
        TWICE,
        witness=starts,
        play={"through_hub": True},
        by_start=[answered(METHOD, {"exit": 1}), {}],
    ),
    stdio(
        "IO-05",
        "closes its stdout and lives on, during a read",
        READ,
        witness=left_over,
        **answered(METHOD, {"silent": True, "after": [{"close_stdout": True}]}),
    ),
    stdio(
        "IO-06",
        "has a child, and ignores the end of stdin and SIGTERM",
        READ,
        witness=left_over,
        grandchild=True,
        ignore_eof=True,
        ignore_sigterm=True,
    ),
    stdio("IO-06", "has a child, and ends properly", READ, witness=left_over, grandchild=True),
    stdio(
        "IO-09",
        "answers initialize after 3 s",
        READ,
        slow={"initialize": 3},
        **GREETED,
        play={"mode": "legacy", "patience": 6},
    ),
    stdio(
        "IO-09", "never answers anything", READ, slow={"initialize": 60}, **GREETED, play={"mode": "legacy"}
    ),
)


def notice(method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}) + "\n"


def whole(line: str) -> str:
    return line + "\n"


STRAYS = (
    first(
        "progress for an unknown token",
        notice("notifications/progress", progressToken="x", progress=1),
        "IO-08",
    ),
    stdio(
        "IO-08",
        "notifications/message before initialize",
        READ,
        on_start=[{"write": notice("notifications/message", level="info", data="up")}],
    ),
    first("notifications/stderr", notice("notifications/stderr", content="x"), "IO-08"),
    first(
        "a notification without parameters, and one with a list",
        '{"jsonrpc":"2.0","method":"x"}\n{"jsonrpc":"2.0","method":"y","params":[1]}\n',
        "IO-08",
    ),
    first("an answer whose id is null", '{"jsonrpc":"2.0","id":null,"result":{}}\n', "IO-08"),
    first("an answer that nobody asked for", '{"jsonrpc":"2.0","id":9999,"result":{}}\n', "IO-08"),
    first("an error without an id", '{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}\n', "IO-08"),
    first("a request that no client knows", '{"jsonrpc":"2.0","id":"s1","method":"x/y"}\n', "IO-08"),
    stdio(
        "IO-08", 'the id "3" for 3', READ, **answered(METHOD, {"raw": whole(ANSWER.replace("$ID", '"$ID"'))})
    ),
    stdio(
        "IO-08", "the id 3.0 for 3", READ, **answered(METHOD, {"raw": whole(ANSWER.replace("$ID", "$ID.0"))})
    ),
    stdio(
        "IO-08",
        "the answer twice, then the resource",
        TWICE,
        **answered(METHOD, {"raw": whole(ANSWER) * 2}, {}),
    ),
    stdio(
        "IO-08",
        "both result and error, then the resource",
        TWICE,
        **answered(METHOD, {"raw": whole(ANSWER[:-1] + ',"error":{"code":1,"message":"x"}}')}, {}),
    ),
    stdio(
        "IO-08",
        "an answer without jsonrpc",
        READ,
        **answered(METHOD, {"raw": whole(ANSWER.replace('"jsonrpc":"2.0",', ""))}),
    ),
)


def greeting(**result: Any) -> dict[str, Any]:
    """A server that greets so."""
    return answered("initialize", {"result": result})


FIELDS: dict[str, Any] = {"capabilities": {"resources": {}}, "serverInfo": {"name": "x", "version": "1"}}
DISCOVER = "server/discover"


def unsupported(supported: list[str]) -> dict[str, Any]:
    """The refusal of a version, with those that the server has."""
    return refused(-32022, "Unsupported", {"supported": supported, "requested": "2026-07-28"})


def greets(version: str) -> Case:
    return stdio(
        "VER-01",
        f"initialize is answered {version}",
        VERSION + READ,
        **greeting(protocolVersion=version, **FIELDS),
    )


def probed(oddity: str, *answers: Any, era: str = "legacy", **script: Any) -> Case:
    """What follows from the answer to server/discover."""
    return stdio(
        "VER-01",
        f"server/discover is answered {oddity}",
        VERSION + READ,
        era=era,
        **answered(DISCOVER, *answers),
        **script,
    )


GREETINGS = (
    *(greets(version) for version in ("2024-11-05", "2025-03-26", "1999-01-01", "2099-01-01")),
    stdio("VER-01", "initialize is answered without a version", READ, **greeting(**FIELDS)),
    stdio(
        "VER-01",
        "initialize is answered without serverInfo",
        READ,
        **greeting(protocolVersion="2025-11-25", capabilities={"resources": {}}),
    ),
    stdio("VER-01", "initialize is answered {}", READ, **greeting()),
    stdio(
        "VER-01",
        "initialize is answered with unknown fields",
        READ,
        **greeting(
            protocolVersion="2025-11-25", x=1, **{**FIELDS, "capabilities": {"resources": {"y": 2}, "z": 3}}
        ),
    ),
    stdio(
        "VER-01",
        "initialize is refused with -32602 and data.supported 2024-11-05, once",
        VERSION + READ,
        witness=times_asked("initialize"),
        **answered(
            "initialize",
            refused(-32602, "Unsupported protocol version", {"supported": ["2024-11-05"]}),
            {"result": {"protocolVersion": "2024-11-05", **FIELDS}},
        ),
    ),
    probed("as the specification says", {}, era="both"),
    probed("with handshake versions only", {}, era="both", modern_versions=["2025-11-25"]),
    probed("-32022 with 2026-07-28, once", unsupported(["2026-07-28"]), {}, era="both"),
    probed("-32022 with 2025-11-25", unsupported(["2025-11-25"])),
    probed("-32022 with 2099-01-01", unsupported(["2099-01-01"])),
    probed("-32603", refused(-32603)),
    probed("with a result that is none", {"result": {"x": 1}}),
    probed(
        "by silence",
        {"silent": True},
    ),
    probed("by the end of the process", {"exit": 1}),
)

SECTION = Section("Processes and versions", LINES + LIVES + STRAYS + GREETINGS)

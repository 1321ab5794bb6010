"""The demo: every step is played against a real language server, and a step that fails is not called done."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.cli.conftest import DEMO, PROGRAM, Run
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.cli import demo
from mcp_lectern.cli.play import FailedStepError, Play
from mcp_lectern.lsp.editor import Editor, ResponseError, ServerGoneError, started

STEPS = ["start", "find", "complete", "hover", "follow", "open", "live", "expand", "template", "end"]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""An image of 70 bytes."""
OF_ONES_OWN = [name for name in STEPS if name not in ("live", "template")]


def marks(output: bytes) -> list[list[str]]:
    """The printed steps: mark and name."""
    lines = [line.split() for line in output.decode().splitlines() if line.startswith("  ")]
    return [words[:2] for words in lines if words[0] in ("✓", "✗", "ok", "FAILED")]


def test_every_step_is_done_against_the_sample_server(lectern: Run) -> None:
    result = lectern("demo")
    assert (result.returncode, result.stderr) == (0, b""), result.stdout.decode()
    assert marks(result.stdout) == [["✓", name] for name in STEPS]
    assert b"\x1b" not in result.stdout
    assert "@demo:tour://welcome" in result.stdout.decode()
    times = [line.split() for line in result.stdout.decode().splitlines() if "> It is" in line]
    assert len(times) == 2
    assert times[0] != times[1]


def test_it_plays_one_s_own_servers(lectern: Run, config: Callable[..., Path]) -> None:
    result = lectern("demo", "--config", config(mine=DEMO))
    assert (result.returncode, result.stderr) == (0, b""), result.stdout.decode()
    assert marks(result.stdout) == [["✓", name] for name in OF_ONES_OWN]
    assert "mine" in result.stdout.decode()


ORDINARY: dict[str, dict[str, Any]] = {
    "an image first": {
        "resources": [
            {"uri": "i://1", "name": "picture", "mimeType": "image/png"},
            {"uri": "t://1", "name": "text", "mimeType": "text/plain"},
        ],
        "contents": {"i://1": [{"uri": "i://1", "blob": PIXEL, "mimeType": "image/png"}], "t://1": "a text"},
        "says": "@s:t://1",
    },
    "images alone": {
        "resources": [{"uri": "i://1", "name": "picture"}],
        "contents": {"i://1": [{"uri": "i://1", "blob": PIXEL, "mimeType": "image/png"}]},
        "says": "70 bytes of image/png",
    },
    "several parts": {
        "resources": [{"uri": "m://1", "name": "many"}],
        "contents": {"m://1": [{"uri": "m://1/a", "text": "one"}, {"uri": "m://1/b", "text": "two"}]},
        "says": "the first of 2 parts",
    },
    "no parts": {
        "resources": [{"uri": "e://1", "name": "empty"}],
        "contents": {"e://1": []},
        "says": "empty",
    },
    "an empty text": {
        "resources": [{"uri": "e://1", "name": "empty", "mimeType": "text/plain"}],
        "contents": {"e://1": ""},
        "says": "as empty as its server sent it",
    },
    "an empty text before another": {
        "resources": [{"uri": "e://1", "name": "empty"}, {"uri": "t://1", "name": "text"}],
        "contents": {"e://1": "", "t://1": "a text"},
        "says": "@s:t://1",
    },
    "one that cannot be read before another": {
        "resources": [{"uri": "f://1", "name": "broken"}, {"uri": "t://1", "name": "text"}],
        "contents": {"t://1": "a text"},
        "says": "@s:t://1",
    },
    "names that begin alike": {
        "resources": [{"uri": f"t://{n:03}", "name": f"Note {n:03}"} for n in reversed(range(400))],
        "contents": {f"t://{n:03}": "a text" for n in range(400)},
        "says": "@s:t://",
    },
    "a name of signs": {
        "resources": [{"uri": "t://1", "name": " \t"}, {"uri": "t://2", "name": "[x] (y): z"}],
        "contents": {"t://1": "a text", "t://2": "a text"},
        "says": "@s:t://1",
    },
}


@pytest.mark.parametrize("server", ORDINARY.values(), ids=ORDINARY)
def test_an_ordinary_server_is_played_to_its_end(
    lectern: Run, config: Callable[..., Path], tmp_path: Path, server: dict[str, Any]
) -> None:
    script = {name: server[name] for name in ("resources", "contents")}
    with ScriptedServer(tmp_path, **script) as scripted:
        result = lectern("demo", "--config", config(s=scripted.entry()))
    assert (result.returncode, result.stderr) == (0, b""), result.stdout.decode()
    assert marks(result.stdout) == [["✓", name] for name in OF_ONES_OWN]
    assert server["says"] in result.stdout.decode()


def test_where_templates_are_all_there_is_the_steps_say_so(
    lectern: Run, config: Callable[..., Path], tmp_path: Path
) -> None:
    templates = [{"uriTemplate": "t://{x}", "name": "t"}]
    with ScriptedServer(tmp_path, templates=templates) as scripted:
        result = lectern("demo", "--config", config(s=scripted.entry()))
    assert (result.returncode, result.stderr) == (0, b""), result.stdout.decode()
    assert marks(result.stdout) == [["✓", name] for name in ("start", "find", "end")]
    assert result.stdout.decode().count("nothing to play") == 5


def test_servers_that_list_nothing_are_a_failure_that_says_why(
    lectern: Run, config: Callable[..., Path]
) -> None:
    dead = {"command": sys.executable, "args": ["-c", "import sys; sys.exit('no such luck')"]}
    result = lectern("demo", "--config", config(dead=dead))
    assert result.returncode == 1
    assert marks(result.stdout) == [["✓", "start"], ["✗", "find"]]
    assert "no such luck" in result.stdout.decode()


def test_words_stand_for_marks_where_the_terminal_has_none(
    lectern: Run, environment: Mapping[str, str]
) -> None:
    result = lectern("demo", env={**environment, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (result.returncode, result.stderr) == (0, b"")
    assert marks(result.stdout) == [["ok", name] for name in STEPS]


def test_steps_that_nobody_reads_are_not_called_done(environment: Mapping[str, str]) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(20) == 1


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as a terminal on POSIX does")
def test_an_interrupt_ends_the_demo_and_its_servers(environment: Mapping[str, str]) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert process.stdout
    while b"start" not in process.stdout.readline():
        pass
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, b"")
    assert children
    assert psutil.wait_procs(children, timeout=10)[1] == []


PLAYER = r"""
import json, sys
script = json.loads(sys.argv[1])
def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()
while line := sys.stdin.buffer.readline():
    length = int(line.split(b":")[1])
    sys.stdin.buffer.readline()
    message = json.loads(sys.stdin.buffer.read(length))
    method = message.get("method")
    if method == "workspace/executeCommand":
        method = message["params"]["command"]
    if method == "exit":
        sys.exit(script.get("exit", 0))
    for extra in script.get("before", {}).get(method, []):
        send(extra)
    if "id" in message and "method" in message:
        answer = script["answers"].get(method, {"result": None})
        if answer == "die":
            sys.exit(7)
        send({"id": message["id"], **answer})
"""

ITEM = {"server": "s", "uri": "u://1", "name": "welcome", "mimeType": "text/plain", "mention": "@s:u://1"}
DOCUMENT = "lectern://mcp/s/welcome?k"
EDIT = {
    "range": {"start": {"line": 0, "character": 15}, "end": {"line": 0, "character": 19}},
    "newText": "@s:u://1",
}
MENTIONED = {"server": "s", "uri": "u://1", "bytes": 5, "tokens": 2, "status": "included"}
GOOD: Mapping[str, Any] = {
    "initialize": {"result": {"capabilities": {"completionProvider": {"triggerCharacters": ["@"]}}}},
    "textDocument/completion": {
        "result": {"isIncomplete": True, "items": [{"label": "w", "textEdit": EDIT}]}
    },
    "lectern.resources": {"result": {"items": [ITEM], "templates": [], "incomplete": False}},
    "lectern.servers": {"result": {"servers": [{"name": "s"}]}},
    "textDocument/hover": {"result": {"contents": {"kind": "markdown", "value": "**welcome** of s"}}},
    "textDocument/documentLink": {"result": [{"target": DOCUMENT}]},
    "workspace/textDocumentContent": {"result": {"text": "hello\n"}},
    "lectern.open": {"result": {"documents": [{"document": DOCUMENT, "title": "w", "size": 6}]}},
    "lectern.expand": {"result": {"text": "<r>hello</r>\nHave a look at @s:u://1", "resources": [MENTIONED]}},
}
SHOWN = {"lectern.open": [{"id": 1, "method": "window/showDocument", "params": {"uri": DOCUMENT}}]}


async def play(tmp_path: Path, **changes: Any) -> list[str]:
    """Plays all steps against answers from a script; the names of those that were done."""
    images = {"result": {"items": [], "templates": [], "incomplete": False}}
    script = {"answers": {**GOOD, **changes.pop("answers", {})}, "before": SHOWN, **changes}
    command = [sys.executable, "-c", PLAYER, json.dumps(script)]
    done = []
    async with started(command, folder=tmp_path) as editor:
        steps = Play(_without_images(editor, images["result"]), tmp_path, "wel").steps()
        for name, step in steps:
            await step()
            done.append(name)
    return done


def _without_images(editor: Editor, answer: Any) -> Editor:
    """The same editor, for which no server lists an image."""
    real = editor.command

    async def command(name: str, argument: Any = None) -> Any:
        return answer if (argument or {}).get("mimeType") == "image/*" else await real(name, argument)

    editor.command = command  # type: ignore[method-assign]
    return editor


@pytest.mark.anyio
async def test_right_answers_are_called_done(tmp_path: Path) -> None:
    assert await play(tmp_path) == OF_ONES_OWN


WRONG = {
    "no completion at the at-sign": {"initialize": {"result": {"capabilities": {}}}},
    "completion answers null": {"textDocument/completion": {"result": None}},
    "the resource is not offered": {"textDocument/completion": {"result": []}},
    "the edit leaves letters": {
        "textDocument/completion": {
            "result": [
                {
                    "label": "w",
                    "textEdit": {
                        "newText": "@s:u://1",
                        "range": {"start": {"line": 0, "character": 15}, "end": {"line": 0, "character": 18}},
                    },
                }
            ]
        }
    },
    "nothing is listed": {
        "lectern.resources": {"result": {"items": [], "templates": [], "incomplete": False}}
    },
    "hover is null": {"textDocument/hover": {"result": None}},
    "hover names another server": {"textDocument/hover": {"result": {"contents": "welcome"}}},
    "no link": {"textDocument/documentLink": {"result": []}},
    "a link that leads elsewhere": {
        "textDocument/documentLink": {"result": [{"target": "https://example.org"}]}
    },
    "an empty document": {"workspace/textDocumentContent": {"result": {"text": "\n"}}},
    "another document": {
        "lectern.open": {"result": {"documents": [{"document": "lectern://x", "title": "w"}]}}
    },
    "nothing is included": {
        "lectern.expand": {
            "result": {
                "text": "- Have a look at @s:u://1",
                "resources": [{**MENTIONED, "status": "notFound"}],
            }
        }
    },
    "nothing is mentioned": {
        "lectern.expand": {"result": {"text": "Have a look at @s:u://1", "resources": []}}
    },
    "the text alone": {
        "lectern.expand": {"result": {"text": "Have a look at @s:u://1", "resources": [MENTIONED]}}
    },
    "no document": {"lectern.open": {"result": {"documents": []}}},
}


@pytest.mark.anyio
@pytest.mark.parametrize("answers", WRONG.values(), ids=WRONG)
async def test_a_wrong_answer_fails_its_step(tmp_path: Path, answers: Mapping[str, Any]) -> None:
    with pytest.raises(FailedStepError):
        await play(tmp_path, answers=answers)


@pytest.mark.anyio
async def test_an_error_and_a_death_end_the_play(tmp_path: Path) -> None:
    refused = {"error": {"code": -32803, "message": "no luck", "data": {"kind": "serverFailed"}}}
    with pytest.raises(ResponseError, match="no luck") as caught:
        await play(tmp_path, answers={"textDocument/hover": refused})
    assert (caught.value.code, caught.value.data) == (-32803, {"kind": "serverFailed"})
    with pytest.raises(ServerGoneError, match="exit code 7"):
        await play(tmp_path, answers={"textDocument/hover": "die"})
    with pytest.raises(FailedStepError, match="exit code 1"):
        await play(tmp_path, exit=1)


@pytest.mark.anyio
async def test_a_document_that_is_never_shown_ends_with_the_server(tmp_path: Path) -> None:
    script = {"answers": GOOD}
    async with started([sys.executable, "-c", PLAYER, json.dumps(script)], folder=tmp_path) as editor:
        await editor.initialize([tmp_path])
        waiting = asyncio.create_task(editor.heard("window/showDocument"))
        assert await editor.end() == 0
        with pytest.raises(ServerGoneError):
            await waiting
        with pytest.raises(ServerGoneError):
            await editor.request("textDocument/hover")


@pytest.mark.anyio
async def test_a_step_that_takes_too_long_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "STEP_SECONDS", 0.2)
    async with started([sys.executable, "-c", "input()"], folder=tmp_path) as editor:
        assert await demo._steps(Play(editor, tmp_path, "wel")) == 1
    assert "✗ start" in capsys.readouterr().out


@pytest.mark.anyio
async def test_an_unknown_request_of_the_server_is_refused_politely(tmp_path: Path) -> None:
    asked = [{"id": 9, "method": "window/unheardOf", "params": {}}]
    script = {"answers": GOOD, "before": {"textDocument/hover": asked}}
    async with started([sys.executable, "-c", PLAYER, json.dumps(script)], folder=tmp_path) as editor:
        await editor.request("textDocument/hover")
        assert editor.requests == [("window/unheardOf", {})]


@pytest.mark.skipif(os.name != "posix", reason="a terminal is played by a pseudo terminal")
@pytest.mark.parametrize(
    ("more", "colour"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_a_terminal_gets_colour_unless_it_wants_none(
    environment: Mapping[str, str], more: Mapping[str, str], colour: bool
) -> None:
    own = {name: value for name, value in environment.items() if name != "NO_COLOR"}
    script = "from mcp_lectern.cli.demo import _mark; print(_mark(done=True))"
    terminal, side = os.openpty()
    try:
        command = [sys.executable, "-P", "-c", script]
        subprocess.run(command, stdout=side, env={**own, "TERM": "xterm", **more}, check=True)
        assert (b"\x1b[32m" in os.read(terminal, 1000)) is colour
    finally:
        os.close(side)
        os.close(terminal)

"""A scripted MCP server over stdio: does exactly what a JSON script says, right or wrong. Stdlib only.

    python tests/support/mcp_server.py --script script.json [--control 127.0.0.1:PORT]

Tests use it through ``tests.support.scripted_server.ScriptedServer``, which writes the script and listens on
the control address. The script is one JSON object; every key may be left out:

    era           "legacy" (default), "modern", "both", "none": does it know initialize, server/discover
    versions      the handshake revisions it speaks, oldest first (default: all four)
    modern_versions   what server/discover names (default ["2026-07-28"])
    capabilities  as declared (default {"resources": {"listChanged": true}})
    resources, templates   the listed entries, raw; an entry may be any JSON value
    generate      N: list N made-up resources instead (``made://item/0`` and on)
    page_size     entries a page (default: everything on one)
    contents      URI -> text, or a list of content items, or a whole result
    answers       method -> an answer, or a list of answers for the first, second, ... call (the last repeats)
    on_start      actions before the first message is read
    by_start      script keys that replace others in the first, second, ... process (the last repeats)
    ignore_eof, ignore_sigterm   true: only SIGKILL ends it
    grandchild    true: starts a sleeping child (its pid is reported); "detached": in a session of its own
    hook          path of a Python file; its ``handle(server, message) -> bool`` sees each message first

An answer is an object; one of ``result``, ``error``, ``raw`` (text written as it is; ``$ID`` is the request's
id), ``silent`` and ``exit`` (a code) says what happens, without them the server answers normally; ``before``
and ``after`` hold actions, and ``gate`` names a gate that the test must open first (other messages are served
meanwhile).

An action is one of {"write": text}, {"write_hex": hex}, {"repeat": text, "times": N}, {"stderr": text},
{"notify": [method, params]}, {"request": message}, {"gate": name}, {"change": {script keys}},
{"close_stdout": true}, {"exit": code}.

Over the control connection the test sees every message and gives actions at any time.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = ["2026-07-28"]
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
Json = Any


class Control:
    """The line to the test; without an address everything is open and nothing is reported."""

    def __init__(self, address: str | None) -> None:
        self.lock = threading.Lock()
        self.opened: set[str] = set()
        self.gate_changed = threading.Condition()
        self.confirmed = threading.Semaphore(0)
        self.stream: socket.socket | None = None
        if address:
            host, _, port = address.rpartition(":")
            self.stream = socket.create_connection((host, int(port)))

    def report(self, **event: Json) -> None:
        if self.stream:
            with self.lock:
                self.stream.sendall(json.dumps(event).encode() + b"\n")

    def tell(self, **event: Json) -> None:
        """Report, and wait until the test knows: it can ask about anything that was answered afterwards."""
        self.report(**event)
        if self.stream:
            self.confirmed.acquire(timeout=10)

    def listen(self, server: Server) -> None:
        if not self.stream:
            return
        with self.stream.makefile("r", encoding="utf-8") as lines, contextlib.suppress(OSError):
            for line in lines:
                self.obey(json.loads(line), server)

    def obey(self, command: dict[str, Json], server: Server) -> None:
        if not command:
            self.confirmed.release()
        elif "open" in command:
            with self.gate_changed:
                self.opened.add(command["open"])
                self.gate_changed.notify_all()
        else:
            server.act([command])

    def wait(self, gate: str) -> None:
        if self.stream:
            self.report(waiting=gate)
            with self.gate_changed:
                self.gate_changed.wait_for(lambda: gate in self.opened)


class Server:
    """The script and what has happened so far; ``state`` is free for hooks."""

    def __init__(self, script: dict[str, Json], control: Control) -> None:
        self.script = script
        self.control = control
        self.state: dict[str, Json] = {}
        self.calls: dict[str, int] = {}
        self.listening: list[Json] = []
        self.pages: dict[int, str] = {}
        self.out = sys.stdout.buffer
        self.write_lock = threading.RLock()
        self.hook = _load_hook(script.get("hook"))

    # What it can do.

    def write(self, data: str | bytes) -> None:
        """Put raw bytes on stdout."""
        with self.write_lock:
            self.out.write(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
            self.out.flush()

    def send(self, message: Json) -> None:
        """Put one JSON message on stdout."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

    def notify(self, method: str, params: Json = None) -> None:
        """Send a notification, to each open listen stream where there is one."""
        body = {"method": method} if params is None else {"method": method, "params": params}
        if not self.listening:
            self.send(body)
        for subscription in self.listening:
            self.send({"method": method, "params": {**(params or {}), "_meta": {SUBSCRIPTION: subscription}}})

    def act(self, actions: list[dict[str, Json]]) -> None:
        """Carry out actions, in order."""
        for action in actions:
            for name, perform in self._actions.items():
                if name in action:
                    perform(action)

    @property
    def _actions(self) -> dict[str, Callable[[dict[str, Json]], object]]:
        return {
            "write": lambda action: self.write(action["write"]),
            "write_hex": lambda action: self.write(bytes.fromhex(action["write_hex"])),
            "repeat": self._repeat,
            "stderr": lambda action: print(action["stderr"], end="", file=sys.stderr, flush=True),
            "notify": lambda action: self.notify(*action["notify"]),
            "request": lambda action: self.send(action["request"]),
            "gate": lambda action: self.control.wait(action["gate"]),
            "change": self._change,
            "close_stdout": lambda _action: os.close(1),
            "exit": lambda action: os._exit(action["exit"]),
        }

    def _repeat(self, action: dict[str, Json]) -> None:
        for _ in range(action["times"]):
            self.write(action["repeat"])

    def _change(self, action: dict[str, Json]) -> None:
        self.script.update(action["change"])
        self.pages.clear()

    # How it serves.

    def receive(self, line: str) -> None:
        """Serve one line of stdin."""
        message = json.loads(line)
        self.control.tell(received=message)
        if self.hook and self.hook(self, message):
            return
        if not isinstance(message, dict) or "method" not in message:
            return
        if message["method"] == "notifications/cancelled":
            cancelled = (message.get("params") or {}).get("requestId")
            self.listening = [stream for stream in self.listening if stream != cancelled]
        answer = self._scripted(message["method"])
        if "gate" in answer or any("gate" in action for action in answer.get("before", [])):
            threading.Thread(target=self._answer, args=(message, answer), daemon=True).start()
        else:
            self._answer(message, answer)

    def _scripted(self, method: str) -> dict[str, Json]:
        answers = self.script.get("answers", {}).get(method, {})
        count = self.calls.get(method, 0)
        self.calls[method] = count + 1
        if isinstance(answers, list):
            return dict(answers[min(count, len(answers) - 1)])
        return dict(answers)

    def _answer(self, message: dict[str, Json], answer: dict[str, Json]) -> None:
        if "gate" in answer:
            self.control.wait(answer["gate"])
        self.act(answer.get("before", []))
        identity = message.get("id")
        if "exit" in answer:
            os._exit(answer["exit"])
        if "raw" in answer:
            self.write(answer["raw"].replace("$ID", json.dumps(identity)))
        elif "result" in answer:
            self.send({"id": identity, "result": answer["result"]})
        elif "error" in answer:
            self.send({"id": identity, "error": answer["error"]})
        elif identity is not None and not answer.get("silent"):
            self._serve(message["method"], message.get("params") or {}, identity)
        self.act(answer.get("after", []))

    def _serve(self, method: str, params: dict[str, Json], identity: Json) -> None:
        served: dict[str, Callable[[dict[str, Json], Json], Json]] = {
            "initialize": self._initialize,
            "server/discover": self._discover,
            "subscriptions/listen": self._listen,
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
            "resources/read": self._read,
            "resources/subscribe": lambda _params, _identity: {"result": {}},
            "resources/unsubscribe": lambda _params, _identity: {"result": {}},
            "ping": lambda _params, _identity: {"result": {}},
        }
        serve = served.get(method)
        body = serve(params, identity) if serve else _error(-32601, f"Method not found: {method}")
        if body is not None:
            self.send({"id": identity, **body})

    @property
    def _capabilities(self) -> Json:
        return self.script.get("capabilities", {"resources": {"listChanged": True}})

    def _initialize(self, params: dict[str, Json], _identity: Json) -> Json:
        if self.script.get("era", "legacy") not in ("legacy", "both"):
            return _error(-32022, "Unsupported protocol version", {"supported": MODERN})
        versions = self.script.get("versions", LEGACY)
        asked = params.get("protocolVersion")
        return {
            "result": {
                "protocolVersion": asked if asked in versions else versions[-1],
                "capabilities": self._capabilities,
                "serverInfo": {"name": "scripted", "version": "1.0"},
            }
        }

    def _discover(self, _params: dict[str, Json], _identity: Json) -> Json:
        if self.script.get("era", "legacy") not in ("modern", "both"):
            return _error(-32601, "Method not found: server/discover")
        return {
            "result": {
                "resultType": "complete",
                "supportedVersions": self.script.get("modern_versions", MODERN),
                "capabilities": self._capabilities,
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "1.0"}},
                "ttlMs": 0,
                "cacheScope": "private",
            }
        }

    def _listen(self, params: dict[str, Json], identity: Json) -> Json:
        self.listening.append(identity)
        self.send(
            {
                "method": "notifications/subscriptions/acknowledged",
                "params": {
                    "_meta": {SUBSCRIPTION: identity},
                    "notifications": params.get("notifications", {}),
                },
            }
        )

    def _list_resources(self, params: dict[str, Json], identity: Json) -> Json:
        count: Json = self.script.get("generate")
        if count is None:
            return self._page(self.script.get("resources", []), "resources", params)
        start, size = int(params.get("cursor", 0)), int(self.script.get("page_size") or count)
        if start not in self.pages:
            entries = [_made(number) for number in range(start, min(start + size, count))]
            more = {"nextCursor": str(start + size)} if start + size < count else {}
            self.pages[start] = json.dumps({"resultType": "complete", "resources": entries, **more})
        self.write(f'{{"jsonrpc":"2.0","id":{json.dumps(identity)},"result":{self.pages[start]}}}\n')
        return None

    def _list_templates(self, params: dict[str, Json], _identity: Json) -> Json:
        return self._page(self.script.get("templates", []), "resourceTemplates", params)

    def _page(self, entries: list[Json], key: str, params: dict[str, Json]) -> Json:
        start, size = int(params.get("cursor", 0)), self.script.get("page_size") or len(entries) or 1
        result: dict[str, Json] = {"resultType": "complete", key: entries[start : start + size]}
        if start + size < len(entries):
            result["nextCursor"] = str(start + size)
        return {"result": result}

    def _read(self, params: dict[str, Json], _identity: Json) -> Json:
        uri = params.get("uri")
        contents = self.script.get("contents", {})
        if uri not in contents:
            code = -32602 if self.script.get("era") == "modern" else -32002
            return _error(code, "Resource not found", {"uri": uri})
        content = contents[uri]
        if isinstance(content, str):
            content = [{"uri": uri, "mimeType": "text/plain", "text": content}]
        result = {"resultType": "complete", "contents": content} if isinstance(content, list) else content
        return {"result": result}


def _made(number: int) -> dict[str, Json]:
    return {
        "uri": f"made://item/{number}",
        "name": f"item-{number}",
        "title": f"Item number {number}",
        "description": f"What item {number} is about, in a short sentence",
        "mimeType": "text/markdown",
        "size": 100 + number,
        "annotations": {"audience": ["user"], "priority": 0.5},
    }


def _error(code: Json, message: str, data: Json = None) -> dict[str, Json]:
    error = {"code": code, "message": message}
    return {"error": error if data is None else {**error, "data": data}}


def _load_hook(path: str | None) -> Json:
    if path is None:
        return None
    specification = importlib.util.spec_from_file_location("hook", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.handle


def _grandchild(kind: Json) -> int:
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    return subprocess.Popen(sleep, start_new_session=kind == "detached").pid


def _script_of_this_start(path: Path) -> dict[str, Json]:
    script: dict[str, Json] = json.loads(path.read_text(encoding="utf-8"))
    if by_start := script.get("by_start"):
        with path.with_suffix(".starts").open("ab") as starts:
            starts.write(b".")
            number = starts.tell()
        script.update(by_start[min(number, len(by_start)) - 1])
    return script


def main() -> None:
    """Run the server until its standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--control")
    options = parser.parse_args()
    script = _script_of_this_start(options.script)
    control = Control(options.control)
    if script.get("ignore_sigterm"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    children = [_grandchild(script["grandchild"])] if script.get("grandchild") else []
    server = Server(script, control)
    threading.Thread(target=control.listen, args=(server,), daemon=True).start()
    control.tell(started=os.getpid(), children=children, cwd=str(Path.cwd()), env=dict(os.environ))
    server.act(script.get("on_start", []))
    for line in sys.stdin:
        if line.strip():
            server.receive(line)
    control.tell(eof=True)
    if script.get("ignore_eof"):
        threading.Event().wait()
    os._exit(0)


if __name__ == "__main__":
    main()

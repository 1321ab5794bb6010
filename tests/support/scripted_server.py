"""The test's side of the scripted MCP server: writes its script, sees what it received, tells it what to do.

    resources = [{"uri": "a://1", "name": "one"}]
    with ScriptedServer(tmp_path, resources=resources, contents={"a://1": "text"}) as server:
        entry = server.entry()                       # {"command": …, "args": […]} for a configuration file
        …                                            # let Lectern connect
        await server.wait_received("resources/list")
        server.change(resources=[])                  # serves the new list and sends list_changed
        assert server.starts == 1

Keywords are the script's keys (see ``mcp_server.py``). A gate holds an answer back until the test opens it:

    ScriptedServer(tmp_path, answers={"resources/read": {"gate": "go", "result": {"contents": []}}})
    …
    await server.wait_waiting("go"); server.open("go")

Nothing here waits by sleeping. Leaving the ``with`` ends every process that the server reported, by its id.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio.to_thread

PROGRAM = Path(__file__).with_name("mcp_server.py")
Json = Any


class ScriptedServer:
    """One script, any number of processes that run it (restarts); ``starts`` counts them."""

    def __init__(self, folder: Path, *, name: str = "scripted", **script: Json) -> None:
        self.script_path = folder / f"{name}.script.json"
        self._write_script(script)
        self._script = script
        self._changed = threading.Condition()
        self._events: list[tuple[int, dict[str, Json]]] = []
        self._streams: dict[int, socket.socket] = {}
        self._ended: set[int] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    # How it is started.

    @property
    def command(self) -> str:
        return sys.executable

    @property
    def args(self) -> tuple[str, ...]:
        port = self._listener.getsockname()[1]
        return ("-u", str(PROGRAM), "--script", str(self.script_path), "--control", f"127.0.0.1:{port}")

    @property
    def env(self) -> dict[str, str]:
        return dict(os.environ)

    def entry(self, **more: Json) -> dict[str, Json]:
        """The server as an entry of an mcp.json file."""
        return {"command": self.command, "args": list(self.args), **more}

    # What it has seen.

    @property
    def starts(self) -> int:
        """How many processes were started so far."""
        return len(self.pids)

    @property
    def pids(self) -> list[int]:
        return [event["started"] for event in self._seen("started")]

    @property
    def children(self) -> list[int]:
        """The pids of the grandchildren that the servers started."""
        return [pid for event in self._seen("started") for pid in event["children"]]

    @property
    def started(self) -> list[dict[str, Json]]:
        """Of each start: ``started`` (the pid), ``cwd``, ``env``, ``children``."""
        return self._seen("started")

    def received(self, method: str | None = None) -> list[Json]:
        """Every message received, or those of one method, oldest first."""
        messages = [event["received"] for event in self._seen("received")]
        return [message for message in messages if method is None or _method(message) == method]

    async def wait_received(self, method: str, count: int = 1, timeout: float = 20) -> Json:
        """Wait for the count-th message of this method, and return it."""
        await self._wait(lambda: len(self.received(method)) >= count, f"{count} x {method}", timeout)
        return self.received(method)[count - 1]

    async def wait_waiting(self, gate: str, count: int = 1, timeout: float = 20) -> None:
        """Wait until a server stands before the gate."""

        def waiting() -> bool:
            return [event["waiting"] for event in self._seen("waiting")].count(gate) >= count

        await self._wait(waiting, f"gate {gate}", timeout)

    async def wait_eof(self, count: int = 1, timeout: float = 20) -> None:
        """Wait until so many servers have seen the end of their input."""
        await self._wait(lambda: len(self._seen("eof")) >= count, f"{count} x end of input", timeout)

    async def wait_started(self, count: int = 1, timeout: float = 20) -> None:
        await self._wait(lambda: self.starts >= count, f"{count} starts", timeout)

    async def wait_ended(self, count: int = 1, timeout: float = 20) -> None:
        """Wait until so many server processes have ended."""
        await self._wait(lambda: len(self._ended) >= count, f"{count} ends", timeout)

    # What it is told.

    def open(self, gate: str) -> None:
        """Open a gate for good, in every running process."""
        self._command(open=gate)

    def send(self, message: str | bytes | dict[str, Json]) -> None:
        """Put raw text or bytes, or a JSON message with its newline, on the server's stdout now."""
        if isinstance(message, bytes):
            self._command(write_hex=message.hex())
        else:
            self._command(write=message if isinstance(message, str) else json.dumps(message) + "\n")

    def notify(self, method: str, params: Json = None) -> None:
        """Send a notification now, on the listen streams where the era has them."""
        self._command(notify=[method, params])

    def stderr(self, text: str) -> None:
        self._command(stderr=text)

    def change(self, *, notify: bool = True, **script: Json) -> None:
        """Replace keys of the script, for running and later processes, and send list_changed."""
        self._script = {**self._script, **script}
        self._write_script(self._script)
        self._command(change=script)
        if notify:
            self.notify("notifications/resources/list_changed")

    def exit(self, code: int = 0) -> None:
        """Let the running processes end themselves with this code."""
        self._command(exit=code)

    # How it works.

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening and end what is left of the reported processes."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._changed:
            alive = [pid for pid in self.pids if pid not in self._ended] + self.children
            streams = list(self._streams.values())
        for pid in alive:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        for stream in streams:
            with contextlib.suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)

    def _write_script(self, script: dict[str, Json]) -> None:
        self.script_path.write_text(json.dumps(script), encoding="utf-8")

    def _seen(self, key: str) -> list[dict[str, Json]]:
        with self._changed:
            return [event for _, event in self._events if key in event]

    async def _wait(self, condition: Callable[[], bool], what: str, timeout: float) -> None:
        def wait() -> bool:
            with self._changed:
                return bool(self._changed.wait_for(condition, timeout))

        if not await anyio.to_thread.run_sync(wait, abandon_on_cancel=True):
            raise TimeoutError(f"the scripted server saw no {what} within {timeout} s; it saw {self._events}")

    def _command(self, **command: Json) -> None:
        with self._changed:
            streams = [(key, stream) for key, stream in self._streams.items() if key not in self._ended]
        for _, stream in streams:
            with contextlib.suppress(OSError):
                stream.sendall(json.dumps(command).encode() + b"\n")

    def _accept(self) -> None:
        while True:
            try:
                stream, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._follow, args=(stream,), daemon=True).start()

    def _follow(self, stream: socket.socket) -> None:
        pid = 0
        with stream, stream.makefile("r", encoding="utf-8") as lines, contextlib.suppress(OSError):
            for line in lines:
                event = json.loads(line)
                with self._changed:
                    if "started" in event:
                        pid = event["started"]
                        self._streams[pid] = stream
                    self._events.append((pid, event))
                    self._changed.notify_all()
                if event.keys() & {"started", "received", "eof"}:
                    stream.sendall(b"{}\n")
        with self._changed:
            self._ended.add(pid)
            self._changed.notify_all()


def _method(message: Json) -> Json:
    return message.get("method") if isinstance(message, dict) else None

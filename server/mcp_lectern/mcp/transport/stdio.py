"""MCP over a child's standard streams: one message a line (basic/transports/stdio); must not know methods."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Final

import anyio.lowlevel

from mcp_lectern.mcp.errors import StartFailed
from mcp_lectern.mcp.wire import jsonrpc
from mcp_lectern.mcp.wire.framing import LineSplitter, Oversize
from mcp_lectern.mcp.wire.gathering import Gathered

from .duplex import Ending, Outgoing
from .executables import find_executable, search_path, unsafe_batch_argument
from .parts import STRETCH
from .processes import Process

STDERR_TAIL_BYTES: Final = 8 * 1024
STDERR_LINE_BYTES: Final = 4 * 1024
STDERR_LINES: Final = 1000
"""Lines of one chunk that go to the log, the last ones."""
EXIT_CODE_WAIT: Final = 0.5


@dataclass(frozen=True, slots=True)
class StdioParameters:
    """How to start a server. ``env`` is all it gets; a bare ``command`` is found on the PATH in it only."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path


NOISE_LINES: Final = 20
"""Lines of one chunk that are no JSON object or array and are looked at all the same."""
_OPENINGS: Final = frozenset({b"{", b"[", b"\xef", b""})
"""How a line begins that may hold a message, after some white space."""
_INDENTED: Final = 64
_SHORTEST: Final = len('{"method":"a"}')


class StderrTail:
    """The end of what a process wrote on stderr, and each line of it to ``log`` as it comes."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._lines = LineSplitter(STDERR_LINE_BYTES)
        self._tail = b""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self._tail = (self._tail + chunk)[-STDERR_TAIL_BYTES:]
        lines = list(self._lines.feed(chunk))
        if len(lines) > STDERR_LINES:
            self._log(f"… ({len(lines) - STDERR_LINES} lines of a flood were left out)")
        for line in lines[-STDERR_LINES:]:
            if isinstance(line, bytes):
                self._log(line.decode("utf-8", "replace").rstrip("\r"))
            elif isinstance(line, Oversize) and line.tail is None:
                self._log(line.head.decode("utf-8", "replace") + " … (a very long line)")

    def note(self, line: str) -> None:
        """A line of our own among the server's."""
        self._log(line)

    @property
    def text(self) -> str:
        """The last bytes as text, from the beginning of a line where there is one."""
        tail = self._tail
        if len(tail) == STDERR_TAIL_BYTES and b"\n" in tail[:-1]:
            tail = tail[tail.index(b"\n") + 1 :]
        return tail.decode("utf-8", "replace").strip()


class StdioDuplex:
    """A ``Duplex`` over a started process."""

    def __init__(self, process: Process, stderr: StderrTail, limit: int) -> None:
        self._process = process
        self._stderr = stderr
        self._splitter = LineSplitter(limit)

    def post(self, message: Outgoing) -> None:
        """Write one line; it is dropped if the server is gone or reads nothing at all."""
        self._process.write(jsonrpc.encode(message) + b"\n")

    def release(self, _identity: int, notice: Outgoing | None = None) -> None:
        """Cancel in words, since all requests share one pipe."""
        if notice is not None:
            self.post(notice)

    def agreed(self, version: str) -> None:
        """Nothing: no line says which version it is of."""

    async def receive(self) -> AsyncIterator[Gathered | Oversize]:
        """The lines of its stdout."""
        async for chunk in self._process.chunks():
            began = perf_counter()
            for line in _without_noise(self._splitter.feed(chunk)):
                yield line
                if perf_counter() - began > STRETCH:
                    await anyio.lowlevel.checkpoint()
                    began = perf_counter()
                # Until the next one comes, which may take hours, a large one would be kept for nothing.
                del line
        for line in self._splitter.close():
            # Half a message is no answer: what waits for it fails by the end of the process, with its cause.
            if isinstance(line, Oversize) or not isinstance(jsonrpc.read(line), jsonrpc.Rubbish):
                yield line
            else:
                self._stderr.note("(its output ended in the middle of a message)")

    async def ended(self) -> Ending:
        """Its exit code, if it has one by now, and the end of its stderr."""
        exit_code = await self._process.exited(within=EXIT_CODE_WAIT)
        return Ending(exit_code, self._stderr.text)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid


def _without_noise(lines: Iterable[Gathered | Oversize]) -> Iterator[Gathered | Oversize]:
    """The lines, and of what can be no message only the first few: a flood of it costs little."""
    noise = 0
    for line in lines:
        if isinstance(line, bytes) and _is_noise(line):
            noise += 1
            if noise > NOISE_LINES:
                continue
        yield line


def _is_noise(line: bytes) -> bool:
    """Whether it can hold no message, as most lines of a log, or of an object over several lines."""
    return len(line) < _SHORTEST or line[:_INDENTED].lstrip()[:1] not in _OPENINGS


@asynccontextmanager
async def start_process(
    parameters: StdioParameters, *, server: str, log: Callable[[str], None], limit: int
) -> AsyncIterator[StdioDuplex]:
    """Start a server; leaving ends the whole process tree. Raises StartFailed. ``limit``: bytes a line."""
    program = _program(parameters, server)
    stderr = StderrTail(log)
    try:
        process = await Process.start(
            program, parameters.args, env=parameters.env, cwd=parameters.cwd, on_stderr=stderr.feed
        )
    except (OSError, ValueError) as error:
        raise StartFailed(
            f'Server "{server}" could not be started: {program} in {parameters.cwd}: {error}.',
            server=server,
        ) from error
    try:
        yield StdioDuplex(process, stderr, limit)
    finally:
        await process.stop()


def _program(parameters: StdioParameters, server: str) -> Path:
    if not _is_folder(parameters.cwd):
        raise StartFailed(
            f'Server "{server}" could not be started: its working folder {parameters.cwd} does not exist.',
            server=server,
        )
    program = find_executable(parameters.command, parameters.env, parameters.cwd)
    if program is None:
        raise StartFailed(_not_found(parameters, server), server=server)
    if argument := unsafe_batch_argument(program, parameters.args):
        raise StartFailed(
            f'Server "{server}" was not started: {program} is a batch file, and its argument {argument!r} '
            "would be read by the shell; name the program itself instead.",
            server=server,
        )
    return program


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _not_found(parameters: StdioParameters, server: str) -> str:
    command = parameters.command
    if "/" in command or "\\" in command:
        return f'Server "{server}" could not be started: {command} is no program that can be run.'
    return (
        f'Server "{server}" could not be started: the command "{command}" was not found on the PATH '
        f"{search_path(parameters.env)!r}; install it, or give its full path."
    )

"""A child process as three streams of bytes and an orderly end; must not know what the bytes mean.

It stands on asyncio's subprocess protocol rather than on its stream readers: those stop at 64 KiB without a
newline, and on some Python versions their ``wait`` hangs while a grandchild holds a pipe.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

import anyio
import anyio.lowlevel

from .process_tree import ProcessTree, start_options, tree_of

BUFFERED_BYTES: Final = 4 * 1024 * 1024
STDIN_BYTES: Final = 4 * 1024 * 1024
GRACE: Final = 1.0
POLL: Final = 0.05
LAST_WORDS: Final = 0.1


class Process(asyncio.SubprocessProtocol):
    """One started process. ``stop`` must be awaited at the end, whatever has happened."""

    def __init__(self, on_stderr: Callable[[bytes], None]) -> None:
        self._on_stderr = on_stderr
        self._chunks: deque[bytes] = deque()
        self._buffered = 0
        self._paused = False
        self._readable = asyncio.Event()
        self._exited = asyncio.Event()
        self._stdout_ended = asyncio.Event()
        self._stderr_ended = asyncio.Event()
        self._stopping = False
        self._stdin_open = True
        self._transport: asyncio.SubprocessTransport
        self._tree: ProcessTree

    @classmethod
    async def start(
        cls,
        program: Path,
        args: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        on_stderr: Callable[[bytes], None],
    ) -> Process:
        """Start it. Raises OSError, or ValueError for an argument that no process can have."""
        # Cancelled halfway, asyncio would leave a process that nobody waits for.
        with anyio.CancelScope(shield=True):
            _, process = await asyncio.get_running_loop().subprocess_exec(
                lambda: cls(on_stderr), str(program), *args, env=dict(env), cwd=cwd, **start_options()
            )
        return process

    @property
    def pid(self) -> int:
        """The process id, for people; it may have ended."""
        return self._transport.get_pid()

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._transport.get_returncode()

    def write(self, data: bytes) -> None:
        """Put bytes on its stdin without waiting; dropped if it is gone or has read nothing for long."""
        stdin = cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(0))
        if stdin is not None and self._stdin_open and stdin.get_write_buffer_size() < STDIN_BYTES:
            stdin.write(data)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Its stdout, until that ends, or a moment after the process has (a grandchild may hold the pipe)."""
        while True:
            while self._chunks:
                yield self._take()
                # A server that floods its stdout must leave the event loop to everybody else.
                await anyio.lowlevel.checkpoint()
            if self._stdout_ended.is_set() or self._exited.is_set():
                over = self._stdout_ended.is_set() or not await self._last_words()
                if over and not self._chunks:
                    return
                continue
            self._readable.clear()
            await self._readable.wait()

    async def exited(self, within: float) -> int | None:
        """Its exit code, if it ends within so many seconds; its stderr has then been read."""
        with anyio.move_on_after(within):
            await self._exited.wait()
        with anyio.move_on_after(LAST_WORDS):
            await self._stderr_ended.wait()
        return self.exit_code

    async def stop(self) -> None:
        """Close its stdin, wait, ask the whole tree to end, wait, end it: at most about 2.5 s."""
        try:
            with anyio.CancelScope(shield=True):
                self._discard_stdout()
                self._close_stdin()
                if not await self._gone(GRACE):
                    self._tree.terminate()
                    await self._gone(GRACE)
        finally:
            self._tree.kill()
            try:
                with anyio.CancelScope(shield=True):
                    await self._gone(GRACE / 2)
            finally:
                self._transport.close()

    def _take(self) -> bytes:
        chunk = self._chunks.popleft()
        self._buffered -= len(chunk)
        if self._paused and self._buffered < BUFFERED_BYTES // 2:
            self._paused = False
            self._stdout.resume_reading()
        return chunk

    async def _last_words(self) -> bool:
        """Whether more of its stdout arrives in the moment after its end."""
        self._readable.clear()
        with anyio.move_on_after(LAST_WORDS):
            await self._readable.wait()
            return True
        return False

    async def _gone(self, within: float) -> bool:
        with anyio.move_on_after(within):
            await self._exited.wait()
            while self._tree.alive():
                await self._next_look()
            return True
        return False

    async def _next_look(self) -> None:
        """No system tells when a process group has become empty."""
        await anyio.sleep(POLL)

    def _discard_stdout(self) -> None:
        """From now on read and forget: a server that waits for a reader could not end."""
        self._stopping = True
        self._chunks.clear()
        if self._paused and not self._stdout_ended.is_set():
            self._stdout.resume_reading()

    def _close_stdin(self) -> None:
        stdin = self._transport.get_pipe_transport(0)
        if stdin is not None and self._stdin_open:
            self._stdin_open = False
            stdin.close()

    @property
    def _stdout(self) -> asyncio.ReadTransport:
        return cast("asyncio.ReadTransport", self._transport.get_pipe_transport(1))

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process runs."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._tree = tree_of(self._transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Bytes of stdout (1) or stderr (2)."""
        if fd == 2:
            self._on_stderr(data)
        elif not self._stopping:
            self._keep(data)

    def _keep(self, data: bytes) -> None:
        self._chunks.append(data)
        self._buffered += len(data)
        self._readable.set()
        if self._buffered > BUFFERED_BYTES and not self._paused:
            self._paused = True
            self._stdout.pause_reading()

    def pipe_connection_lost(self, fd: int, _exc: Exception | None) -> None:
        """A pipe has ended."""
        if fd == 0:
            self._stdin_open = False
        elif fd == 1:
            self._stdout_ended.set()
            self._readable.set()
        else:
            self._stderr_ended.set()

    def process_exited(self) -> None:
        """The process has ended; pipes may still hold bytes."""
        self._exited.set()
        self._readable.set()

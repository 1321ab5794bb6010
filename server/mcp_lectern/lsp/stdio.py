"""The bytes between editor and language server: framing, two threads, every way to end.

It must not know what the messages say. An editor that stops reading never holds the event loop, and the
process ends by ``exit``, end of input, a signal, or the death of the editor's process.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO

from mcp_lectern.lsp.parent import watch_parent

logger = logging.getLogger(__name__)

_CHUNK = 1 << 16
_FLUSH_SECONDS = 1.0
_HEADER_LIMIT = 1 << 14
"""Bytes of header lines that are looked at before the input is taken for something else than LSP."""


class FramingError(ValueError):
    """The input is not LSP's base protocol."""


class Frames:
    """Bytes in, message bodies out (LSP base protocol); header names in any case, unknown ones ignored."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The bodies that ``data`` completes. Raises :class:`FramingError` once no body can be found."""
        self._buffer += data
        while True:
            if self._length is None and not self._take_header():
                return
            length = self._length or 0
            if len(self._buffer) < length:
                return
            body = bytes(self._buffer[:length])
            del self._buffer[:length]
            self._length = None
            yield body

    def _take_header(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > _HEADER_LIMIT:
                raise FramingError("the editor sent no Content-Length header")
            return False
        self._length = _content_length(bytes(self._buffer[:end]))
        del self._buffer[: end + 4]
        return True


def _content_length(header: bytes) -> int:
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            return int(value)
    raise FramingError("the editor sent no Content-Length header")


class Writer:
    """Writes in order on a thread of its own; a broken pipe is the reader's to notice."""

    def __init__(self, output: BinaryIO) -> None:
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._output = output
        self._thread = threading.Thread(target=self._run, name="lectern-writer", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Queue one framed message."""
        self._queue.put(data)

    def close(self) -> None:
        """Flush what is queued, for a second at the most."""
        self._queue.put(None)
        self._thread.join(_FLUSH_SECONDS)

    def _run(self) -> None:
        while (data := self._queue.get()) is not None:
            try:
                self._output.write(data)
                self._output.flush()
            except (OSError, ValueError):
                return


class Loop:
    """Runs until told to end; ``code`` is the exit code then."""

    def __init__(self, receive: Callable[[object], None], descriptor: int) -> None:
        self._receive = receive
        self._descriptor = descriptor
        self._ended: asyncio.Future[int] | None = None

    def end(self, code: int) -> None:
        """End the process with this code; the first one counts."""
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(code)

    def watch(self, process_id: int | None) -> None:
        """End when the editor's process does, even if somebody else holds our input open."""
        if process_id is not None:
            watch_parent(process_id, lambda: self.end(1))

    async def run(self) -> int:
        """Read and hand on messages until the end; returns the exit code."""
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            with suppress(NotImplementedError, AttributeError, ValueError):
                loop.add_signal_handler(getattr(signal, name), self.end, 1)
        threading.Thread(target=self._read, args=(loop,), name="lectern-reader", daemon=True).start()
        return await self._ended

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """The reading thread. ``os.read`` holds no lock that the interpreter's end would wait for."""
        frames = Frames()
        with suppress(RuntimeError):
            try:
                while data := os.read(self._descriptor, _CHUNK):
                    for body in frames.feed(data):
                        loop.call_soon_threadsafe(self._deliver, _decode(body))
            except (OSError, FramingError) as error:
                logger.error("input from the editor ended: %s", error)
            loop.call_soon_threadsafe(self.end, 1)

    def _deliver(self, message: object) -> None:
        try:
            self._receive(message)
        except Exception:
            logger.exception("a message from the editor could not be handled")


def _decode(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        logger.error("a message from the editor is no JSON: %s", error)
        return None

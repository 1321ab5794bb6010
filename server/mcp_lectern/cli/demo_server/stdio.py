"""The sample server over standard input and output; must not know what a message means.

One thread reads and answers, a second one moves the clock; a lock keeps their lines whole.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Any, BinaryIO

from mcp_lectern.cli.demo_server import tour
from mcp_lectern.cli.demo_server.conversation import Conversation, unreadable
from mcp_lectern.cli.demo_server.moments import Moments


class Stand:
    """The running server: one conversation, its output, and the moving resources."""

    def __init__(self, output: BinaryIO, tick_s: float, journal_s: float) -> None:
        self._output = output
        self._lock = Lock()
        self._tick_s = tick_s
        self._moments = Moments(journal_s)
        self._conversation = Conversation(self._moments.now)

    def line(self, line: bytes) -> None:
        """Answers one line of input."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            answers = [unreadable()]
            with self._lock:
                self._send(answers)
            return
        with self._lock:
            self._send(self._conversation.receive(message))

    def move(self, stop: Event) -> None:
        """Moves the clock every ``tick_s`` seconds, and adds to the journal, until told to stop."""
        while not stop.wait(self._tick_s):
            with self._lock:
                grown = self._moments.tick()
                notices = self._conversation.moved(tour.CLOCK)
                notices += self._conversation.list_moved() if grown else []
                self._send(notices)

    def _send(self, messages: list[Any]) -> None:
        for message in messages:
            self._output.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        self._output.flush()


def serve(tick_s: float = 3.0, journal_s: float = 0.0) -> int:
    """Serves until standard input ends; the journal grows every ``journal_s`` seconds, 0 = never."""
    stand, stop = Stand(sys.stdout.buffer, tick_s, journal_s), Event()
    mover = Thread(target=_until_gone, args=(lambda: stand.move(stop),), daemon=True)
    mover.start()
    _until_gone(lambda: _read(stand))
    stop.set()
    # A client that reads no more may hold the other thread in a write: it is not waited for long.
    mover.join(timeout=1.0)
    return 0


def _read(stand: Stand) -> None:
    for line in sys.stdin.buffer:
        if line.strip():
            stand.line(line)


def _until_gone(work: Callable[[], None]) -> None:
    try:
        work()
    except BrokenPipeError:
        # The client has gone: what is still buffered goes nowhere, quietly, when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""A real Emacs in a terminal of its own, to which a test types; must not know Lectern."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

DEADLINE_SECONDS = 40.0
POLL_SECONDS = 0.05
ROWS, COLUMNS = 40, 120
META = "\x1b"
KEYS = {"<RET>": "\r", "<TAB>": "\t"}

SERVER = """\
(setq native-comp-async-report-warnings-errors nil
      server-socket-dir {folder} server-name "socket"
      inhibit-startup-screen t initial-scratch-message nil)
(require 'json)
(require 'server)
(server-start)
(load "~/.emacs.d/own.el")
"""


class Emacs:
    """One process, with a home of its own; ``configuration`` is a file that its init file loads.

    Keys come in through the terminal, as a person's do; what came of them is asked over Emacs's own socket.
    """

    def __init__(self, program: Path, home: Path, configuration: str) -> None:
        self._program = program
        self._home = home
        self._screen = bytearray()
        self._process: subprocess.Popen[bytes] | None = None
        self._terminal = -1
        folder = home / ".emacs.d"
        folder.mkdir(parents=True)
        # Emacs puts its socket into no folder that others may look into.
        home.chmod(0o700)
        (folder / "init.el").write_text(SERVER.format(folder=json.dumps(str(home))), encoding="utf-8")
        (folder / "own.el").write_text(configuration, encoding="utf-8")

    def __enter__(self) -> Self:
        """Start it, and return once it answers."""
        self._terminal, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            ["setsid", "--ctty", str(self._program), "--no-window-system"],
            cwd=self._home,
            env=self._environment(),
            stdin=inner,
            stdout=inner,
            stderr=inner,
        )
        os.close(inner)
        threading.Thread(target=self._drain, daemon=True).start()
        try:
            self.until((self._home / "socket").exists, "Emacs did not start")
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End it; its language servers end with it."""
        self._end()

    def _end(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._terminal)

    def lisp(self, expression: str) -> Any:
        """The value of an expression in the buffer that is selected, as JSON has it."""
        encoded = f"(base64-encode-string (encode-coding-string (json-encode {expression}) 'utf-8) t)"
        return json.loads(base64.b64decode(self._client(self._in_front(encoded)).strip().strip('"')))

    def do(self, form: str) -> None:
        """Evaluate a form for what it does."""
        self._client(self._in_front(f"(progn {form} nil)"))

    def keys(self, *keys: str) -> None:
        """Type keys in Emacs's notation: ``C-x``, ``M-.``, ``<RET>``; anything else is text."""
        for key in keys:
            os.write(self._terminal, _bytes(key))

    def command(self, name: str) -> None:
        """``M-x NAME RET``."""
        self.keys("M-x", name, "<RET>")

    def edit(self, file: Path | str) -> None:
        """Visit a file."""
        self.keys("C-x", "C-f", "C-a", "C-k", str(file), "<RET>")

    def text(self) -> str:
        """The text of the buffer in front."""
        text: str = self.lisp("(buffer-substring-no-properties (point-min) (point-max))")
        return text

    def echo(self) -> str:
        """What the echo area says."""
        return str(self.lisp('(or (current-message) "")'))

    def buffer(self, name: str) -> str:
        """The text of a buffer that some window shows; empty where none does."""
        shown = f"(and (get-buffer-window {json.dumps(name)}) (get-buffer {json.dumps(name)}))"
        return str(self.lisp(f'(if {shown} (with-current-buffer {shown} (buffer-string)) "")'))

    def until(self, condition: Callable[[], Any], complaint: str) -> Any:
        """Look again and again; fail with ``complaint`` and the end of what Emacs drew."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            if answer := condition():
                return answer
            time.sleep(POLL_SECONDS)
        msg = f"{complaint}: {bytes(self._screen[-2000:]).decode(errors='replace')!r}"
        raise AssertionError(msg)

    @staticmethod
    def _in_front(form: str) -> str:
        # A file is visited and a command is run in the selected window, whatever buffer the socket has.
        return f"(with-current-buffer (window-buffer (frame-selected-window)) {form})"

    def _client(self, form: str) -> str:
        program = self._program.with_name("emacsclient")
        done = subprocess.run(
            [str(program), "--socket-name", str(self._home / "socket"), "--eval", form],
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=DEADLINE_SECONDS,
            check=False,
        )
        if done.returncode:
            raise AssertionError(done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace"))
        return done.stdout.decode()

    def _drain(self) -> None:
        """Take what Emacs draws, or it would stop when the terminal is full."""
        while True:
            try:
                drawn = os.read(self._terminal, 65536)
            except OSError:
                return
            if not drawn:
                return
            self._screen += drawn
            del self._screen[:-20_000]

    def _environment(self) -> dict[str, str]:
        home = str(self._home)
        folders = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
        own = {**dict.fromkeys(folders, home), "TERM": "xterm", "LC_ALL": "C.UTF-8"}
        return {**os.environ, **own}


def _bytes(key: str) -> bytes:
    if key in KEYS:
        return KEYS[key].encode()
    if len(key) == 3 and key.startswith("C-"):
        return bytes([ord(key[2].upper()) & 0x1F])
    if len(key) == 3 and key.startswith("M-"):
        return (META + key[2]).encode()
    return key.encode()

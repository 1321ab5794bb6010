"""A real Neovim with no terminal, to which a test types; must not know Lectern."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

DEADLINE_SECONDS = 30.0
POLL_SECONDS = 0.03


class Neovim:
    """One process, with a home of its own; ``configuration`` is its init file, in Lua.

    Keys come in as if typed, one after the other, so that menus open as they do for a person.
    """

    def __init__(self, program: Path, home: Path, configuration: str) -> None:
        self._program = program
        self._home = home
        self._socket = home / "socket"
        (home / "init.lua").write_text(configuration)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start it, and return once it answers."""
        options = ["--headless", "-u", str(self._home / "init.lua"), "-i", "NONE", "-n"]
        with (self._home / "neovim.log").open("wb") as log:
            self._process = subprocess.Popen(
                [str(self._program), *options, "--listen", str(self._socket)],
                cwd=self._home,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.until(self._socket.exists, "Neovim did not start")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End it; its language servers end with it."""
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def lua(self, expression: str) -> Any:
        """The value of a Lua expression."""
        quoted = expression.replace("'", "''")
        done = self._remote("--remote-expr", f"luaeval('vim.json.encode(({quoted}))')")
        return json.loads(done)

    def keys(self, keys: str) -> None:
        """Type keys at once, in Neovim's notation."""
        self._remote("--remote-send", keys)

    def type(self, text: str) -> None:
        """Type a text, each character after Neovim has dealt with the one before."""
        for character in text:
            self.keys({"<": "<lt>", "\n": "<CR>", " ": "<Space>"}.get(character, character))
            self.lua("vim.fn.mode()")

    def edit(self, file: Path | str) -> None:
        """Edit a file."""
        self.lua(f"vim.cmd.edit({json.dumps(str(file))})")

    def lines(self) -> list[str]:
        """The lines of the current buffer."""
        lines: list[str] = self.lua("vim.api.nvim_buf_get_lines(0, 0, -1, false)")
        return lines

    def menu(self) -> list[str]:
        """The words of the completion menu that is shown, in order."""
        shown = self.lua("vim.fn.complete_info({'pum_visible', 'items'})")
        return [item["word"] for item in shown["items"]] if shown["pum_visible"] else []

    def messages(self) -> str:
        """What it said."""
        return str(self.lua("vim.fn.execute('messages')"))

    def until(self, condition: Callable[[], Any], complaint: str) -> Any:
        """Look again and again; fail with ``complaint`` and what Neovim said."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            if answer := condition():
                return answer
            time.sleep(POLL_SECONDS)
        log = (self._home / "neovim.log").read_text(errors="replace")[-2000:]
        msg = f"{complaint}: {log}"
        raise AssertionError(msg)

    def _remote(self, *arguments: str) -> str:
        done = subprocess.run(
            [str(self._program), "--clean", "--headless", "--server", str(self._socket), *arguments],
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=DEADLINE_SECONDS,
            check=False,
        )
        if done.returncode:
            raise AssertionError(done.stderr.decode(errors="replace"))
        return done.stdout.decode()

    def _environment(self) -> dict[str, str]:
        home = str(self._home)
        own = dict.fromkeys(
            ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"), home
        )
        return {**os.environ, **own}

"""A real VS Code, served to a browser by code-server; must not know what is tested in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from tests import parts

START_SECONDS = 60.0
STOP_SECONDS = 10.0
POLL_SECONDS = 0.1
# Ends the whole group once the one who started it is gone, however that came about.
GUARD = """
import os, signal, subprocess, sys, threading
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
def watch():
    sys.stdin.read()
    os.killpg(0, signal.SIGKILL)
threading.Thread(target=watch, daemon=True).start()
sys.exit(child.wait())
"""

QUIET_SETTINGS: Mapping[str, object] = {
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "telemetry.telemetryLevel": "off",
    "extensions.autoCheckUpdates": False,
    "extensions.autoUpdate": False,
    "update.mode": "none",
    "chat.disableAIFeatures": True,
    "window.restoreWindows": "all",
}


class CodeServer:
    """One code-server with folders of its own under ``home``, listening on 127.0.0.1 only.

    Without a ``password`` whoever reaches it is let in: for tests, on machines that nobody else uses.

    ``machine`` holds the settings that name programs: VS Code reads these on the machine it runs on.
    """

    def __init__(
        self,
        home: Path,
        *,
        user: Mapping[str, object] = {},
        machine: Mapping[str, object] = {},
        password: str | None = None,
    ) -> None:
        self.home = home
        self._password = password
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._address = ""
        self._write_settings("User", {**QUIET_SETTINGS, **user})
        self._write_settings("Machine", machine)

    def install_extension(self, vsix: Path) -> None:
        """Install an extension from its file."""
        command = [*self._command(), "--install-extension", str(vsix)]
        environment = self._environment()
        subprocess.run(command, check=True, env=environment, capture_output=True, timeout=START_SECONDS)

    def address(self, folder: Path) -> str:
        """The address that opens a folder."""
        return f"{self._address}/?folder={folder}"

    def wait(self) -> None:
        """Wait until it ends."""
        assert self._process is not None
        self._process.wait()

    def __enter__(self) -> Self:
        """Start it, and return once it listens."""
        self._log = (self.home / "code-server.log").open("wb")
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                GUARD,
                *self._command(),
                "--bind-addr",
                "127.0.0.1:0",
                "--ignore-last-opened",
                "--auth",
                self._authentication,
            ],
            env=self._environment(),
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            self._address = self._listening()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End it and everything that it started."""
        self._stop()

    @property
    def _authentication(self) -> str:
        return "none" if self._password is None else "password"

    def _write_settings(self, place: str, settings: Mapping[str, object]) -> None:
        folder = self.home / "data" / place
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(settings, indent=2))

    def _command(self) -> list[str]:
        entry = parts.find("code-server")
        node = parts.find("node")
        if entry is None or node is None:
            raise parts.UnavailableError(parts.missing("code-server"))
        options = {
            "--user-data-dir": self.home / "data",
            "--extensions-dir": self.home / "extensions",
            "--config": self.home / "config.yaml",
        }
        switches = ["--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"]
        switches += ["--disable-getting-started-override"]
        return [str(node), str(entry), *switches, *(str(part) for pair in options.items() for part in pair)]

    def _environment(self) -> dict[str, str]:
        home = str(self.home)
        own = {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "PASSWORD": self._password or ""}
        return {**parts.node_environment(), **own}

    def _listening(self) -> str:
        assert self._process is not None
        deadline = time.monotonic() + START_SECONDS
        marker = "HTTP server listening on "
        while time.monotonic() < deadline and self._process.poll() is None:
            log = (self.home / "code-server.log").read_text()
            if marker in log:
                address = log.partition(marker)[2].split()[0].rstrip("/")
                with urllib.request.urlopen(f"{address}/healthz", timeout=START_SECONDS):
                    return address
            time.sleep(POLL_SECONDS)
        msg = f"code-server did not start: {(self.home / 'code-server.log').read_text()[-2000:]}"
        raise AssertionError(msg)

    def _stop(self) -> None:
        if self._process is not None:
            group = self._process.pid
            for ending in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(group, ending)
                    self._process.wait(STOP_SECONDS)
                except (ProcessLookupError, subprocess.TimeoutExpired):
                    continue
            if self._process.stdin is not None:
                self._process.stdin.close()
        if self._log is not None:
            self._log.close()

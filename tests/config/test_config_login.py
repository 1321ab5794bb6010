"""A server's environment when the editor was started from a desktop: what the user's profile makes of it."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from mcp_lectern.config import login
from mcp_lectern.config.launch import launch
from mcp_lectern.config.login import from_a_desktop, logged_in
from mcp_lectern.config.model import Launch, Level, Origin, ServerSpec
from mcp_lectern.config.places import Machine

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="login shells are POSIX")

SHELLS = [path for name in ("sh", "bash", "zsh", "fish", "tcsh") if (path := shutil.which(name))]


def _machine(tmp_path: Path, profile: str, shell: str = "/bin/sh", **more: str) -> Machine:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    (home / ".profile").write_text(profile, encoding="utf-8")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "SHELL": shell, **more}
    return Machine(home, environment)


def _spec(command: str) -> ServerSpec:
    return ServerSpec("it", "stdio", Origin(Level.USER, "settings"), "vscode", {}, command=command)


@pytest.mark.case("CFG-04")
def test_cfg_04_a_program_that_only_a_login_shell_finds_is_found(tmp_path: Path) -> None:
    tools = tmp_path / "home" / "tools with space"
    tools.mkdir(parents=True)
    program = tools / "npx-like"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    profile = f'echo "welcome back"\nexport PATH="$PATH:{tools}"\nexport TOKEN=from-profile\n'
    for more in ({}, {"TERM": "xterm", "SHLVL": "1"}):
        launched = launch(_spec("npx-like"), machine=_machine(tmp_path, profile, **more))
        assert isinstance(launched, Launch)
        assert launched.command == str(program)
        assert launched.env["TOKEN"] == "from-profile"
        assert launched.env["HOME"] == str(tmp_path / "home")


@pytest.mark.case("CFG-04")
def test_cfg_04_a_desktop_is_told_from_a_terminal(tmp_path: Path) -> None:
    assert from_a_desktop(_machine(tmp_path, ""))
    assert not from_a_desktop(_machine(tmp_path, "", TERM="xterm"))
    assert not from_a_desktop(Machine(tmp_path, {}, "win32"))


@pytest.mark.case("CFG-04")
@pytest.mark.parametrize("profile", ["exit 3\n", "exec true\n", "export A=$(printf '\\377')\n", "if\n"])
def test_cfg_04_a_broken_profile_changes_nothing_or_what_it_could(tmp_path: Path, profile: str) -> None:
    machine = logged_in(_machine(tmp_path, profile))
    assert machine is None or machine.environment["PATH"]


@pytest.mark.case("CFG-04")
def test_cfg_04_a_profile_that_waits_for_somebody_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login, "PATIENCE", 0.5)
    began = time.monotonic()
    assert logged_in(_machine(tmp_path, "sleep 600\n")) is None
    assert time.monotonic() - began < 5
    assert logged_in(_machine(tmp_path, "", shell="sh")) is None, "a shell without its path is nobody's"


@pytest.mark.case("CFG-04")
@pytest.mark.parametrize("shell", SHELLS)
def test_cfg_04_every_shell_is_understood(tmp_path: Path, shell: str) -> None:
    machine = logged_in(_machine(tmp_path, "", shell=shell, EXTRA='kept ‘as’ "it" $is'))
    assert machine is not None
    assert machine.environment["EXTRA"] == 'kept ‘as’ "it" $is'
    assert "SHLVL" not in machine.environment


@pytest.mark.case("CFG-04")
def test_cfg_04_a_profile_that_leaves_a_process_behind_is_not_waited_for(tmp_path: Path) -> None:
    """As an agent for keys does: it holds the shell's output for as long as it lives."""
    beside = tmp_path / "pid"
    profile = f"export TOKEN=from-profile\nsleep 600 &\necho $! > {beside}\n"
    began = time.monotonic()
    machine = logged_in(_machine(tmp_path, profile))
    try:
        assert machine is not None
        assert machine.environment["TOKEN"] == "from-profile"
        assert time.monotonic() - began < login.PATIENCE
    finally:
        os.kill(int(beside.read_text()), signal.SIGKILL)


@pytest.mark.case("CFG-04")
def test_cfg_04_what_a_profile_began_ends_with_it_when_it_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login, "PATIENCE", 0.5)
    beside = tmp_path / "pid"
    # Whoever holds the other end of the pipe is alive: a read ends when it is not.
    os.mkfifo(beside)
    profile = f"(exec sleep 600 > {beside}) &\nsleep 600\n"
    reading = os.open(beside, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert logged_in(_machine(tmp_path, profile)) is None
        os.set_blocking(reading, True)
        assert os.read(reading, 1) == b""
    finally:
        os.close(reading)


@pytest.mark.case("CFG-04")
def test_cfg_04_a_profile_that_failed_once_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login, "AGAIN", 0.0)
    assert logged_in(_machine(tmp_path, "exit 3\n")) is None
    mended = logged_in(_machine(tmp_path, "export TOKEN=mended\n"))
    assert mended is not None
    assert mended.environment["TOKEN"] == "mended"

"""From an entry as written to what a process is started with, or to a sentence."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcp_lectern.config import dialects
from mcp_lectern.config.launch import launch
from mcp_lectern.config.model import Launch, Level, Origin, Problem, ServerSpec
from mcp_lectern.config.places import Machine

Write = Callable[[Path, str | bytes], Path]


def spec(entry: dict[str, Any], level: Level = Level.USER, folder: Path | None = None) -> ServerSpec:
    source = dialects.Source(Origin(level, "test", folder=folder))
    reading = dialects.read({"servers": {"docs": entry}}, source, dialects.ALL)
    assert reading.problems == ()
    return reading.specs[0]


def launched(entry: ServerSpec, machine: Machine, workspace: Path | None = None) -> Launch:
    result = launch(entry, machine=machine, workspace_folder=workspace)
    assert isinstance(result, Launch), result
    return result


def refused(entry: ServerSpec, machine: Machine) -> str:
    result = launch(entry, machine=machine)
    assert not isinstance(result, Launch)
    assert all(isinstance(problem, Problem) and problem.server == "docs" for problem in result)
    return "\n".join(problem.message for problem in result)


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return program(tmp_path / "bin" / "run")


@pytest.fixture
def ready(machine: Machine, run: Path) -> Machine:
    return replace(machine, environment={**machine.environment, "PATH": str(run.parent)})


@pytest.mark.case("CFG-04")
def test_cfg_04_the_environment_is_inherited_and_merged(ready: Machine, home: Path, run: Path) -> None:
    result = launched(spec({"command": "run", "env": {"A": "1", "V": None, "W": "${env:W}!"}}), ready)
    assert result.command == str(run)
    expected = {"PATH": str(run.parent), "HOME": str(home), "TERM": "dumb", "A": "1", "W": "other!"}
    assert result.env == expected


@pytest.mark.case("CFG-04")
def test_cfg_04_a_missing_program_is_named_with_the_path_that_was_searched(machine: Machine) -> None:
    words = refused(spec({"command": "no-such-program"}), machine)
    assert words.startswith(
        "Cannot start “docs”: no program “no-such-program” on PATH (/usr/bin:/bin): install it"
    )


@pytest.mark.case("CFG-04")
def test_cfg_04_a_command_with_its_arguments_says_where_they_belong(machine: Machine) -> None:
    assert "each of its arguments stands in “args”" in refused(spec({"command": "npx -y thing"}), machine)


@pytest.mark.case("CFG-04")
def test_cfg_04_home_is_written_with_a_tilde(machine: Machine, home: Path) -> None:
    file = program(home / "bin" / "my tool")
    assert launched(spec({"command": "~/bin/my tool", "cwd": "~"}), machine).command == str(file)


@pytest.mark.case("CFG-04")
def test_cfg_04_a_missing_folder_and_a_file_that_is_no_program_say_so(
    ready: Machine, home: Path, write: Write
) -> None:
    assert "gone does not exist: correct “cwd”" in refused(spec({"command": "run", "cwd": "gone"}), ready)
    write(home / "script", "text")
    assert "is not executable" in refused(spec({"command": "~/script"}), ready)
    assert "there is no program" in refused(spec({"command": "./script2"}), ready)


@pytest.mark.case("SEC-03")
def test_sec_03_a_users_server_starts_at_home_and_a_workspaces_in_its_folder(
    ready: Machine, home: Path, workspace: Path
) -> None:
    (home / "sub").mkdir()
    assert launched(spec({"command": "run"}), ready, workspace).cwd == home
    assert launched(spec({"command": "run"}, Level.HOST), ready, workspace).cwd == home
    assert launched(spec({"command": "run"}, Level.WORKSPACE, workspace), ready).cwd == workspace
    assert launched(spec({"command": "run", "cwd": "sub"}), ready, workspace).cwd == home / "sub"
    folder = {"command": "run", "cwd": "${workspaceFolder}"}
    assert launched(spec(folder), ready, workspace).cwd == workspace


@pytest.mark.case("SEC-03")
@pytest.mark.parametrize("path", ["", ".", ":", "./bin:", "node_modules/.bin:bin", "~/bin"])
def test_sec_03_a_bare_command_is_never_found_in_the_folder(
    machine: Machine, workspace: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("npx", "bin/npx", "node_modules/.bin/npx", "~/bin/npx"):
        program(workspace / place)
    monkeypatch.chdir(workspace)
    entry = spec({"command": "npx", "env": {"PATH": path}}, Level.WORKSPACE, workspace)
    assert "no program “npx” on PATH" in refused(entry, machine)


def test_the_path_that_counts_is_the_one_the_program_gets(machine: Machine, run: Path) -> None:
    entry = spec({"command": "run", "env": {"PATH": f"{run.parent}:${{env:PATH}}"}})
    assert launched(entry, machine).command == str(run)
    assert "(which is empty)" in refused(spec({"command": "run", "env": {"PATH": None}}), machine)


@pytest.mark.case("CFG-02")
@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ({"command": "${env:U}"}, "command"),
        ({"command": "run", "args": ["--token=${env:U}"]}, "args"),
        ({"command": "run", "env": {"KEY": "${env:U}"}}, "env.KEY"),
        ({"command": "run", "cwd": "${env:U}"}, "cwd"),
        ({"command": "run", "envFile": "${env:U}"}, "envFile"),
    ],
)
def test_cfg_02_an_unset_variable_names_its_field(ready: Machine, entry: dict[str, Any], field: str) -> None:
    assert f"Cannot start “docs”: in “{field}”, “${{env:U}}” is not set" in refused(spec(entry), ready)


@pytest.mark.case("CFG-02")
def test_cfg_02_no_sentence_holds_an_expanded_secret(machine: Machine) -> None:
    secret = replace(machine, environment={**machine.environment, "V": "s3cret-token"})
    for entry in ({"command": "${env:V}"}, {"command": "x", "cwd": "/${env:V}"}, {"command": "/${env:V}/y"}):
        assert "s3cret-token" not in refused(spec(entry), secret)


@pytest.mark.case("CFG-02")
def test_cfg_02_what_must_be_masked_is_known(ready: Machine, home: Path, write: Write) -> None:
    write(home / "env", "DB_PASSWORD=from-file\nMODE=fast\n")
    entry = {
        "command": "run",
        "args": ["${env:V}"],
        "env": {"API_KEY": "literal", "N": "5"},
        "envFile": "env",
    }
    assert set(launched(spec(entry), ready).secrets) == {"value", "from-file", "literal"}


def test_an_env_file_lies_under_the_entrys_own_variables(ready: Machine, home: Path, write: Write) -> None:
    write(home / "vars.env", "\ufeff# comment\r\nA=file\r\nexport B='x # y'\r\nV=file\r\nnonsense\r\n")
    entry = spec({"command": "run", "env": {"A": "own", "V": None}, "envFile": "~/vars.env"})
    env = launched(entry, ready).env
    assert (env["A"], env["B"], "V" in env) == ("own", "x # y", False)


def test_an_env_file_that_cannot_be_read_stops_this_server_alone(ready: Machine, home: Path) -> None:
    assert "does not exist" in refused(spec({"command": "run", "envFile": "gone.env"}), ready)
    assert "is a folder" in refused(spec({"command": "run", "envFile": "~"}), ready)
    os.mkfifo(home / "pipe")
    assert "not a regular file" in refused(spec({"command": "run", "envFile": "pipe"}), ready)


def test_a_nul_in_a_value_is_a_sentence_and_no_crash(ready: Machine) -> None:
    odd = replace(ready, environment={**ready.environment, "ODD": "a\0b"})
    assert "“args” holds a NUL" in refused(spec({"command": "run", "args": ["${env:ODD}"]}), odd)


def test_a_remote_entry_is_not_started(machine: Machine) -> None:
    assert "nothing to start" in refused(spec({"url": "https://x"}), machine)


def test_on_windows_names_ignore_case_and_the_network_is_not_asked(machine: Machine, workspace: Path) -> None:
    windows = replace(machine, platform="win32", environment={"Path": "", "v": "1"})
    entry = spec({"command": r"\\evil\share\x.exe", "env": {"V": None}}, Level.WORKSPACE, workspace)
    assert "a place on the network" in refused(entry, windows)

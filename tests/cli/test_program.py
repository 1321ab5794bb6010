"""The command line's grammar and its ends: usage, interrupts, lazy loading."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.cli.conftest import DEMO, PROGRAM, Run

from mcp_lectern import __version__
from mcp_lectern.cli import layout
from mcp_lectern.cli.arguments import parser


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nonsense"],
        ["list", "--limit", "0"],
        ["list", "--limit", "many"],
        ["list", "--jso"],
        ["list", "a", "b"],
        ["list", "--workspace", "/no/such/folder"],
        ["read"],
        ["approve"],
        ["serve", "--workspace-servers", "sometimes"],
        ["serve", "--port", "80"],
        ["demo-server", "--tick", "-1"],
        ["demo-server", "--tick", "nan"],
        ["demo", "--config", "no-such-file.json"],
        ["serve", "--log-file", "no/such/folder/log"],
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(lectern: Run, words: list[str]) -> None:
    result = lectern(*words)
    assert (result.returncode, result.stdout) == (2, b"")
    assert len(result.stderr.decode().splitlines()) == 1
    assert result.stderr.startswith(b"mcp-lectern: ")


def test_help_and_version_are_answers(lectern: Run) -> None:
    assert lectern("--version").stdout.decode().strip() == f"mcp-lectern {__version__}"
    result = lectern("--help")
    assert (result.returncode, result.stderr) == (0, b"")
    assert all(
        name in result.stdout.decode() for name in ("serve", "demo", "list", "read", "approve", "doctor")
    )


@pytest.mark.parametrize(
    "name", ["serve", "demo", "demo-server", "list", "read", "approve", "revoke", "doctor"]
)
def test_every_command_has_help_and_a_module(lectern: Run, name: str) -> None:
    result = lectern(name, "--help")
    assert (result.returncode, result.stderr) == (0, b"")
    words = [name, "x"] if name in ("read", "approve", "revoke") else [name]
    module = parser().parse_args(words).module
    script = f"import mcp_lectern.cli.{module} as m; m.run"
    subprocess.run([sys.executable, "-P", "-c", script], check=True)


def test_stdio_is_the_only_transport_and_may_be_named() -> None:
    assert parser().parse_args(["serve", "--stdio"]).stdio


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as a terminal on POSIX does")
def test_an_interrupt_ends_quietly(environment: Mapping[str, str], config: Callable[..., Path]) -> None:
    silent = {
        "command": sys.executable,
        "args": ["-c", "import sys; print('up', file=sys.stderr); sys.stdin.read()"],
    }
    command = [*PROGRAM, "list", "--no-discover", "--config", str(config(silent=silent))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    import psutil

    watched = psutil.Process(process.pid)
    children: list[psutil.Process] = []
    while not children and process.poll() is None:
        children = watched.children()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert psutil.wait_procs(children, timeout=10)[1] == []


POSIX = pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX closes and redirects here")
COMMANDS = ["list", "list --json", "doctor", "doctor --json", "--help", "--version", "serve", "demo"]


def in_shell(line: str, environment: Mapping[str, str], **more: Path) -> tuple[int, str]:
    """The exit code and stderr of a shell's line, where ``lectern`` is the program."""
    program = shlex.join(PROGRAM)
    line = f'lectern() {{ {program} "$@"; }}; {line}'
    environment = {key: value for key, value in environment.items() if key != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        ["sh", "-c", line], check=False, capture_output=True, timeout=50, env=environment, **more
    )
    return done.returncode, done.stderr.decode()


@POSIX
@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_stdout_is_one_sentence(environment: Mapping[str, str], command: str) -> None:
    code, said = in_shell(f"lectern {command} <&- >&-", environment)
    assert (code, len(said.splitlines())) == (1, 1), said
    assert said.startswith("mcp-lectern: standard output is closed")


@POSIX
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("command", [each for each in COMMANDS if each not in ("serve", "list")])
def test_an_answer_that_does_not_fit_is_one_sentence(environment: Mapping[str, str], command: str) -> None:
    code, said = in_shell(f"lectern {command} >/dev/full", environment)
    assert (code, len(said.splitlines())) == (1, 1), said
    assert "No space left" in said


@POSIX
def test_a_list_that_does_not_fit_is_one_sentence(
    environment: Mapping[str, str], config: Callable[..., Path]
) -> None:
    file = shlex.quote(str(config(demo=DEMO)))
    code, said = in_shell(f"lectern list --no-discover --config {file} >/dev/full", environment)
    assert (code, len(said.splitlines())) == (1, 1), said


@POSIX
@pytest.mark.parametrize(
    "command",
    [
        "list",
        "doctor --json",
        "read @a:b",
        "approve a",
        "revoke a",
        "sign-in a",
        "serve --config a",
    ],
)
def test_a_working_folder_that_is_gone_is_one_sentence(
    environment: Mapping[str, str], tmp_path: Path, command: str
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    code, said = in_shell(f"rmdir {shlex.quote(str(folder))}; lectern {command}", environment, cwd=folder)
    assert (code, len(said.splitlines())) == (2, 1), said
    assert "working folder" in said


@POSIX
def test_closed_streams_that_are_not_needed_do_not_matter(environment: Mapping[str, str]) -> None:
    assert in_shell("lectern list --no-discover <&- 2>&-", environment) == (0, "")


def test_columns_keep_cells_on_one_line_and_wide_ones_in_their_place() -> None:
    rows = [("a", "b\nc", "d"), ("x" * 100, "e", ""), ("aa", "f", "g")]
    assert list(layout.columns(rows)) == ["a   b c  d", "x" * 100 + "  e", "aa  f    g"]
    assert list(layout.columns([])) == []


@pytest.mark.parametrize(
    ("mime_type", "size", "shown"),
    [(None, None, ""), ("a/b", None, "a/b"), (None, 0, "0 bytes"), ("a/b", 2048, "a/b, 2.0 KiB")],
)
def test_a_kind_tells_what_is_known(mime_type: str | None, size: int | None, shown: str) -> None:
    assert layout.kind(mime_type, size) == shown


def test_a_terminal_is_given_nothing_that_it_obeys() -> None:
    assert layout.on_terminal("a\x1b[31m\tb\r\n\x9b\x7f") == "a␛[31m\tb␍\n��"

"""Where a command's program is looked for, and where it never is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcp_lectern.mcp.transport.executables import find_executable, unsafe_batch_argument


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.mark.case("SEC-03")
@pytest.mark.parametrize("search", ["", ":", ".", "bin", "relative:{good}", ":{good}", "./:{good}:"])
def test_sec_03_a_bare_name_is_never_found_in_the_working_folder(search: str, tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    for place in (folder, folder / "bin", folder / "relative"):
        program(place / "npx")
    good = program(tmp_path / "good" / "npx")
    path = search.format(good=good.parent)
    found = find_executable("npx", {"PATH": path}, folder)
    assert found == (good if str(good.parent) in path else None)


def test_the_first_that_can_run_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "tool").write_text("no program")
    (tmp_path / "b" / "tool").mkdir(parents=True)
    good = program(tmp_path / "c" / "tool")
    search = os.pathsep.join(str(tmp_path / name) for name in "abc")
    assert find_executable("tool", {"PATH": search}, tmp_path) == good


def test_a_command_with_a_separator_starts_at_the_entrys_folder(tmp_path: Path) -> None:
    tool = program(tmp_path / "bin" / "tool")
    assert find_executable("bin/tool", {"PATH": "/usr/bin"}, tmp_path) == tool
    assert find_executable("./bin/tool", {}, tmp_path) == tmp_path / "./bin/tool"
    assert find_executable(str(tool), {}, Path("/")) == tool
    assert find_executable("bin/none", {}, tmp_path) is None


@pytest.mark.parametrize(
    ("name", "args", "unsafe"),
    [
        ("npx.cmd", ("-y", "server"), None),
        ("npx.CMD", ("-y", "a&calc"), "a&calc"),
        ("run.bat", ("%PATH%",), "%PATH%"),
        ("run.bat", ('a"b',), 'a"b'),
        ("node.exe", ("a&calc",), None),
    ],
)
def test_arguments_that_a_batch_file_would_interpret_are_refused(
    name: str, args: tuple[str, ...], unsafe: str | None
) -> None:
    assert unsafe_batch_argument(Path(name), args) == unsafe

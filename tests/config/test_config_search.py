"""Where a program is looked for, on both kinds of system."""

from __future__ import annotations

import pytest

from mcp_lectern.config.env_file import parse_env_file
from mcp_lectern.config.search import Search, for_a_shell, is_bare


def windows(path: str, *files: str) -> Search:
    return Search(path, ".COM;.EXE;.BAT;.CMD", runnable=lambda file: file in files)


@pytest.mark.case("CFG-04")
def test_cfg_04_windows_adds_the_extensions_in_order() -> None:
    search = windows(r'C:\a;"C:\b c";relative;', r"C:\b c\npx.cmd", r"C:\b c\npx.exe", r"relative\npx.exe")
    assert search.find("npx") == r"C:\b c\npx.exe"
    assert search.find("npx.CMD") is None
    assert search.find("npx.cmd") == r"C:\b c\npx.cmd"
    assert search.folders() == [r"C:\a", r"C:\b c"]
    assert search.complete(r"C:\b c\npx") == r"C:\b c\npx.exe"


def test_a_file_without_extension_is_no_windows_program() -> None:
    assert windows(r"C:\a", r"C:\a\npx").find("npx") is None


@pytest.mark.case("CFG-04")
@pytest.mark.parametrize("argument", ["a&b", "100%", 'say "x"', "a|b", "a^b", "x\ny", "!x!", "(x)"])
def test_cfg_04_a_batch_file_gets_nothing_that_a_shell_reads(argument: str) -> None:
    assert for_a_shell(r"C:\npx.cmd", ["-y", argument]) == (2, argument)
    assert for_a_shell(r"C:\npx.exe", ["-y", argument]) is None


def test_plain_arguments_reach_a_batch_file() -> None:
    assert for_a_shell(r"C:\npx.CMD", ["-y", "@scope/name@1.2", "--dir", r"C:\my docs"]) is None


@pytest.mark.parametrize(
    ("command", "posix", "win"),
    [
        ("npx", True, True),
        ("./npx", False, False),
        ("a/b", False, False),
        (r"a\b", True, False),
        ("C:x", True, False),
    ],
)
def test_a_bare_name_has_no_separator(command: str, posix: bool, win: bool) -> None:
    assert (is_bare(command, windows=False), is_bare(command, windows=True)) == (posix, win)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=b", "b"),
        ("  export A = b c  ", "b c"),
        ("A=b # note", "b"),
        ("A=b#c", "b#c"),
        ("A='b # c' # note", "b # c"),
        (r'A="b\n\"c\" \\ \x"', 'b\n"c" \\ \\x'),
        (r"A='b\n'", r"b\n"),
        ("A=", ""),
        ("A='open", "'open"),
        ("A=${V}", "${V}"),
        ("A=x=y", "x=y"),
    ],
)
def test_a_line_of_an_env_file(line: str, value: str) -> None:
    assert parse_env_file(f"# before\n{line}\n=nothing\n") == {"A": value}

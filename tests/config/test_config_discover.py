"""All places together: who wins, what is reported, what stays active."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.config.discover import config_layers, discover
from mcp_lectern.config.files import LARGEST
from mcp_lectern.config.model import Configuration, Level
from mcp_lectern.config.places import Machine
from mcp_lectern.settings import Settings, read

Write = Callable[[Path, str | bytes], Path]


def servers(*names: str, section: str = "servers", command: str = "run") -> str:
    return json.dumps({section: {name: {"command": command} for name in names}})


def levels(configuration: Configuration) -> dict[str, Level]:
    return {spec.name: spec.origin.level for spec in configuration.specs}


@pytest.fixture
def user_file(home: Path) -> Path:
    return home / ".config" / "Code" / "User" / "mcp.json"


def test_each_place_has_its_level_and_the_trusted_stand_first(
    machine: Machine, home: Path, workspace: Path, user_file: Path, write: Write
) -> None:
    write(workspace / ".vscode" / "mcp.json", servers("editor"))
    write(workspace / ".mcp.json", servers("claude", section="mcpServers"))
    write(user_file, servers("host"))
    typed = write(home / "typed.json", servers("typed"))
    named = write(home / "named.json", servers("named"))
    settings = Settings(servers={"set": {"command": "run"}}, config_files=(str(named),))
    found = discover(
        settings,
        machine=machine,
        config_arguments=[typed],
        workspace_folders=[workspace],
        trusted_settings=True,
    )
    assert list(levels(found).items()) == [
        ("set", Level.USER),
        ("typed", Level.USER),
        ("named", Level.USER),
        ("host", Level.HOST),
        ("editor", Level.WORKSPACE),
        ("claude", Level.WORKSPACE),
    ]
    assert found.problems == ()
    assert {workspace / ".mcp.json", workspace / ".vscode" / "mcp.json", typed, named} <= set(found.watched)
    assert [spec.dialect for spec in found.specs][-2:] == ["vscode", "claude"]


@pytest.mark.case("SEC-02")
def test_sec_02_settings_of_a_folder_need_what_the_folder_needs(
    machine: Machine, home: Path, workspace: Path, write: Write
) -> None:
    named = write(home / "named.json", servers("named"))
    settings = Settings(servers={"set": {"command": "run"}}, config_files=(str(named),))
    found = discover(settings, machine=machine, workspace_folders=[workspace], trusted_settings=False)
    assert levels(found) == {"set": Level.WORKSPACE, "named": Level.WORKSPACE}


@pytest.mark.case("SEC-02")
def test_sec_02_a_file_inside_a_workspace_is_workspace_level_whoever_names_it(
    machine: Machine, home: Path, workspace: Path, write: Write
) -> None:
    inside = write(workspace / "deep" / "mine.json", servers("mine"))
    link = home / "link.json"
    link.symlink_to(write(workspace / "other.json", servers("other")))
    settings = Settings(config_files=(str(inside), str(link)))
    found = discover(settings, machine=machine, workspace_folders=[workspace], trusted_settings=True)
    assert levels(found) == {"mine": Level.WORKSPACE, "other": Level.WORKSPACE}


@pytest.mark.case("SEC-02")
def test_sec_02_a_home_opened_as_a_workspace_lends_no_trust(
    machine: Machine, home: Path, user_file: Path, write: Write
) -> None:
    write(user_file, servers("host"))
    found = discover(Settings(), machine=machine, workspace_folders=[home])
    assert levels(found) == {"host": Level.WORKSPACE}


@pytest.mark.case("CFG-05")
def test_cfg_05_a_workspace_cannot_take_a_name(
    machine: Machine, home: Path, workspace: Path, user_file: Path, write: Write
) -> None:
    write(workspace / ".mcp.json", servers("a", "b", section="mcpServers", command="evil"))
    write(user_file, servers("b", command="host"))
    typed = write(home / "typed.json", servers("a", command="mine"))
    found = discover(Settings(), machine=machine, config_arguments=[typed], workspace_folders=[workspace])
    assert {spec.name: spec.command for spec in found.specs} == {"a": "mine", "b": "host"}
    assert [(problem.server, problem.severity, problem.path) for problem in found.problems] == [
        ("a", "warning", workspace / ".mcp.json"),
        ("b", "warning", workspace / ".mcp.json"),
    ]
    assert str(typed) in found.problems[0].message
    assert "more trusted" in found.problems[0].message


@pytest.mark.case("CFG-05")
def test_cfg_05_a_typing_error_does_not_hand_a_name_over(
    machine: Machine, home: Path, workspace: Path, write: Write
) -> None:
    typed = write(home / "typed.json", json.dumps({"servers": {"a": {"command": 5}}}))
    write(workspace / ".mcp.json", servers("a", section="mcpServers", command="evil"))
    found = discover(Settings(), machine=machine, config_arguments=[typed], workspace_folders=[workspace])
    assert found.specs == ()
    assert [problem.severity for problem in found.problems] == ["error", "warning"]


def test_workspace_servers_never_leaves_them_out_with_a_note(
    machine: Machine, workspace: Path, write: Write
) -> None:
    write(workspace / ".mcp.json", servers("a", section="mcpServers"))
    for settings, word in ((Settings(workspace_servers="never"), None), (Settings(), "never")):
        found = discover(settings, machine=machine, workspace_folders=[workspace], workspace_servers=word)
        assert found.specs == ()
        assert any("“a”" in skipped.reason for skipped in found.skipped)
    always = discover(
        Settings(workspace_servers="never"),
        machine=machine,
        workspace_folders=[workspace],
        workspace_servers="always",
    )
    assert levels(always) == {"a": Level.WORKSPACE}


@pytest.mark.case("CFG-01")
@pytest.mark.parametrize("broken", ["", '{"servers": {"a": {', b"\xff\xff", "x" * (LARGEST + 1)])
def test_cfg_01_a_broken_file_keeps_what_it_said_before(
    machine: Machine, workspace: Path, write: Write, broken: str | bytes
) -> None:
    path = write(workspace / ".mcp.json", servers("a", section="mcpServers"))
    write(workspace / ".vscode" / "mcp.json", servers("b"))
    good = discover(Settings(), machine=machine, workspace_folders=[workspace])
    write(path, broken)
    bad = discover(Settings(), machine=machine, workspace_folders=[workspace], previous=good)
    again = discover(Settings(), machine=machine, workspace_folders=[workspace], previous=bad)
    assert [spec.name for spec in bad.specs] == [spec.name for spec in again.specs] == ["b", "a"]
    assert [(problem.path, problem.severity) for problem in bad.problems] == [(path, "error")]
    write(path, servers("c", section="mcpServers"))
    healed = discover(Settings(), machine=machine, workspace_folders=[workspace], previous=bad)
    assert [spec.name for spec in healed.specs] == ["b", "c"]


def test_a_deleted_file_takes_its_servers_along(machine: Machine, workspace: Path, write: Write) -> None:
    path = write(workspace / ".mcp.json", servers("a", section="mcpServers"))
    good = discover(Settings(), machine=machine, workspace_folders=[workspace])
    path.unlink()
    gone = discover(Settings(), machine=machine, workspace_folders=[workspace], previous=good)
    assert (gone.specs, gone.problems) == ((), ())


@pytest.mark.case("SEC-02")
def test_sec_02_what_stays_active_has_the_trust_of_today(machine: Machine, home: Path, write: Write) -> None:
    path = write(home / "named.json", servers("a"))
    settings = Settings(config_files=(str(path),))
    good = discover(settings, machine=machine, trusted_settings=True)
    write(path, "{")
    bad = discover(settings, machine=machine, trusted_settings=False, previous=good)
    assert (levels(good), levels(bad)) == ({"a": Level.USER}, {"a": Level.WORKSPACE})


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "loop", "file in place of a folder", "closed"])
def test_odd_files_are_sentences(
    machine: Machine, home: Path, workspace: Path, write: Write, kind: str
) -> None:
    path = workspace / ".vscode" / "mcp.json"
    path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(write(home / "secret.json", servers("a")))
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "closed":
        write(path, servers("a")).chmod(0)
    else:
        path.parent.rmdir()
        path.parent.write_text("")
    write(workspace / ".mcp.json", servers("other", section="mcpServers"))
    found = discover(Settings(), machine=machine, workspace_folders=[workspace])
    readable = kind == "closed" and os.access(path, os.R_OK)
    assert [spec.name for spec in found.specs] == (["a", "other"] if readable else ["other"])
    if kind in ("folder", "pipe", "link", "loop"):
        assert [problem.path for problem in found.problems] == [path]
        assert found.problems[0].message.endswith(".")


def test_a_file_that_somebody_named_must_be_there(machine: Machine, home: Path) -> None:
    found = discover(
        Settings(config_files=("~/gone.json", "relative.json")),
        machine=machine,
        config_arguments=[home / "typed.json"],
    )
    assert [problem.severity for problem in found.problems] == ["error"] * 3
    assert "relative.json" in found.problems[-1].message
    assert {home / "typed.json", home / "gone.json"} <= set(found.watched)


def test_one_file_is_read_once_and_with_the_higher_trust(
    machine: Machine, workspace: Path, write: Write
) -> None:
    path = write(workspace / ".mcp.json", servers("a", section="mcpServers"))
    found = discover(Settings(), machine=machine, config_arguments=[path], workspace_folders=[workspace])
    assert levels(found) == {"a": Level.USER}
    assert found.problems == ()


@pytest.mark.parametrize(
    "content",
    [
        {"servers": {"a": {"command": "run"}}, "completion": {"limit": 5}},
        {"lectern.servers": {"a": {"command": "run"}}, "lectern.completion.limit": 5},
        {"lectern": {"servers": {"a": {"command": "run"}}, "completion.limit": 5}},
        {"mcpServers": {"a": {"command": "run"}}, "completion.limit": 5, "inputs": []},
    ],
)
def test_a_config_argument_holds_settings_and_servers(
    machine: Machine, home: Path, write: Write, content: dict[str, object]
) -> None:
    further = write(home / "more.json", servers("b"))
    path = write(home / "typed.json", json.dumps({**content, "configFiles": [further.name]}))
    settings, warnings = read(config_layers([path]))
    assert (settings.completion_limit, settings.servers, settings.config_files, warnings) == (5, {}, (), [])
    found = discover(settings, machine=machine, config_arguments=[path])
    assert levels(found) == {"a": Level.USER, "b": Level.USER}
    assert found.problems == ()


def test_a_config_argument_may_hold_settings_alone(machine: Machine, home: Path, write: Write) -> None:
    path = write(home / "typed.json", '{"completion.limit": 5}')
    assert discover(Settings(), machine=machine, config_arguments=[path]).problems == ()
    stray = write(home / "stray.json", '{"docs": {"command": "x"}}')
    (problem,) = discover(Settings(), machine=machine, config_arguments=[stray]).problems
    assert "looks like one" in problem.message


def test_later_wins_among_what_the_user_wrote(machine: Machine, home: Path, write: Write) -> None:
    one = write(home / "one.json", servers("a", "b", "c", command="one"))
    two = write(home / "two.json", servers("b", "c", command="two"))
    settings = Settings(servers={"c": {"command": "set"}})
    found = discover(settings, machine=machine, config_arguments=[one, two], trusted_settings=True)
    assert {spec.name: spec.command for spec in found.specs} == {"a": "one", "b": "two", "c": "set"}


@pytest.mark.parametrize(
    ("platform", "environment", "path"),
    [
        ("linux", {}, ".config/Code/User/mcp.json"),
        ("linux", {"XDG_CONFIG_HOME": "xdg"}, "xdg/Code/User/mcp.json"),
        ("darwin", {}, "Library/Application Support/Code/User/mcp.json"),
        ("win32", {}, "AppData/Roaming/Code/User/mcp.json"),
        ("win32", {"APPDATA": "roaming"}, "roaming/Code - Insiders/User/mcp.json"),
    ],
)
def test_the_user_file_of_vs_code_is_found_on_every_system(
    machine: Machine, home: Path, write: Write, platform: str, environment: dict[str, str], path: str
) -> None:
    write(home / path, servers("a"))
    places = {name: str(home / value) for name, value in environment.items()}
    there = replace(machine, platform=platform, environment=places)
    assert levels(discover(Settings(), machine=there)) == {"a": Level.HOST}
    assert levels(discover(Settings(discover=("workspace",)), machine=there)) == {}


def test_a_place_that_is_not_read_yet_says_so(machine: Machine) -> None:
    found = discover(Settings(discover=("zed",)), machine=machine)
    assert [skipped.place for skipped in found.skipped] == ["zed"]


@pytest.mark.case("URI-06")
def test_uri_06_an_empty_name_leaves_its_neighbours_alone(machine: Machine) -> None:
    names = ["Slack Local", "a:b", "a.b", "a/b", "日本", "a"]
    settings, _ = read([("editor", {"servers": {name: {"command": "run"} for name in [*names, ""]}})])
    found = discover(settings, machine=machine, trusted_settings=True)
    assert [spec.name for spec in found.specs] == names
    assert len(found.problems) == 1


@given(st.lists(st.text(alphabet="~/.\\\0\ud800é:x", min_size=1, max_size=8), max_size=4))
def test_no_name_of_a_file_raises(names: list[str]) -> None:
    machine = Machine(Path("/nowhere/at/all"), {}, "linux")
    settings = Settings(config_files=tuple(names))
    for folders in ([], [Path("/nowhere/workspace")]):
        found = discover(settings, machine=machine, workspace_folders=folders)
        assert found.specs == ()
        for problem in found.problems:
            assert problem.path is None or problem.path.as_uri()

"""What was approved once and then changed asks again, and says what changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcp_lectern.config.model import Level
from mcp_lectern.trust.fingerprint import difference, fingerprint, fingerprint_of, shows
from mcp_lectern.trust.material import Material
from mcp_lectern.trust.policy import decide

if TYPE_CHECKING:
    from conftest import World


@pytest.mark.case("CFG-05")
def test_cfg_05_a_workspace_entry_waits_for_approval_and_then_stays_approved(world: World) -> None:
    assert not world.decide().approved
    world.approve()
    assert world.decide().approved
    assert world.decide().changed == ()


@pytest.mark.case("SEC-02")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"env": {"A": "2"}}, "env.A changed from “1” to “2”"),
        ({"env": {"A": None}}, "env.A changed from “1” to “null”"),
        ({"env": {"A": "1", "NODE_OPTIONS": "-r x"}}, "env.NODE_OPTIONS is new: “-r x”"),
        ({"env": {}}, "env.A is gone: it was “1”"),
        ({"cwd": "sub"}, "cwd is new: “sub”"),
        ({"args": ["./server.py", "-x"]}, 'args changed from “["./server.py"]” to “["./server.py", "-x"]”'),
        ({"command": "walk"}, "command changed from “run” to “walk”"),
        ({"envFile": "other.env"}, "envFile changed from “vars.env” to “other.env”"),
        ({"roots": False}, "roots is new: “false”"),
    ],
)
def test_sec_02_a_changed_entry_asks_again(
    world: World, program: Callable[[Path], Path], change: dict[str, Any], words: str
) -> None:
    program(Path(world.machine.environment["PATH"]) / "walk")
    (world.folder / "sub").mkdir()
    for name in ("vars.env", "other.env"):
        (world.folder / name).write_text("X=1")
    world.entry |= {"env": {"A": "1"}, "envFile": "vars.env"}
    world.approve()
    assert world.decide().approved
    world.entry |= change
    decision = world.decide()
    assert not decision.approved
    assert words in decision.changed


@pytest.mark.case("SEC-02")
def test_sec_02_a_changed_env_file_asks_again(world: World) -> None:
    (world.folder / "vars.env").write_text("X=1")
    world.entry["envFile"] = "${X:-vars.env}"
    world.approve()
    (world.folder / "vars.env").write_text("X=2")
    assert world.decide().changed == ("content of envFile changed",)


@pytest.mark.case("SEC-02")
@pytest.mark.parametrize(
    ("arguments", "script"),
    [
        (["./server.py"], "server.py"),
        (["server.py"], "server.py"),
        (["{folder}/server.py"], "server.py"),
        (["--script=sub/a.js"], "sub/a.js"),
        (["-csub/a.js"], "sub/a.js"),
        (["-c", "exec node 'sub/a.js' --fast"], "sub/a.js"),
        (["sub/a"], "sub/a.js"),
        (["-m", "package"], "package/__main__.py"),
        (["-m", "package.tool"], "package/tool.py"),
        (["."], "package.json"),
        (["--directory", "sub", "run", "inner.py"], "sub/inner.py"),
        (["${X:-sub/a.js}"], "sub/a.js"),
    ],
)
def test_sec_02_a_changed_script_of_the_folder_asks_again(
    world: World, arguments: list[str], script: str
) -> None:
    path = world.folder / script
    path.parent.mkdir(exist_ok=True)
    path.write_text("one")
    world.entry["args"] = [argument.format(folder=world.folder) if "$" not in argument else argument
                           for argument in arguments]  # fmt: skip
    world.approve()
    assert world.decide().approved
    path.write_text("two")
    assert world.decide().changed == (f"content of “{script}” changed",)
    path.unlink()
    assert world.decide().changed == (f"content of “{script}” is gone",)


@pytest.mark.case("SEC-02")
def test_sec_02_a_script_that_appears_asks_again(world: World) -> None:
    world.entry["args"] = ["tool"]
    world.approve()
    (world.folder / "tool.js").write_text("")
    assert world.decide().changed == ("content of “tool.js” is new",)


@pytest.mark.case("SEC-02")
def test_sec_02_a_runner_is_approved_with_what_it_runs(world: World, program: Callable[[Path], Path]) -> None:
    program(Path(world.machine.environment["PATH"]) / "npm")
    world.entry = {"command": "npm", "args": ["run", "mcp"]}
    (world.folder / "package.json").write_text("{}")
    world.approve()
    (world.folder / "package.json").write_text('{"scripts": {"mcp": "evil"}}')
    assert world.decide().changed == ("content of “package.json” changed",)


@pytest.mark.case("SEC-02")
def test_sec_02_another_program_of_the_same_name_asks_again(
    world: World, tmp_path: Path, program: Callable[[Path], Path]
) -> None:
    world.approve()
    program(tmp_path / "earlier" / "run")
    path = f"{tmp_path / 'earlier'}:{world.machine.environment['PATH']}"
    world.machine = replace(world.machine, environment={"PATH": path})
    (changed,) = world.decide().changed
    assert changed.startswith("program that the command leads to changed from")


def test_what_an_approval_does_not_cover_changes_nothing(world: World) -> None:
    world.approve()
    (world.folder / "README.md").write_text("text")
    world.entry |= {"description": "words", "disabled": False}
    assert world.decide().approved


def test_an_approval_holds_in_its_folder_and_for_its_name_only(world: World, tmp_path: Path) -> None:
    world.approve()
    other = tmp_path / "other"
    other.mkdir()
    (other / "server.py").write_text("print('one')")
    world.folder = other
    assert not world.decide().approved


def test_values_of_variables_are_neither_shown_nor_covered(world: World) -> None:
    world.entry["env"] = {"KEY": "${SECRET}"}
    world.machine = replace(world.machine, environment={**world.machine.environment, "SECRET": "one"})
    world.approve()
    assert "one" not in str(world.shows()["env"])
    world.machine = replace(world.machine, environment={**world.machine.environment, "SECRET": "two"})
    assert world.decide().approved


def test_an_entry_that_becomes_startable_asks_again(world: World) -> None:
    world.entry["command"] = "later"
    world.approve()
    (world.folder.parent / "bin" / "later").write_text("")
    (world.folder.parent / "bin" / "later").chmod(0o755)
    assert not world.decide().approved


def test_the_policy_of_each_level(world: World) -> None:
    spec = world.spec()
    covered = world.shows()

    def decided(level: Level, word: str) -> bool:
        leveled = replace(spec, origin=replace(spec.origin, level=level))
        return decide(leveled, covered, world.approvals, workspace_servers=word).approved

    words = ("ask", "never", "always")
    assert [decided(Level.USER, word) for word in words] == [True, True, True]
    assert [decided(Level.HOST, word) for word in words] == [False, False, False]
    assert [decided(Level.WORKSPACE, word) for word in words] == [False, False, True]
    world.approve()
    assert [decided(Level.WORKSPACE, word) for word in words] == [True, False, True]
    assert all(world.decide(word).reason.endswith(".") for word in words)


def test_a_fingerprint_knows_no_order_and_is_the_hash_of_what_is_shown(world: World) -> None:
    world.entry["env"] = {"A": "1", "B": "2"}
    spec = world.spec()
    world.entry["env"] = {"B": "2", "A": "1"}
    turned = world.spec()
    assert fingerprint(spec, Material()) == fingerprint(turned, Material())
    assert fingerprint(spec, Material()) == fingerprint_of(shows(spec, Material()))
    assert difference(shows(spec, Material()), shows(turned, Material())) == []

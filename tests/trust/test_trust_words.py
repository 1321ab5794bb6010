"""However an entry names a file of its folder, the file is covered; no cap leaves one out in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcp_lectern.hub import prepare
from mcp_lectern.trust import words
from mcp_lectern.trust.approvals import Approvals, ApprovalsError
from mcp_lectern.trust.fingerprint import fingerprint
from mcp_lectern.trust.material import Material

if TYPE_CHECKING:
    from conftest import World


@pytest.mark.case("SEC-02")
@pytest.mark.parametrize(
    ("entry", "script"),
    [
        ({"args": ["x"], "env": {"NODE_OPTIONS": "--require ./hook.js"}}, "hook.js"),
        ({"args": ["x"], "env": {"BASH_ENV": "hook.sh"}}, "hook.sh"),
        ({"args": ["-c", 'exec python3 "$SERVER"'], "env": {"SERVER": "sub/inner.py"}}, "sub/inner.py"),
        ({"args": ["-c", 'exec "$ROOT"/inner.py'], "env": {"ROOT": "sub"}}, "sub/inner.py"),
        ({"args": ["-cp", "lib/a.jar:lib/b.jar", "Main"]}, "lib/b.jar"),
        ({"args": ["-javaagent:agent.jar"]}, "agent.jar"),
        ({"args": ["-c", "exec $PWD/run.sh"]}, "run.sh"),
        ({"args": ["-c", 'exec "$PWD"/run.sh']}, "run.sh"),
        ({"args": ["-c", "exec ${PWD}/run.sh"]}, "run.sh"),
        ({"args": ["-c", "exec $(pwd)/run.sh"]}, "run.sh"),
        ({"args": ["-c", "exec `pwd`/run.sh"]}, "run.sh"),
        ({"args": ["-c", 'exec $(dirname "$0")/run.sh']}, "run.sh"),
        ({"args": ["--import", "file://./hook.mjs"]}, "hook.mjs"),
        ({"args": ["--import=file://{folder}/hook.mjs"]}, "hook.mjs"),
        ({"args": ["@arguments.txt"]}, "arguments.txt"),
        ({"args": ["server"]}, "server/index.ts"),
        ({"args": ["server"]}, "server/index.mjs"),
        ({"args": ["server"]}, "server/index.cjs"),
        ({"args": ["-c", "docker compose up"]}, "docker-compose.yml"),
        ({"args": ["docker", "compose", "up"]}, "compose.yaml"),
        ({"args": ["-c", "bundle exec server"]}, "Gemfile"),
    ],
)
def test_sec_02_a_file_is_covered_however_it_is_named(
    world: World, entry: dict[str, Any], script: str
) -> None:
    path = world.folder / script
    path.parent.mkdir(exist_ok=True)
    path.write_text("one")
    # `str.format` would take the braces of a shell's variable for its own.
    written = json.dumps({"command": "run", **entry}).replace("{folder}", str(world.folder))
    if "${PWD}" in written:
        (world.folder / ".vscode").mkdir()
        world.entry = {"command": "run", "args": ["-c", "exec $" + "{PWD:-x}/run.sh"]}
        world.machine = replace(world.machine, environment={**world.machine.environment, "PWD": "$PWD"})
    else:
        world.entry = json.loads(written)
    world.approve()
    assert world.decide().approved
    path.write_text("two")
    assert world.decide().changed == (f"content of “{script}” changed",)


@pytest.mark.case("SEC-02")
@pytest.mark.parametrize("variable", ["PYTHONPATH", "NODE_PATH", "PATH"])
@pytest.mark.parametrize("name", ["sitecustomize.py", "sitecustomize/__init__.py", "program"])
def test_sec_02_what_interpreters_load_from_a_folder_by_themselves_is_covered(
    world: World, variable: str, name: str
) -> None:
    library = world.folder / "lib"
    (library / "__pycache__").mkdir(parents=True)
    (library / "known.py").write_text("one")
    bin_folder = world.machine.environment["PATH"]
    world.entry = {"command": "run", "env": {variable: f"{bin_folder}:{library}"}}
    world.approve()
    (library / "__pycache__" / "known.pyc").write_text("")
    (library / "README.md").write_text("")
    assert world.decide().approved, "what no interpreter loads asks nobody again"
    (library / name).parent.mkdir(exist_ok=True)
    (library / name).write_text("evil")
    assert world.decide().changed == ("content of “lib/” changed",)
    world.approve()
    (library / name).write_text("worse")
    assert world.decide().changed == ("content of “lib/” changed",)


@pytest.mark.case("SEC-02")
def test_sec_02_variables_of_an_env_file_are_looked_into_like_the_entrys_own(world: World) -> None:
    (world.folder / ".env").write_text("NODE_OPTIONS=--require ./hook.js\n")
    (world.folder / "hook.js").write_text("one")
    world.entry = {"command": "run", "envFile": ".env"}
    world.approve()
    (world.folder / "hook.js").write_text("two")
    assert world.decide().changed == ("content of “hook.js” changed",)


def test_what_a_process_inherits_is_the_users_however_long_it_is(world: World) -> None:
    colors = ":".join(f"*.x{number}=01;31" for number in range(300))
    world.machine = replace(world.machine, environment={**world.machine.environment, "LS_COLORS": colors})
    world.approve()
    assert world.decide().approved


@pytest.mark.case("SEC-02")
def test_sec_02_every_one_of_many_files_is_covered(world: World) -> None:
    names = [f"part{number}.py" for number in range(60)]
    for name in names:
        (world.folder / name).write_text("one")
    world.entry["args"] = names
    world.approve()
    assert world.decide().approved
    for name in (names[0], names[1], names[-1]):
        (world.folder / name).write_text("two")
        assert f"content of “{name}” changed" in world.decide().changed


def _many_words(world: World) -> None:
    world.entry["args"] = [f"-Xword{number}" for number in range(400)] + ["server.py"]


def _many_files(world: World) -> None:
    for number in range(250):
        (world.folder / f"f{number}").write_text("")
    world.entry["args"] = [f"f{number}" for number in range(250)] + ["server.py"]


def _many_folders(world: World) -> None:
    for number in range(20):
        (world.folder / f"d{number}").mkdir()
    (world.folder / "d19" / "inner.py").write_text("")
    world.entry["args"] = ["-c", " ".join(f"d{number}" for number in range(20)), "inner.py"]


def _a_large_library(world: World) -> None:
    library = world.folder / "lib"
    library.mkdir()
    for number in range(1001):
        (library / f"m{number}.py").write_text("")
    world.entry["env"] = {"PYTHONPATH": "lib"}


@pytest.mark.case("SEC-02")
@pytest.mark.parametrize(
    ("grow", "words"),
    [
        (_many_words, "more than 500 words"),
        (_many_files, "more than 200 files"),
        (_many_folders, "more than 16 folders"),
        (_a_large_library, "more than 1000 files in lib"),
    ],
)
def test_sec_02_an_entry_that_leads_to_more_than_is_looked_at_cannot_be_approved(
    world: World, grow: Callable[[World], None], words: str
) -> None:
    grow(world)
    assert world.shows()["notExamined"] == words
    world.approve()
    assert not world.decide().approved


@pytest.mark.case("SEC-02")
def test_sec_02_who_wants_to_approve_such_an_entry_is_told_why_not(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("")
    (tmp_path / "run").write_text("#!/bin/sh\n")
    (tmp_path / "run").chmod(0o755)
    arguments = [f"word{number}" for number in range(600)]
    entry = {"mcpServers": {"docs": {"command": "./run", "args": arguments}}}
    (tmp_path / ".mcp.json").write_text(json.dumps(entry))
    approvals = Approvals(tmp_path / "data" / "approvals.json")
    prepared = prepare.prepare(prepare.Request(folders=[tmp_path]), approvals=approvals)
    (found,) = [entry for entry in prepared.entries if entry.spec.name == "docs"]
    assert not found.approved
    assert "more than 500 words" in str(found.refused())
    with pytest.raises(ApprovalsError, match="more than 500 words"):
        prepare.approve(found, approvals)
    assert approvals.find(tmp_path, "docs") is None


@pytest.mark.case("SEC-02")
def test_sec_02_the_dialect_whose_variables_are_expanded_is_covered(world: World) -> None:
    spec = world.spec()
    other = replace(spec, dialect="vscode")
    assert other.dialect != spec.dialect
    assert fingerprint(spec, Material()) != fingerprint(other, Material())


def test_nothing_on_another_host_is_looked_at_where_that_tells_who_looks() -> None:
    texts = ["--x=//host/share/a", "\\\\host\\share\\a", "file://host/a"]
    found = list(words.pieces(texts, windows=True))
    assert not [piece for piece in found if piece.startswith(("//", "\\\\"))]
    assert "//host/share/a" in words.pieces(texts, windows=False)

"""What people gave for the inputs of an entry: what depends on it, and what must not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mcp_lectern.config.model import Launch
from mcp_lectern.hub.entry import Entry
from mcp_lectern.hub.failure import Refused
from mcp_lectern.hub.inputs import Given, key
from mcp_lectern.hub.prepare import Request, approve, prepare
from mcp_lectern.hub.status import State
from mcp_lectern.mcp.auth.tokens import InMemory
from mcp_lectern.trust.approvals import Approvals

WHERE = {"type": "pickString", "id": "where", "options": ["./one.py", "two"], "default": "two"}


class World:
    """A workspace with one server that asks for an input, and approvals of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / ".vscode" / "mcp.json"
        self.file.parent.mkdir()
        self.approvals = Approvals(folder / "approvals.json")
        (folder / "one.py").write_text("1")
        (folder / "mine.py").write_text("1")

    def entry(self, values: Mapping[str, str] | None = None, *inputs: dict[str, Any], **more: Any) -> Entry:
        entry = {"command": "python3", "args": ["${input:where}"], **more}
        self.file.write_text(json.dumps({"inputs": inputs or [WHERE], "servers": {"docs": entry}}))
        (found,) = prepare(
            Request(
                layers=(("test", {"discover": ["workspace"]}),), folders=(self.folder,), trusted_settings=True
            ),
            approvals=self.approvals,
            given=lambda _spec: values or {},
        ).entries
        return found


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_an_approval_is_about_the_entry_and_stays_whatever_is_given(world: World) -> None:
    before = world.entry()
    assert (before.resting_state, before.missing) == (State.NOT_TRUSTED, ())
    approve(before, world.approvals)
    approved = world.entry()
    assert (approved.resting_state, [each.id for each in approved.missing]) == (
        State.NEEDS_SIGN_IN,
        ["where"],
    )
    given = world.entry({"where": "two"})
    assert (given.resting_state, given.missing, given.approved) == (State.IDLE, (), True)
    assert isinstance(given.launched, Launch)
    assert given.launched.args == ("two",)
    assert before.fingerprint == approved.fingerprint == given.fingerprint
    assert world.entry({"where": "./one.py"}).fingerprint == before.fingerprint


def test_an_approval_covers_the_files_that_an_entry_proposes(world: World) -> None:
    approve(world.entry(), world.approvals)
    (world.folder / "one.py").write_text("2")
    changed = world.entry({"where": "./one.py"})
    assert not changed.approved
    assert "content of “one.py” changed" in changed.changed


def test_an_approval_covers_a_default(world: World) -> None:
    asks = {"id": "where", "default": "./mine.py"}
    approve(world.entry(None, asks), world.approvals)
    (world.folder / "mine.py").write_text("2")
    assert not world.entry({"where": "x"}, asks).approved


@pytest.mark.parametrize(
    "change", [{"options": ["./one.py", "three"]}, {"default": "./one.py"}, {"description": "!"}]
)
def test_what_is_asked_is_approved_too(world: World, change: dict[str, Any]) -> None:
    approve(world.entry(), world.approvals)
    changed = world.entry({"where": "./one.py"}, {**WHERE, **change})
    assert not changed.approved
    assert any("what it asks you for changed" in sentence for sentence in changed.changed)


def test_what_is_missing_is_a_refusal_that_a_person_can_end(world: World) -> None:
    approve(world.entry(), world.approvals)
    with pytest.raises(Refused) as refused:
        world.entry().launch()
    assert (refused.value.failure.kind, refused.value.failure.unasked) == ("needsSignIn", True)
    assert "(“where”): use “Sign in”" in refused.value.failure.message


def test_what_else_is_wrong_is_told_once_all_is_given(world: World) -> None:
    approve(world.entry(command="no-such-program"), world.approvals)
    assert world.entry(command="no-such-program").missing
    found = world.entry({"where": "two"}, command="no-such-program")
    assert found.resting_state is State.FAILED
    assert "no-such-program" in (found.refusal or "")


def test_values_are_kept_by_file_and_id_and_never_under_their_names(world: World, tmp_path: Path) -> None:
    storage = InMemory()
    given = Given(lambda: storage)
    spec = world.entry().spec
    (where,) = spec.inputs
    given.keep(spec, where, "two")
    other = tmp_path / "other"
    other.mkdir()
    assert given.values(World(other).entry().spec) == {}
    assert Given(lambda: storage).values(spec) == {"where": "two"}
    assert "where" not in key(spec, where)
    assert str(tmp_path) not in key(spec, where)
    given.forget(spec)
    assert given.values(spec) == {}
    assert Given(lambda: storage).values(spec) == {}


def test_a_kept_value_that_is_no_choice_any_more_is_asked_for_again(world: World) -> None:
    given = Given(InMemory)
    spec = world.entry().spec
    given.keep(spec, spec.inputs[0], "two")
    fewer = world.entry(None, {**WHERE, "options": ["./one.py"]}).spec
    assert given.values(fewer) == {}


def test_where_no_storage_takes_a_value_it_lasts_as_long_as_the_process(world: World) -> None:
    class Refusing(InMemory):
        def save(self, key: str, text: str) -> bool:
            return False

    given = Given(Refusing)
    spec = world.entry().spec
    given.keep(spec, spec.inputs[0], "two")
    assert given.values(spec) == {"where": "two"}


def test_a_sentence_about_many_and_odd_inputs_stays_readable(world: World) -> None:
    asks = [{"id": f"i{number}", "description": "\u202e" + "x" * 500} for number in range(9)]
    args = [f"${{input:i{number}}}" for number in range(9)]
    approve(world.entry(None, *asks, args=args), world.approvals)
    refusal = world.entry(None, *asks, args=args).refusal or ""
    assert "and 4 more" in refusal
    assert "\u202e" not in refusal
    assert len(refusal) < 700

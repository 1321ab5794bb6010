"""What a configuration asks a person for: descriptions, what entries use of them, and wrong ones by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mcp_lectern.config.dialects import ALL, Source, read
from mcp_lectern.config.inputs import Choice, Input, used
from mcp_lectern.config.inputs import read as described
from mcp_lectern.config.launch import launch
from mcp_lectern.config.model import Launch, Level, Origin, Reading, Remote
from mcp_lectern.config.places import Machine
from mcp_lectern.config.remote import Network, remote

USER = Origin(Level.USER, "test")
KEY = {"type": "promptString", "id": "key", "description": "API Key", "password": True}


def reading(servers: dict[str, Any], inputs: Any = None, origin: Origin = USER) -> Reading:
    value = {"servers": servers, **({} if inputs is None else {"inputs": inputs})}
    return read(value, Source(origin), ALL)


def test_an_entry_has_what_it_asks_for_each_once() -> None:
    entry = {
        "command": "run",
        "args": ["--key=${input:key}", "${input:where}"],
        "env": {"KEY": "${input:key}", "OTHER": "${env:HOME}"},
        "description": "${input:nobody}",
    }
    where = {"type": "pickString", "id": "where", "options": ["eu", {"label": "America", "value": "us"}]}
    (spec,) = reading(
        {
            "docs": entry,
        },
        [KEY, where, {"id": "unused"}],
    ).specs
    assert spec.inputs == (
        Input("key", "API Key", password=True),
        Input("where", choices=(Choice("eu", "eu"), Choice("us", "America"))),
    )
    assert spec.inputs[1].to_json() == {
        "id": "where",
        "options": ["eu", {"label": "America", "value": "us"}],
    }


def test_what_is_not_described_is_asked_for_by_its_id_and_hidden() -> None:
    found = reading({"docs": {"url": "https://x/", "headers": {"X": "${input:key}"}}})
    assert found.specs[0].inputs == (Input("key", password=True),)
    assert found.problems == ()


def test_an_id_that_is_nearly_described_is_told() -> None:
    found = reading({"docs": {"command": "run", "args": ["${input:api-kye}"]}}, [{**KEY, "id": "api-key"}])
    (problem,) = found.problems
    assert problem.message == "“docs”: “inputs” does not describe “api-kye”; did you mean “api-key”?"
    assert problem.severity == "warning"
    assert found.specs[0].inputs == (Input("api-kye", password=True),)


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"key": {}}, "“inputs” is a list"),
        (["key"], "An input is an object with an “id”"),
        ([{"type": "promptString"}], "An input needs an “id”"),
        ([KEY, KEY], "“key” is described twice"),
    ],
)
def test_a_wrong_description_costs_itself_alone(inputs: Any, told: str) -> None:
    found = reading({"docs": {"command": "run"}}, inputs)
    assert [spec.name for spec in found.specs] == ["docs"]
    (problem,) = found.problems
    assert told in problem.message


@pytest.mark.parametrize(
    ("member", "why"),
    [
        ({"type": "command", "command": "x"}, "is made by a command of VS Code"),
        ({"type": "guess"}, "is of the type “guess”"),
        ({"type": "pickString"}, "is picked from “options”, and there are none"),
        ({"type": "pickString", "options": [7, {"label": "x"}]}, "is picked from “options”"),
    ],
)
def test_what_nobody_can_be_asked_for_is_a_sentence(member: dict[str, Any], why: str) -> None:
    (spec,) = reading({"d": {"command": "run", "args": ["${input:k}"]}}, [{"id": "k", **member}]).specs
    problems = launch(spec, machine=Machine.this(), given={"k": "v"})
    assert isinstance(problems, tuple)
    assert f"in “args”, “${{input:k}}” {why}" in problems[0].message


@pytest.mark.parametrize("field", ["command", "cwd", "envFile"])
def test_what_leads_to_a_program_is_asked_for_in_ones_own_entries_alone(field: str) -> None:
    entry = {"command": "run", field: "${input:key}"}
    origin = Origin(Level.WORKSPACE, "ws", Path("/ws/.vscode/mcp.json"), Path("/ws"))
    found = reading({"docs": entry}, [KEY], origin)
    assert found.specs == ()
    assert "only your own entries may" in found.problems[0].message
    assert reading({"docs": entry}, [KEY]).specs[0].inputs


def test_the_dialect_without_inputs_asks_for_nothing() -> None:
    value = {"mcpServers": {"docs": {"command": "run", "args": ["${input:key}"]}}}
    (spec,) = read(value, Source(USER), ALL).specs
    assert spec.inputs == ()


def test_a_value_goes_into_a_process_as_it_is_and_into_no_log(tmp_path: Path) -> None:
    entry = {"command": "python3", "args": ["-c", "${input:key}${input:name}"], "env": {"N": "${input:name}"}}
    (spec,) = reading({"docs": entry}, [KEY, {"id": "name"}]).specs
    started = launch(spec, machine=Machine.this(), given={"key": "${env:HOME} $x", "name": "Ada"})
    assert isinstance(started, Launch)
    assert started.args == ("-c", "${env:HOME} $xAda")
    assert started.own["N"] == "Ada"
    assert started.secrets == ("${env:HOME} $x",)


def test_a_value_goes_into_headers_and_a_sign_in() -> None:
    entry = {
        "url": "https://x.example/",
        "headers": {"X-Who": "${input:name}", "Authorization": "Bearer ${input:key}"},
        "oauth": {"clientId": "me", "clientSecret": "${input:secret}"},
    }
    (spec,) = reading({"docs": entry}).specs
    given = {"name": "Ada", "key": "k3y", "secret": "s3cret"}
    reached = remote(spec, machine=Machine.this(), network=Network(), given=given)
    assert isinstance(reached, Remote)
    assert reached.headers == {"X-Who": "Ada", "Authorization": "Bearer k3y"}
    assert reached.oauth.client_secret == "s3cret"
    assert {"k3y", "s3cret"} <= set(reached.secrets)


@pytest.mark.parametrize("value", ["line\nbreak", "nul\0"])
def test_a_value_that_no_header_can_hold_is_told(value: str) -> None:
    (spec,) = reading({"docs": {"url": "https://x.example/", "headers": {"X": "${input:key}"}}}).specs
    problems = remote(spec, machine=Machine.this(), network=Network(), given={"key": value})
    assert isinstance(problems, tuple)
    assert "holds a character that no header can hold" in problems[0].message
    assert value not in problems[0].message


def test_the_ids_in_a_text() -> None:
    assert used("a ${input:b} ${input:} ${env:c} ${input:d e} ${input:b} ${input:x${input:f}}") == (
        "b",
        "d e",
        "f",
    )
    assert described(None).described == {}
    assert used(
        {"oauth": {"deep": [["${input:never}"]], "clientSecret": "${input:s}"}, "args": [7, None]}
    ) == ("s",)

"""Every spelling of an entry: taken, or rejected with a sentence of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.config import dialects, jsonc
from mcp_lectern.config.model import Level, Origin, Reading

PATH = Path("/somewhere/mcp.json")
GOOD = {"command": "run"}


def reading(value: object) -> Reading:
    document = jsonc.parse(json.dumps(value, indent=1))
    return dialects.read(
        document.value, dialects.Source(Origin(Level.USER, "test", PATH), document), dialects.ALL
    )


def one(entry: object, section: str = "servers") -> Reading:
    """An entry between two good ones, which load whatever becomes of it."""
    result = reading({section: {"before": GOOD, "docs": entry, "after": GOOD}})
    assert {"before", "after"} <= {spec.name for spec in result.specs}
    assert result.claimed == ("before", "docs", "after")
    return result


@pytest.mark.case("CFG-03")
@pytest.mark.parametrize("section", ["servers", "mcpServers"])
@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"command": "run"}, "stdio"),
        ({"type": "stdio", "command": "run"}, "stdio"),
        ({"type": None, "command": "run", "args": None, "env": None, "cwd": None, "url": None}, "stdio"),
        ({"url": "https://x"}, "http"),
        ({"url": "${env:BASE}/mcp"}, "http"),
        ({"type": "http", "url": "http://x"}, "http"),
        ({"type": "streamable-http", "url": "http://x"}, "http"),
        ({"type": "streamableHttp", "url": "http://x"}, "http"),
        ({"type": "streamable_http", "url": "http://x"}, "http"),
        ({"type": "sse", "url": "HTTP://x"}, "sse"),
        ({"type": "SSE", "url": "http://x"}, "sse"),
    ],
)
def test_cfg_03_every_accepted_spelling_works(entry: dict[str, Any], kind: str, section: str) -> None:
    result = one(entry, section)
    spec = next(spec for spec in result.specs if spec.name == "docs")
    assert (spec.kind, spec.raw) == (kind, entry)
    assert result.problems == ()


@pytest.mark.case("CFG-03")
@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (None, "not null"),
        ("x", "not “x”"),
        ([], "not a list"),
        ({}, "neither"),
        ({"args": ["x"]}, "neither"),
        ({"command": None}, "neither"),
        ({"type": "ws", "url": "ws://x"}, "“ws”"),
        ({"type": 5, "url": "http://x"}, "a number"),
        ({"type": "stdio", "url": "http://x"}, "needs “command”"),
        ({"type": "http", "command": "x"}, "needs “url”"),
        ({"command": "x", "url": "http://x"}, "both"),
        ({"url": "ftp://x"}, "http://"),
        ({"url": ""}, "empty string"),
        ({"url": "http://x", "headers": {"A\r\nB": "1"}}, "header"),
        ({"url": "http://x", "headers": {"A": "1\r\nB: 2"}}, "header"),
        ({"url": "http://x", "headers": {"A": None}}, "null"),
        ({"url": "http://x", "oauth": 1}, "oauth"),
        ({"command": ""}, "empty string"),
        ({"command": "  "}, "command"),
        ({"command": ["npx", "x"]}, "into “args”"),
        ({"command": "x\0y"}, "cannot be passed"),
        ({"command": "x", "args": "-y thing"}, "“args”"),
        ({"command": "x", "args": [None]}, "“args”"),
        ({"command": "x", "args": ["\ud800"]}, "cannot be passed"),
        ({"command": "x", "env": []}, "“env”"),
        ({"command": "x", "env": {"": "1"}}, "variable"),
        ({"command": "x", "env": {"A=B": "1"}}, "variable"),
        ({"command": "x", "env": {"A": {}}}, "“env”"),
        ({"command": "x", "cwd": 1}, "“cwd”"),
        ({"command": "x", "disabled": "yes"}, "“disabled”"),
        ({"command": "x", "protocol": "new"}, "“protocol”"),
        ({"mcpServers": {"inner": GOOD}}, "move them up"),
        ({"inner": GOOD}, "move them up"),
    ],
)
def test_cfg_03_each_rejected_entry_says_why(entry: object, words: str) -> None:
    result = one(entry)
    assert "docs" not in {spec.name for spec in result.specs}
    (problem,) = result.problems
    assert problem.message.startswith("“docs” is left out: ")
    assert words in problem.message
    assert (problem.server, problem.severity, problem.path) == ("docs", "error", PATH)
    assert problem.line >= 5


@pytest.mark.case("CFG-03")
def test_cfg_03_numbers_and_switches_stand_for_their_spelling() -> None:
    entry = {"command": "x", "args": ["--port", 80, True], "env": {"A": 5, "B": None, "C": False, "D": 1.5}}
    (spec,) = [spec for spec in one(entry).specs if spec.name == "docs"]
    assert spec.args == ("--port", "80", "true")
    assert spec.env == {"A": "5", "B": None, "C": "false", "D": "1.5"}


@pytest.mark.case("CFG-03")
def test_cfg_03_a_disabled_entry_is_known_to_be_so() -> None:
    (spec,) = [spec for spec in one({"command": "x", "disabled": True}).specs if spec.name == "docs"]
    assert spec.disabled


@pytest.mark.case("CFG-03")
def test_cfg_03_unknown_members_warn_and_the_entry_stays() -> None:
    result = one({"command": "x", "arg": [], "headers": {}, "dev": {}})
    assert len(result.specs) == 3
    assert [problem.message for problem in result.problems] == [
        "“docs”: “arg” means nothing to Lectern; did you mean “args”?",
        "“docs”: “headers” means nothing to Lectern in a server of type stdio.",
    ]
    assert {problem.severity for problem in result.problems} == {"warning"}


@pytest.mark.case("CFG-03")
def test_cfg_03_both_sections_are_read_and_a_shared_name_counts_once() -> None:
    result = reading(
        {"mcpServers": {"a": GOOD, "b": {"command": "claude"}}, "servers": {"b": {"command": "code"}}}
    )
    assert [(spec.name, spec.command, spec.dialect) for spec in result.specs] == [
        ("b", "code", "vscode"),
        ("a", "run", "claude"),
    ]
    (problem,) = result.problems
    assert (problem.server, problem.severity) == ("b", "warning")


@pytest.mark.case("CFG-03")
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "an object"),
        (None, "an object"),
        ({}, "No servers here"),
        ({"server": {}}, "did you mean “servers”"),
        ({"docs": GOOD}, "looks like one"),
        ({"servers": []}, "an object with one entry per server"),
        ({"servers": {}, "docs": GOOD}, "beside “servers” instead of in it"),
    ],
)
def test_cfg_03_a_file_of_another_shape_says_so(value: object, words: str) -> None:
    (problem,) = reading(value).problems
    assert words in problem.message


@pytest.mark.case("URI-06")
def test_uri_06_every_name_but_the_empty_one_works() -> None:
    names = ["Slack Local", "a:b", "a.b", "a/b", "日本", "a", "x\ny", "😀"]
    result = reading({"servers": dict.fromkeys([*names, ""], GOOD)})
    assert [spec.name for spec in result.specs] == names
    (problem,) = result.problems
    assert "needs a name" in problem.message
    assert problem.server == ""


@pytest.mark.case("URI-06")
def test_uri_06_half_a_character_in_a_name_is_a_problem_of_that_entry() -> None:
    result = reading({"servers": {"a\ud800": GOOD, "b": GOOD}})
    assert [spec.name for spec in result.specs] == ["b"]
    assert "surrogate" in result.problems[0].message


def test_an_entry_and_its_problem_stand_where_they_were_written() -> None:
    document = jsonc.parse('{"servers": {\n  "a": {"command": "x"},\n  "b": {\n    "command": 5}}}')
    result = dialects.read(document.value, dialects.Source(Origin(Level.USER, "x"), document), dialects.ALL)
    assert (result.specs[0].origin.line, result.specs[0].origin.column) == (1, 2)
    assert (result.problems[0].line, result.problems[0].column) == (3, 4)


def test_a_name_written_twice_warns() -> None:
    document = jsonc.parse('{"servers": {"a": {"command": "x"},\n"a": {"command": "y"}}}')
    result = dialects.read(document.value, dialects.Source(Origin(Level.USER, "x"), document), dialects.ALL)
    assert [spec.command for spec in result.specs] == ["y"]
    assert [(problem.severity, problem.line) for problem in result.problems] == [("warning", 1)]


FIELDS = st.sampled_from(
    ["type", "command", "args", "env", "cwd", "url", "headers", "disabled", "roots", "oauth"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.just("http://x"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@given(st.dictionaries(st.text(max_size=3), JSON | st.dictionaries(FIELDS, JSON, max_size=5), max_size=4))
def test_every_entry_ends_as_a_server_or_as_a_problem(entries: dict[str, Any]) -> None:
    result = dialects.read({"mcpServers": entries}, dialects.Source(Origin(Level.USER, "x")), dialects.ALL)
    kept = {spec.name for spec in result.specs}
    rejected = {problem.server for problem in result.problems if problem.severity == "error"}
    assert kept | rejected == set(entries)
    assert not kept & rejected

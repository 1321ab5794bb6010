"""Settings from any layer, in any spelling, with anything in them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.settings import DEFAULT_LANGUAGES, Filter, Settings, read
from mcp_lectern.settings.reading import GROUPS, KEYS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(
    [*KEYS, *GROUPS, *(f"lectern.{key}" for key in KEYS), "lectern", "trace", "limit", ""]
)
LAYERS = st.dictionaries(
    NAMES | st.text(max_size=5), JSON | st.dictionaries(NAMES, JSON, max_size=3), max_size=6
)


def test_nothing_set_is_the_defaults() -> None:
    assert read([]) == (Settings(), [])
    assert Settings().languages == DEFAULT_LANGUAGES
    assert Settings().discover == ("workspace", "vscode")


@pytest.mark.parametrize(
    "layer",
    [
        {"completion": {"limit": 7}},
        {"completion.limit": 7.0},
        {"lectern.completion.limit": 7},
        {"lectern": {"completion": {"limit": 7}}},
        {"lectern.completion": {"limit": 7}},
        {"lectern": {"completion.limit": 7}},
    ],
)
def test_a_key_is_read_in_every_spelling(layer: dict[str, Any]) -> None:
    settings, warnings = read([("editor", layer)])
    assert settings.completion_limit == 7
    assert warnings == []


def test_every_key_has_its_own_field() -> None:
    settings, warnings = read(
        [
            (
                "editor",
                {
                    "servers": {"docs": {"command": "x"}},
                    "configFiles": ["~/x.json"],
                    "discover": ["zed"],
                    "languages": ["*"],
                    "completion": {"limit": 1},
                    "diagnostics": "hint",
                    "codeFences": True,
                    "symbols": False,
                    "filters": {
                        "docs": {"hide": True, "include": ["a*"], "exclude": ["b"], "audience": ["user"]}
                    },
                    "startup": "eager",
                    "documents": {"languageFromName": True},
                    "limits": {"readBytes": 1, "materializedBytes": 0},
                    "materialized": {"days": 0.5},
                    "timeouts": {"start": 1, "request": 2, "total": 3},
                    "workspaceServers": "never",
                    "remember": False,
                    "network": {"caFile": "/ca.pem", "proxy": "http://proxy"},
                },
            )
        ]
    )
    assert warnings == []
    assert settings == Settings(
        {"docs": {"command": "x"}}, ("~/x.json",), ("zed",), ("*",), 1, "hint", True, False,
        {"docs": Filter(True, ("a*",), ("b",), ("user",))}, "eager", True, 1, 0, 0.5, 1, 2, 3, "never", False,
        "/ca.pem", "http://proxy",
    )  # fmt: skip


def test_a_later_layer_wins_key_by_key() -> None:
    first = {"completion.limit": 5, "symbols": False, "servers": {"a": {}}}
    second = {"completion": {"limit": 6}, "servers": {"b": {}}, "symbols": None}
    settings, warnings = read([("one", first), ("two", second)])
    assert (settings.completion_limit, settings.symbols, settings.servers) == (6, False, {"b": {}})
    assert warnings == []


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("completion.limit", 0),
        ("completion.limit", True),
        ("completion.limit", 1.5),
        ("completion.limit", 10**400),
        ("timeouts.start", 0),
        ("timeouts.total", float("nan")),
        ("timeouts.request", float("inf")),
        ("limits.readBytes", "64MiB"),
        ("discover", True),
        ("discover", ["elsewhere"]),
        ("diagnostics", "loud"),
        ("workspaceServers", "always"),
        ("languages", [1]),
        ("filters", {"docs": {"hidden": True}}),
        ("filters", {"docs": {"hide": 1}}),
        ("network.proxy", ""),
        ("servers", []),
    ],
)
def test_a_wrong_value_is_named_and_the_default_stays(key: str, wrong: object) -> None:
    settings, warnings = read([("editor", {key: wrong})])
    assert settings == Settings()
    assert len(warnings) == 1
    assert key in warnings[0]
    assert "editor" in warnings[0]


def test_a_wrong_value_says_what_would_be_right() -> None:
    _, warnings = read([("editor", {"startup": "later", "limits": 5})])
    assert warnings == [
        "editor: “startup” must be “onDemand” or “eager”, not “later”; it is left as it was.",
        "editor: “limits” must be an object, not a number; it is left as it was.",
    ]


def test_an_unknown_key_is_named_with_what_it_may_mean() -> None:
    _, warnings = read([("editor", {"codefences": True, "nothing": 1})])
    assert warnings[0] == "editor: unknown setting “codefences”; did you mean “codeFences”?"
    assert warnings[1] == "editor: unknown setting “nothing”."


def test_what_belongs_to_clients_is_never_warned_about() -> None:
    layer = {"trace": {"server": "off"}, "client.path": 1, "lectern": {"trace.server": 1, "client": {"x": 2}}}
    assert read([("editor", layer)]) == (Settings(), [])


def test_discover_false_is_nowhere() -> None:
    assert read([("editor", {"discover": False})])[0].discover == ()


@pytest.mark.case("SEC-02")
def test_sec_02_no_layer_can_approve_workspace_servers() -> None:
    settings, warnings = read([("editor", {"workspaceServers": "always"})])
    assert settings.workspace_servers == "ask"
    assert warnings


def test_a_warning_carries_no_control_characters_and_little_text() -> None:
    _, warnings = read([("editor", {"a\r\n\x1b[31m" + "x" * 9999: 1})])
    assert warnings[0].isprintable()
    assert len(warnings[0]) < 200


def test_depth_costs_one_warning() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"lectern": deep}
    settings, warnings = read([("editor", deep), ("editor", {"servers": deep, "filters": {"a": deep}})])
    assert settings == Settings()
    assert len(warnings) == 3
    while deep:
        deep = deep.pop("lectern")


@given(st.lists(st.tuples(st.text(max_size=3), LAYERS | JSON), max_size=3))
def test_no_json_value_raises(layers: list[tuple[str, object]]) -> None:
    settings, warnings = read(layers)
    assert isinstance(settings, Settings)
    assert all(isinstance(warning, str) for warning in warnings)
    assert settings.completion_limit >= 1
    assert 0 < settings.timeouts_start < float("inf")

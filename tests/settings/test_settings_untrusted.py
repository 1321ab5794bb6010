"""Settings that may come from a cloned folder say little, and what they may not say is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_lectern.hub.prepare import Prepared, Request, prepare
from mcp_lectern.settings import Settings
from mcp_lectern.settings.reading import KEYS
from mcp_lectern.settings.untrusted import HARMLESS
from mcp_lectern.trust.approvals import Approvals

LOOSER: dict[str, Any] = {
    "startup": "eager",
    "remember": False,
    "limits.readBytes": 1,
    "limits.materializedBytes": 2**50,
    "materialized.days": 10_000,
    "timeouts.start": 1,
    "timeouts.request": 1e9,
    "timeouts.total": 1e9,
    "network.caFile": "/tmp/ca.pem",
    "network.proxy": "http://proxy.example",
    "discover": ["workspace", "vscode", "claude-code"],
}
HARMLESS_VALUES: dict[str, Any] = {
    "languages": ["*"],
    "completion.limit": 7,
    "diagnostics": False,
    "codeFences": True,
    "symbols": False,
    "filters": {"docs": {"hide": True}},
    "documents.languageFromName": True,
    "servers": {"docs": {"command": "x"}},
    "configFiles": ["~/none.json"],
}


def prepared(tmp_path: Path, said: object, typed: object = None, *, trusted: bool = False) -> Prepared:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(typed or {}))
    request = Request(
        [("initializationOptions", said)],
        config_files=[config],
        folders=[tmp_path],
        trusted_settings=trusted,
    )
    return prepare(request, approvals=Approvals(tmp_path / "approvals.json"))


def test_every_setting_is_known_to_be_harmless_or_not() -> None:
    assert set(HARMLESS_VALUES) == HARMLESS
    assert set(KEYS) == {*HARMLESS_VALUES, *LOOSER, "workspaceServers"}


@pytest.mark.case("SEC-02")
@pytest.mark.parametrize("key", LOOSER)
def test_sec_02_a_folder_cannot_loosen_a_setting(tmp_path: Path, key: str) -> None:
    attribute = KEYS[key].attribute
    found = prepared(tmp_path, {key: LOOSER[key]})
    assert getattr(found.settings, attribute) == getattr(Settings(), attribute)
    (warning,) = found.warnings
    assert f"“{key}”" in warning
    assert "--config" in warning
    trusted = prepared(tmp_path, {key: LOOSER[key]}, trusted=True)
    assert getattr(trusted.settings, attribute) != getattr(Settings(), attribute)
    assert not trusted.warnings


@pytest.mark.parametrize("key", HARMLESS_VALUES)
def test_a_folder_may_say_what_is_harmless(tmp_path: Path, key: str) -> None:
    attribute = KEYS[key].attribute
    found = prepared(tmp_path, {key: HARMLESS_VALUES[key]})
    assert getattr(found.settings, attribute) != getattr(Settings(), attribute)
    assert found.warnings == ()


@pytest.mark.case("SEC-02")
def test_sec_02_one_sentence_names_all_that_does_not_count(tmp_path: Path) -> None:
    found = prepared(tmp_path, {**LOOSER, **HARMLESS_VALUES})
    (warning,) = found.warnings
    assert all(f"“{key}”" in warning for key in LOOSER)
    assert not any(f"“{key}”" in warning for key in HARMLESS_VALUES)


@pytest.mark.case("SEC-02")
def test_sec_02_a_folder_may_be_stricter_than_the_user_and_not_less_strict(tmp_path: Path) -> None:
    stricter = prepared(tmp_path, {"workspaceServers": "never", "discover": ["workspace"]})
    assert (stricter.settings.workspace_servers, stricter.settings.discover) == ("never", ("workspace",))
    assert stricter.warnings == ()
    typed = {"workspaceServers": "never", "discover": ["workspace"], "startup": "eager"}
    said = {"workspaceServers": "ask", "discover": ["vscode"], "startup": "onDemand"}
    found = prepared(tmp_path, said, typed)
    assert (found.settings.workspace_servers, found.settings.discover) == ("never", ())
    assert found.settings.startup == "eager", "the user's own word counts"
    (warning,) = found.warnings
    assert all(f"“{key}”" in warning for key in said)


def test_what_a_folder_repeats_needs_no_warning(tmp_path: Path) -> None:
    assert prepared(tmp_path, {"startup": "onDemand", "timeouts": {"start": 60}}).warnings == ()

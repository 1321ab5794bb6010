"""From a remote entry as written to what a server is reached with, or to a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mcp_lectern.config import dialects
from mcp_lectern.config.model import Level, Origin, Remote
from mcp_lectern.config.places import Machine
from mcp_lectern.config.remote import Network, remote


def result(entry: dict[str, Any], machine: Machine, network: Network | None = None, **more: Any) -> Any:
    source = dialects.Source(Origin(Level.USER, "test"))
    reading = dialects.read({"servers": {"docs": entry}}, source, dialects.ALL)
    assert reading.problems == ()
    return remote(reading.specs[0], machine=machine, network=network or Network(), **more)


def reached(entry: dict[str, Any], machine: Machine, network: Network | None = None, **more: Any) -> Remote:
    found = result(entry, machine, network, **more)
    assert isinstance(found, Remote), found
    return found


def refused(entry: dict[str, Any], machine: Machine) -> str:
    problems = result(entry, machine)
    assert not isinstance(problems, Remote)
    assert all(problem.server == "docs" for problem in problems)
    return "\n".join(problem.message for problem in problems)


@pytest.mark.case("CFG-02")
def test_cfg_02_variables_are_expanded_once_in_url_and_headers(machine: Machine) -> None:
    entry = {"url": "https://${env:V}.example/${env:W}", "headers": {"Authorization": "Bearer ${env:V}"}}
    found = reached(entry, machine)
    assert found.url == "https://value.example/other"
    assert found.headers == {"Authorization": "Bearer value"}
    assert {"value", "other"} <= set(found.secrets)


@pytest.mark.case("CFG-02")
def test_cfg_02_an_unset_variable_names_the_field_and_is_never_sent(machine: Machine) -> None:
    message = refused(
        {"url": "https://x/${env:NO}", "headers": {"Authorization": "Bearer ${env:NO2}"}}, machine
    )
    assert "“url”" in message
    assert "${env:NO}" in message
    assert "“headers.Authorization”" in message
    assert "${env:NO2}" in message


def test_a_header_that_smells_of_a_secret_is_masked_with_and_without_its_scheme(machine: Machine) -> None:
    found = reached(
        {"url": "https://u:pass%21@x/", "headers": {"X-Api-Key": "k1", "Authorization": "Bearer t1"}}, machine
    )
    assert {"k1", "Bearer t1", "t1", "pass%21", "pass!"} <= set(found.secrets)
    assert "X-Trace" not in found.secrets


@pytest.mark.parametrize(
    "url", ["https://", "https:///path", "https://a b/", "https://x:99999/", "https://[::1", "${env:V}"]
)
def test_what_is_no_address_is_a_sentence(machine: Machine, url: str) -> None:
    assert "“url” is no" in refused({"url": url}, machine)


@pytest.mark.parametrize("value", ["a\rb", "a\nb", "a\x01b"])
def test_a_value_that_would_add_a_header_is_refused(machine: Machine, value: str) -> None:
    odd = Machine(machine.home, {**machine.environment, "ODD": value}, "linux")
    message = refused({"url": "https://x", "headers": {"X-A": "${env:ODD}"}}, odd)
    assert "“headers.X-A” holds a character that no header can hold" in message
    assert value not in message


CREDENTIALS = [
    {"headers": {"Authorization": "Bearer t"}},
    {"headers": {"X-Api-Key": "t"}},
    {"oauth": {"clientId": "c"}},
]


@pytest.mark.parametrize("credentials", CREDENTIALS)
@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("http://x.example/mcp", True),
        ("HTTP://x.example/mcp", True),
        ("http://localhost.evil.example/", True),
        ("https://x.example/mcp", False),
        ("http://localhost:3000/mcp", False),
        ("http://127.0.0.1/mcp", False),
        ("http://[::1]:8/mcp", False),
    ],
)
def test_credentials_in_the_clear_are_warned_about(
    machine: Machine, url: str, warned: bool, credentials: dict[str, Any]
) -> None:
    warning = reached({"url": url, **credentials}, machine).warning
    assert (warning is not None) == warned
    assert warning is None or ("docs" in warning and "https://" in warning)


def test_a_plain_address_without_credentials_is_nobodys_business(machine: Machine) -> None:
    assert reached({"url": "http://x.example/"}, machine).warning is None
    assert reached({"url": "http://x.example/", "headers": {"X-Trace": "1"}}, machine).warning is None


def test_the_networks_settings_go_along(machine: Machine, home: Path) -> None:
    found = reached({"url": "https://x"}, machine, Network("~/ca.pem", "http://proxy:3128"))
    assert (found.ca_file, found.proxy) == (home / "ca.pem", "http://proxy:3128")


def test_both_kinds_are_kept(machine: Machine) -> None:
    assert reached({"url": "https://x"}, machine).kind == "http"
    assert reached({"url": "https://x", "type": "sse"}, machine).kind == "sse"

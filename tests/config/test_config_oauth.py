"""How a remote entry says that one signs in: read, refused with a sentence, expanded, and never shown."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_lectern.config import dialects
from mcp_lectern.config.mask import masker
from mcp_lectern.config.model import Level, OAuthEntry, Origin, Reading, Remote
from mcp_lectern.config.places import Machine
from mcp_lectern.config.remote import Network, remote


def read(oauth: Any) -> Reading:
    value = {"servers": {"docs": {"url": "https://mcp.example/mcp", "oauth": oauth}}}
    return dialects.read(value, dialects.Source(Origin(Level.USER, "x")), dialects.ALL)


def reached(oauth: Any, machine: Machine) -> Remote:
    result = remote(read(oauth).specs[0], machine=machine, network=Network())
    assert isinstance(result, Remote), result
    return result


@pytest.mark.parametrize(
    ("oauth", "words"),
    [
        ([], "not a list"),
        ({"clientId": 5}, "“oauth.clientId” is a text, not a number"),
        ({"clientSecret": ""}, "oauth.clientSecret"),
        ({"privateKey": ["x"]}, "oauth.privateKey"),
        ({"clientSecret": "x", "privateKey": "y"}, "both"),
        ({"scopes": [1]}, "oauth.scopes"),
        ({"scopes": ["a b"]}, "white space"),
        ({"scopes": 7}, "oauth.scopes"),
        ({"redirectPort": 0}, "65535"),
        ({"redirectPort": True}, "oauth.redirectPort"),
        ({"callbackPort": "8080"}, "oauth.callbackPort"),
        ({"grant": "password"}, "authorization_code"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_sentence(oauth: Any, words: str) -> None:
    result = read(oauth)
    assert result.specs == ()
    assert [words in problem.message for problem in result.problems] == [True]


def test_an_unknown_member_warns_and_harms_nothing() -> None:
    result = read({"clientID": "x"})
    assert [problem.severity for problem in result.problems] == ["warning"]
    assert "oauth.clientID" in result.problems[0].message
    assert len(result.specs) == 1


def test_variables_are_expanded_and_secrets_masked(machine: Machine) -> None:
    found = reached(
        {
            "clientId": "${env:V}",
            "clientSecret": "literal-secret",
            "issuer": "https://${env:W}.example",
            "scopes": "a  b",
            "callbackPort": 8123,
            "clientMetadataUrl": "https://x.example/client.json",
            "grant": "client_credentials",
        },
        machine,
    )
    assert found.oauth == OAuthEntry(
        "value",
        "literal-secret",
        None,
        "https://other.example",
        ("a", "b"),
        8123,
        "https://x.example/client.json",
        "client_credentials",
    )
    assert "literal-secret" in found.secrets
    assert "literal-secret" not in repr(found.oauth)
    assert "literal-secret" not in masker(found.secrets)("we sent literal-secret")


def test_a_private_key_is_masked_line_by_line(machine: Machine) -> None:
    found = reached({"privateKey": "-----BEGIN-----\nMIIEvQIBADANBg\n-----END-----"}, machine)
    assert "MIIEvQIBADANBg" not in masker(found.secrets)("key: MIIEvQIBADANBg")


def test_an_unset_variable_stops_the_entry(machine: Machine) -> None:
    problems = remote(read({"clientSecret": "${env:UNSET}"}).specs[0], machine=machine, network=Network())
    assert isinstance(problems, tuple)
    assert "oauth.clientSecret" in problems[0].message


def test_without_a_word_about_it_the_server_decides(machine: Machine) -> None:
    assert reached(None, machine).oauth == OAuthEntry()

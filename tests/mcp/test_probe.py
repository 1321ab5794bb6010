"""Verdicts on what a server answers to the opening messages."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_lectern.mcp.eras.probe import (
    Agreed,
    HandshakeRefused,
    NoCommonVersion,
    ShakeHands,
    SpeakStateless,
    judge_handshake,
    judge_probe,
)
from mcp_lectern.mcp.wire.jsonrpc import Answer, Refusal
from mcp_lectern.mcp.wire.lifecycle import Capabilities, ServerInfo, capabilities

NEWEST = "2025-11-25"
MODERN = "2026-07-28"


def discover(*versions: Any, **more: Any) -> Answer:
    return Answer(1, {"supportedVersions": list(versions), "capabilities": {}, **more})


def refusal(code: int | str | None, **data: Any) -> Refusal:
    return Refusal(1, code, "no", data or None)


@pytest.mark.case("VER-01")
@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (discover(MODERN), MODERN),
        (discover("2099-01-01", MODERN, 7), MODERN),
        (refusal(-32020), MODERN),
        (refusal(-32021, requiredCapabilities={}), MODERN),
        (refusal(-32022), MODERN),
        (refusal(-32022, supported=[MODERN]), MODERN),
        (refusal(-32022, supported=["2025-06-18", "2024-11-05"]), ShakeHands("2025-06-18")),
        (discover("2025-03-26"), ShakeHands("2025-03-26")),
        (refusal(-32022, supported=["2099-01-01"]), NoCommonVersion(("2099-01-01",))),
        (discover("2099-01-01"), NoCommonVersion(("2099-01-01",))),
        (None, ShakeHands(NEWEST)),
        (refusal(-32601), ShakeHands(NEWEST)),
        (refusal(-32602), ShakeHands(NEWEST)),
        (refusal(-32000), ShakeHands(NEWEST)),
        (refusal(None), ShakeHands(NEWEST)),
        (refusal("-32022"), ShakeHands(NEWEST)),
        (Answer(1, {}), ShakeHands(NEWEST)),
        (Answer(1, None), ShakeHands(NEWEST)),
        (Answer(1, {"protocolVersion": NEWEST}), ShakeHands(NEWEST)),
        (discover(MODERN, resultType="input_required"), ShakeHands(NEWEST)),
    ],
)
def test_ver_01_the_probe(outcome: Answer | Refusal | None, verdict: object) -> None:
    found = judge_probe(outcome)
    assert (found.version if isinstance(found, SpeakStateless) else found) == verdict


@pytest.mark.case("VER-01")
@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (Answer(1, {"protocolVersion": "2024-11-05"}), Agreed("2024-11-05", None, Capabilities())),
        (Answer(1, {"protocolVersion": "2025-03-26", "x": 1}), Agreed("2025-03-26", None, Capabilities())),
        (Answer(1, {"protocolVersion": "1999-01-01"}), NoCommonVersion(("1999-01-01",))),
        (Answer(1, {"protocolVersion": "2099-01-01"}), NoCommonVersion(("2099-01-01",))),
        (Answer(1, {}), Agreed("2024-11-05", None, Capabilities(), assumed=True)),
        (Answer(1, {"protocolVersion": 7}), Agreed("2024-11-05", None, Capabilities(), assumed=True)),
        (Answer(1, []), HandshakeRefused(None, "the answer to initialize is no object")),
        (refusal(-32602, supported=["2025-03-26", "2024-11-05"]), ShakeHands("2025-03-26")),
        (refusal(-32602, supported=["1999-01-01"]), NoCommonVersion(("1999-01-01",))),
        (refusal(-32602, supported=[NEWEST]), HandshakeRefused(-32602, "no")),
        (refusal(-32602), HandshakeRefused(-32602, "no")),
        (refusal(-32601), HandshakeRefused(-32601, "no")),
        (refusal(-32022), SpeakStateless(MODERN, None)),
        (refusal(-32022, supported=[MODERN]), SpeakStateless(MODERN, None)),
        (refusal(-32022, supported=["2025-06-18"]), ShakeHands("2025-06-18")),
    ],
)
def test_ver_01_the_handshake(outcome: Answer | Refusal, verdict: object) -> None:
    assert judge_handshake(outcome, NEWEST) == verdict


@pytest.mark.case("CAP-01")
@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ({"resources": {}}, Capabilities(resources=True)),
        ({"resources": None}, Capabilities()),
        ({}, Capabilities()),
        (None, Capabilities()),
        ([], Capabilities()),
        (
            {"resources": {"subscribe": True, "listChanged": True}, "completions": {}},
            Capabilities(True, True, True, True),
        ),
        ({"resources": {"subscribe": "yes", "listChanged": 1}}, Capabilities(resources=True)),
        ({"resources": False, "completions": None}, Capabilities()),
    ],
)
def test_cap_01_an_empty_object_is_declared_and_null_is_not(declared: object, expected: Capabilities) -> None:
    assert capabilities(declared) == expected


def test_the_servers_word_about_itself_is_read_from_both_places() -> None:
    info = {"name": "n", "version": 7}
    for result in ({"_meta": {"io.modelcontextprotocol/serverInfo": info}}, {"serverInfo": info}):
        verdict = judge_probe(discover(MODERN, **result))
        assert isinstance(verdict, SpeakStateless)
        assert verdict.discovered is not None
        assert verdict.discovered.server_info == ServerInfo("n", "")

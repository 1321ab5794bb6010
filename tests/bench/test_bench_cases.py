"""The tables of oddities in docs/protocol.md are what happens: every case is played again to both clients."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping

import pytest
from bench.cases.lectern_client import VERBS
from bench.cases.sdk_client import VERBS as PEER_VERBS
from bench.cases_against_sdk import BEGIN, CASES, DOCUMENT, END, SECTIONS, cell, peer
from tests.support.tree import ROOT

pytestmark = pytest.mark.timeout(540)

Outcomes = Mapping[str, Mapping[str, str]]
PLAYED = re.compile(r"(CAP|LST|PAG|RD|SUB|TPL-02|CMP|IO|VER|HTTP)")


def section() -> str:
    return DOCUMENT.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]


def committed() -> dict[str, dict[str, str]]:
    """By case and client, what the tables say."""
    found = {}
    for line in section().split("\n"):
        cells = re.split(r" (?<!\\)\| ", line.removeprefix("| ").removesuffix(" |"))
        if len(cells) == 4 and re.match(r"[A-Z]+-\d\d$", cells[0]):
            found[f"{cells[0]} {cells[1]}"] = {"lectern": cells[2], "sdk": cells[3]}
    return found


def played(*keys: str) -> Outcomes:
    """What happens now, in processes of its own: nothing of the clients stays in this one."""
    command = [sys.executable, "-m", "bench.cases_against_sdk", "--json", "--quick", *keys]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: Outcomes = json.loads(result.stdout)
    return found


def differences(found: Outcomes, clients: list[str]) -> dict[str, tuple[str, str]]:
    """Where the tables say something else, by case and client: both versions."""
    said = committed()
    pairs = {
        (key, client): (said[key][client], cell(by_client[client]))
        for key, by_client in ((cell(key), found[key]) for key in found)
        for client in clients
        if client in by_client
    }
    return {f"{key}: {client}": pair for (key, client), pair in pairs.items() if pair[0] != pair[1]}


def test_every_case_is_played_again_and_ends_as_the_tables_say() -> None:
    # What the peer does is pinned to the version that the tables name.
    clients = ["lectern", "sdk"] if f"| {peer()} |" in section() else ["lectern"]
    found = dict(played())
    differing = differences(found, clients)
    # A busy machine may make a request late; what differs is played once more, alone.
    keys = [case.key for case in CASES if any(name.startswith(cell(case.key)) for name in differing)]
    if keys:
        found |= played(*keys)
    assert differences(found, clients) == {}


def test_the_tables_hold_every_case_and_no_other() -> None:
    assert list(committed()) == [cell(case.key) for case in CASES]
    assert len({case.key for case in CASES}) == len(CASES)


def test_every_case_of_a_client_is_in_the_tables_or_beneath_them() -> None:
    from tests.tidy.test_tidy_cases import CASES as KNOWN

    text = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)[1]
    named = {case for case in KNOWN if PLAYED.match(case)}
    assert [case for case in sorted(named) if case not in text] == []


def test_both_clients_know_every_step() -> None:
    assert VERBS.keys() == PEER_VERBS.keys()
    assert {step[0] for case in CASES for step in case.steps} <= VERBS.keys()
    assert all(section.cases for section in SECTIONS)

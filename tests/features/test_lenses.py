"""What stands over the entry of a server, by its state."""

from __future__ import annotations

import pytest

from mcp_lectern.features.lenses import Lens, lenses

START, STOP = ("Start", "lectern.restart"), ("Stop", "lectern.stop")


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        ("idle", [START]),
        ("starting", [STOP]),
        ("ready", [STOP, ("Restart", "lectern.restart")]),
        ("failed", [START]),
        ("backingOff", [START, STOP]),
        ("stopped", [START]),
        ("notTrusted", [("Approve", "lectern.approve")]),
        ("needsSignIn", [("Sign In", "lectern.signIn")]),
    ],
)
def test_what_helps_in_each_state_and_the_log_the_first_one_says_whose_it_is(
    state: str, offered: list[tuple[str, str]]
) -> None:
    log = Lens("Log", "lectern.log", {"server": "docs", "reveal": True})
    (title, command), *others = offered
    assert lenses("docs", state) == [
        Lens(f"Lectern: {title}", command, {"server": "docs"}),
        *(Lens(*other, {"server": "docs"}) for other in others),
        log,
    ]


def test_nothing_stands_over_an_entry_of_an_unknown_state() -> None:
    assert lenses("docs", "elsewhere") == []

"""What can be done about the mention at the cursor."""

from __future__ import annotations

import pytest
from tests.support.catalogues import listing
from tests.support.marked import fixture

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.resolve import resolve
from mcp_lectern.features.actions import Doing, Replacement, actions

A = listing("a", ["memo://plan", "config://app"], ["echo://{x}"])
B = listing("b", ["config://app"])
SLOW = listing("slow", listed=False)
OPEN = "lectern.open"


def check(text: str, *expected: str, among: tuple[ServerListing, ...] = (A, B, SLOW), **states: str) -> None:
    """Each replacement as its text, each command as its id and argument."""
    given = fixture(text, *among)
    (mention,) = given.mentions
    found = actions(mention, resolve(given.catalogue, mention), states)
    shown = [
        one.text if isinstance(one, Replacement) else " ".join([one.command, *one.argument.values()])
        for one in found
    ]
    assert shown == list(expected)


def test_did_you_mean_another_resource_or_another_server() -> None:
    check("@a:memo://paln", "@a:memo://plan", "lectern.open a memo://paln")
    check("@aa:memo://plan", "@a:memo://plan")


@pytest.mark.case("URI-05")
def test_uri_05_an_ambiguous_uri_can_be_qualified() -> None:
    check("@config://app", "@a:config://app", "@b:config://app")


def test_a_resource_can_be_opened_and_its_server_asked_again() -> None:
    check("@a:memo://plan", "lectern.open a memo://plan", "lectern.refresh a", a="ready")
    check("@memo://plan", "lectern.open a memo://plan", a="starting")
    check("@a:echo://x", "lectern.open a echo://x", a="starting")


@pytest.mark.parametrize(
    ("state", "command"),
    [
        ("idle", "lectern.restart"),
        ("stopped", "lectern.restart"),
        ("failed", "lectern.restart"),
        ("backingOff", "lectern.restart"),
        ("notTrusted", "lectern.approve"),
        ("needsSignIn", "lectern.signIn"),
    ],
)
def test_a_server_that_cannot_answer_can_be_brought_to(state: str, command: str) -> None:
    check("@slow:memo://x", "lectern.open slow memo://x", f"{command} slow", slow=state)


def test_prose_and_strangers_get_nothing() -> None:
    check("@https://example.org")
    check("@zzzzzz:memo://nowhere")


@pytest.mark.case("LSP-07")
def test_lsp_07_titles_are_short_safe_lines() -> None:
    name = "x](command:evil)\n" + "y" * 500
    uri = "memo://a](command:evil)\u202e"
    given = fixture("@memo://q", listing(name, ["memo://q", uri]), listing("b", ["memo://q"]))
    (mention,) = given.mentions
    for one in actions(mention, resolve(given.catalogue, mention), {name: "ready"}):
        assert isinstance(one, Replacement | Doing)
        assert "](" not in one.title
        assert "\n" not in one.title
        assert len(one.title) < 150

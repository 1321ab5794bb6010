"""What can be done about the mention at the cursor."""

from __future__ import annotations

import pytest
from tests.support.catalogues import listing
from tests.support.marked import fixture

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.resolve import UnknownResource, resolve
from mcp_lectern.features.actions import MOST_REPLACEMENTS, Doing, Replacement, actions
from mcp_lectern.features.diagnostics import diagnostics

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


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("**", "**"),
        ("*", "*"),
        ("~~", "~~"),
        ("[", "](https://example.org)"),
        ("![", "](x.png)"),
        ("|", "|b|"),
        ("“", "”"),
        ("", "’s"),
        ("", "'s"),
        ("", "…"),
        ("「", "。次"),
    ],
)
def test_a_fix_keeps_what_is_markup_around_the_mention(before: str, behind: str) -> None:
    """The closing half of it belongs to the URI as it stands, and a fix took it away with the rest."""
    wanted = '@"a:memo://plan"' + behind
    text = f"{before}@a:memo://plan{behind} and more"
    given = fixture(text, A)
    (mention,) = given.mentions
    found = actions(mention, resolve(given.catalogue, mention), {})
    assert isinstance(found[0], Replacement)
    fixed = text[: mention.start] + found[0].text + text[mention.end :]
    assert fixed == f"{before}{wanted} and more"
    (again,) = fixture(fixed, A).mentions
    assert (again.server, again.uri) == ("a", "memo://plan")
    (remark,) = diagnostics(given.catalogue, [mention], {})
    suggestions = remark.data["suggestions"]
    assert isinstance(suggestions, list)
    assert suggestions[0] == found[0].text


def test_a_listed_beginning_that_goes_on_as_a_uri_is_no_markup() -> None:
    check("@a:memo://plan/tomorrow", "lectern.open a memo://plan/tomorrow")
    check('@"a:memo://plan**"', "@a:memo://plan", "lectern.open a memo://plan**")


def test_every_resource_that_may_be_meant_is_offered() -> None:
    among = (listing("a", ["memo://plan-2026", "memo://plan-2025", "memo://plan-2024", "memo://soup"]),)
    text = "@a:memo://plan-2023"
    given = fixture(text, *among)
    (mention,) = given.mentions
    found = resolve(given.catalogue, mention)
    assert isinstance(found, UnknownResource)
    assert len(found.suggestions) == 3
    check(
        text,
        *(f"@a:{uri}" for uri in found.suggestions),
        "lectern.open a memo://plan-2023",
        among=among,
    )
    offered = actions(mention, found, {})
    assert [(one.title, one.fixes) for one in offered if isinstance(one, Replacement)] == [
        (f"Write @a:{uri}", "unknownResource") for uri in found.suggestions
    ]


def test_every_server_that_may_be_meant_is_offered_one_with_the_uri_first_then_the_closest_name() -> None:
    near = (listing("notes-b", ["memo://else"]), listing("notes-cc"), listing("archive", ["memo://plan"]))
    check(
        "@notes-c:memo://plan",
        "@archive:memo://plan",
        "@notes-cc:memo://plan",
        "@notes-b:memo://plan",
        among=near,
    )


def test_an_ambiguous_uri_has_so_many_fixes_as_somebody_reads() -> None:
    crowd = tuple(listing(f"s{number:02}", ["config://app"]) for number in range(MOST_REPLACEMENTS + 3))
    check("@config://app", *(f"@s{n:02}:config://app" for n in range(MOST_REPLACEMENTS)), among=crowd)


def test_each_fix_names_the_diagnostic_that_it_mends() -> None:
    for text, code in (
        ("@a:memo://paln", "unknownResource"),
        ("@aa:memo://plan", "unknownServer"),
        ("@config://app", "ambiguous"),
    ):
        given = fixture(text, A, B)
        (remark,) = diagnostics(given.catalogue, given.mentions, {})
        (mention,) = given.mentions
        found = actions(mention, resolve(given.catalogue, mention), {})
        fixes = [one for one in found if isinstance(one, Replacement)]
        assert {one.fixes for one in fixes} == {remark.code} == {code}
        assert [one.text for one in fixes] == remark.data["suggestions"]


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

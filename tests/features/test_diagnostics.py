"""What is remarked on a document's mentions, and what never is."""

from __future__ import annotations

import time

import pytest
from tests.support.catalogues import big_index, listing
from tests.support.marked import fixture

from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.features.diagnostics import MOST_DIAGNOSTICS, Diagnostic, diagnostics

INSIGHTS = listing("notes", ["memo://insights"], ["echo://{message}"])


def remarks(
    text: str, *listings: ServerListing | ServerIndex, unreadable: dict[tuple[str, str], str] | None = None
) -> list[Diagnostic]:
    given = fixture(text, *listings)
    return diagnostics(given.catalogue, given.mentions, unreadable or {})


def check(
    text: str, code: str, *pieces: str, among: tuple[ServerListing, ...], suggestions: tuple[str, ...]
) -> None:
    """One remark, on exactly the mention, saying all this."""
    given = fixture(text, *among)
    (found,) = diagnostics(given.catalogue, given.mentions, {})
    assert found.code == code
    assert given.text[found.start : found.end] == given.text.split()[1]
    for piece in pieces:
        assert piece in found.message
    assert found.data == {"suggestions": list(suggestions)}


def test_an_unknown_resource() -> None:
    wanted = ("@notes:memo://insights",)
    check(
        "see @notes:memo://insigths now",
        "unknownResource",
        "memo://insights",
        among=(INSIGHTS,),
        suggestions=wanted,
    )
    check("see @notes:other://x now", "unknownResource", "“notes”", among=(INSIGHTS,), suggestions=())


def test_an_unknown_server() -> None:
    wanted = ("@notes:memo://insights",)
    check("see @ntoes:memo://insights now", "unknownServer", "“ntoes”", among=(INSIGHTS,), suggestions=wanted)


@pytest.mark.case("URI-05")
def test_uri_05_an_ambiguous_uri_names_all_its_servers() -> None:
    among = (listing("a", ["config://app"]), listing("b", ["config://app"]))
    wanted = ("@a:config://app", "@b:config://app")
    check("see @config://app now", "ambiguous", "“a”", "“b”", among=among, suggestions=wanted)
    assert remarks("@a:config://app @b:config://app", *among) == []


@pytest.mark.case("URI-05")
def test_uri_05_nothing_is_ambiguous_before_each_of_its_servers_has_listed_something() -> None:
    spoken, remembered = listing("a", ["config://app"]), listing("b", ["config://app"], listed=False)
    assert remarks("see @config://app now", spoken, remembered) == []


@pytest.mark.case("TPL-03")
def test_tpl_03_nothing_before_the_first_listing_and_nothing_on_a_template_match() -> None:
    slow = listing("slow", listed=False)
    assert remarks("@slow:memo://zzz @notes:echo://zzz @echo://zzz", slow, INSIGHTS) == []
    assert [one.code for one in remarks("@slow:memo://zzz", listing("slow"))] == ["unknownResource"]


@pytest.mark.case("URI-05")
@pytest.mark.parametrize(("count", "more"), [(5, ""), (6, ", and 1 more"), (8, ", and 3 more")])
def test_uri_05_a_crowd_of_servers_is_named_in_part(count: int, more: str) -> None:
    crowd = [listing(f"s{number}", ["config://app"]) for number in range(count)]
    (found,) = remarks("@config://app", *crowd)
    names = ", ".join(f"“s{number}”" for number in range(5))
    assert found.message == f"Several servers have this URI: {names}{more}. Name the one that is meant."
    assert found.data == {"suggestions": [f"@s{number}:config://app" for number in range(5)]}


def test_so_many_different_mentions_get_a_suggestion_and_the_same_one_each_time() -> None:
    slips = [f"memo://insight{letter}" for letter in "abcdefghijkl"]
    found = remarks(" ".join(f"@notes:{uri}" for uri in (*slips, slips[0], slips[-1])), INSIGHTS)
    assert [bool(one.data["suggestions"]) for one in found] == [True] * 10 + [False] * 2 + [True, False]
    assert ["Did you mean" in one.message for one in found] == [
        bool(one.data["suggestions"]) for one in found
    ]
    servers = " ".join(f"@note{letter}:memo://insights" for letter in "abcdefghijkl")
    assert [bool(one.data["suggestions"]) for one in remarks(servers, INSIGHTS)] == [True] * 10 + [False] * 2


def test_the_server_and_the_whole_rest_of_what_was_meant_is_suggested() -> None:
    (found,) = remarks("@notse:memo://insights/of/today", INSIGHTS, listing("noses"))
    assert found.message == "No server “notse” is configured. Did you mean “notes” or “noses”?"
    assert found.data == {
        "suggestions": ["@notes:memo://insights/of/today", "@noses:memo://insights/of/today"]
    }


def test_nothing_on_what_a_shortened_list_may_hold() -> None:
    assert remarks("@s:memo://a", ServerListing.of("s", [], partial="Stopped after 10 pages.")) == []


@pytest.mark.case("URI-04")
@pytest.mark.parametrize(
    "prose",
    [
        r"@C:\x and @C:\tmp\a.txt",
        "@decorator @types/node",
        "@alice:example.org",
        "@angular/core:build",
        "mail a@b.example:x://y",
        "@https://example.org",
        "@mailto:a@b.example",
        "@nobody: hello",
    ],
)
def test_uri_04_prose_is_never_a_problem(prose: str) -> None:
    assert remarks(prose, INSIGHTS) == []


@pytest.mark.case("RD-01")
def test_rd_01_a_read_that_was_not_found_is_remarked_on_the_reference() -> None:
    why = {("notes", "memo://insights"): 'notes has no such resource: "gone](command:evil)" (-32002).'}
    (found,) = remarks("see @notes:memo://insights", INSIGHTS, unreadable=why)
    assert (found.code, found.severity, found.start, found.end) == ("unreadable", "information", 4, 26)
    assert "-32002" in found.message
    assert "](" not in found.message
    assert remarks("see @notes:memo://insights", INSIGHTS) == []


@pytest.mark.case("RD-01")
def test_rd_01_a_template_match_that_was_not_found_is_remarked_too() -> None:
    (found,) = remarks("@notes:echo://x", INSIGHTS, unreadable={("notes", "echo://x"): "Not found."})
    assert (found.code, found.message) == ("unreadable", "Not found.")


@pytest.mark.case("LSP-07")
def test_lsp_07_messages_are_single_safe_lines() -> None:
    text = '@"notes:x://a](command:evil)\\n\\u202eb" ' + "@notes:" + "y" * 20_000
    for found in remarks(text, INSIGHTS):
        assert "\n" not in found.message
        assert "](" not in found.message
        assert len(found.message) < 500


def test_a_long_document_is_answered_in_bounded_time() -> None:
    text = " ".join(f"@files:file:///home/user/nowhere-{number}.md" for number in range(3_000))
    given = fixture(text, big_index(100_000))
    begun = time.perf_counter()
    found = diagnostics(given.catalogue, given.mentions, {})
    assert len(found) == MOST_DIAGNOSTICS
    assert time.perf_counter() - begun < 5


@pytest.mark.case("URI-04")
@pytest.mark.parametrize(
    "text",
    [
        "nx run @myorg/app:build:production",
        "@angular/core:build:production",
        "@types/node:fs:promises",
        "@alice:localhost:8448",
        "@fig:plot:sub",
        "@eq:model:linear",
        "https://medium.com/@user:foo:bar",
        "@here:https://zoom.us/j/1",
        "@org/tool:memo://a",
    ],
)
def test_uri_04_what_people_write_without_meaning_a_server_is_no_unknown_one(text: str) -> None:
    assert remarks(f"see {text} now", INSIGHTS) == []


@pytest.mark.case("URI-04")
def test_uri_04_a_name_close_to_a_configured_one_is_a_slip() -> None:
    github = listing("github", ["repo://x", "urn:isbn:1"])
    check(
        "see @gthub:repo://x now",
        "unknownServer",
        "github",
        among=(github,),
        suggestions=("@github:repo://x",),
    )
    assert [one.code for one in remarks("@gthub:urn:isbn:2", github)] == ["unknownServer"]
    assert [one.code for one in remarks("@gthub:https://x.example/y", github)] == ["unknownServer"]
    assert [one.code for one in remarks("@elsewhere:memo://a", github)] == ["unknownServer"]
    assert [one.code for one in remarks('@"elsewhere:urn:isbn:2"', github)] == ["unknownServer"]

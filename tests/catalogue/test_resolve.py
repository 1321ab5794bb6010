"""What a mention means, and what it is taken for where it means nothing."""

from __future__ import annotations

import re
import time

import pytest
from tests.support.catalogues import catalogue, files, listing

from mcp_lectern.catalogue import template_pattern
from mcp_lectern.catalogue.model import Catalogue, ServerListing
from mcp_lectern.catalogue.resolve import (
    Ambiguous,
    Known,
    NotAMention,
    Resolution,
    TemplateMatch,
    UnknownResource,
    UnknownServer,
    Waiting,
    resolve,
)
from mcp_lectern.catalogue.suggest import similar_servers, similar_uris
from mcp_lectern.catalogue.template_pattern import Parts
from mcp_lectern.catalogue.template_plain import plain
from mcp_lectern.mentions.parser import parse


def check(text: str, snapshot: Catalogue) -> Resolution:
    """What the only mention of the text resolves to; NotAMention where there is none."""

    def listed(server: str | None, uri: str) -> bool:
        return (
            snapshot.resource(server, uri) is not None
            if server is not None
            else bool(snapshot.servers_listing(uri))
        )

    mentions = parse(text, snapshot.listings, listed)
    assert len(mentions) <= 1
    return resolve(snapshot, mentions[0]) if mentions else NotAMention()


def known(text: str, snapshot: Catalogue) -> tuple[str, str]:
    found = check(text, snapshot)
    assert isinstance(found, Known), found
    return found.server, found.resource.uri


@pytest.mark.case("URI-04")
def test_uri_04_the_configured_name_before_the_first_colon_is_the_server() -> None:
    windows = "file:///C:/Users/x%20y.txt"
    snapshot = catalogue(
        listing("file", ["memo://a"]), listing("https"), listing("docs", [windows, "memo://a"])
    )
    assert known(f"@docs:{windows}", snapshot) == ("docs", windows)
    assert known("@file:memo://a", snapshot) == ("file", "memo://a")
    assert check(r"see @C:\tmp\a.txt", snapshot) == NotAMention()
    assert check("@memo://a", snapshot) == Ambiguous(("file", "docs"))


@pytest.mark.case("URI-04")
def test_uri_04_a_bare_uri_resolves_where_exactly_one_server_has_it() -> None:
    snapshot = catalogue(listing("file"), listing("docs", ["memo://a", "file://b"]))
    assert known("@memo://a", snapshot) == ("docs", "memo://a")
    assert known("@file://b", snapshot) == ("docs", "file://b")
    assert check("@memo://b", snapshot) == NotAMention()


@pytest.mark.case("URI-05")
def test_uri_05_the_same_uri_is_ambiguous_unless_qualified() -> None:
    snapshot = catalogue(listing("a", ["config://app"]), listing("b", ["config://app"]))
    assert known("@a:config://app", snapshot) == ("a", "config://app")
    assert known("@b:config://app", snapshot) == ("b", "config://app")
    assert check("@config://app", snapshot) == Ambiguous(("a", "b"))


@pytest.mark.case("URI-05")
def test_uri_05_equal_templates_are_ambiguous_too() -> None:
    snapshot = catalogue(listing("a", [], ["echo://{x}"]), listing("b", [], ["echo://{x}"]))
    assert check("@echo://1", snapshot) == Ambiguous(("a", "b"))
    found = check("@b:echo://1", snapshot)
    assert isinstance(found, TemplateMatch)
    assert (found.server, found.arguments) == ("b", {"x": "1"})


@pytest.mark.case("URI-06")
def test_uri_06_names_that_join_to_the_same_text_stay_apart() -> None:
    snapshot = catalogue(listing("a", ["b:c://x"]), listing("a:b", ["c://x"]))
    assert known("@a:b:c://x", snapshot) == ("a", "b:c://x")
    assert known(r'@"a\:b:c://x"', snapshot) == ("a:b", "c://x")


@pytest.mark.case("TPL-03")
def test_tpl_03_a_listed_uri_beats_templates_and_a_match_is_not_unknown() -> None:
    snapshot = catalogue(listing("s", ["echo://test"], ["broken://{", "echo://{message}", "echo://{input}"]))
    assert known("@s:echo://test", snapshot) == ("s", "echo://test")
    found = check("@s:echo://zzz", snapshot)
    assert isinstance(found, TemplateMatch)
    assert found.template.uri_template == "echo://{message}"
    assert isinstance(check("@s:other://zzz", snapshot), UnknownResource)


@pytest.mark.case("TPL-03")
def test_tpl_03_no_opinion_before_the_first_listing() -> None:
    snapshot = catalogue(listing("slow", listed=False), listing("quick"))
    assert check("@slow:memo://zzz", snapshot) == Waiting("slow")
    assert isinstance(check("@quick:memo://zzz", snapshot), UnknownResource)
    assert check("@memo://zzz", snapshot) == Waiting(None)


def test_no_opinion_on_what_a_shortened_list_lacks() -> None:
    snapshot = catalogue(ServerListing.of("s", [], partial="Stopped after 10 pages."))
    assert check("@s:memo://a", snapshot) == Waiting("s")


@pytest.mark.case("LST-05")
def test_lst_05_braces_in_a_listed_uri_are_letters() -> None:
    snapshot = catalogue(listing("s", ["issue://{id}"], ["fixed://x"]))
    assert known("@s:issue://{id}", snapshot) == ("s", "issue://{id}")
    assert isinstance(check("@s:fixed://x", snapshot), TemplateMatch)
    assert isinstance(check("@s:issue://1", snapshot), UnknownResource)


@pytest.mark.parametrize(
    "prose",
    [
        r"@C:\x",
        "@decorator",
        "@types/node",
        "@alice:example.org",
        "@angular/core:build",
        "a@b.example",
        "@nobody:x",
    ],
)
def test_prose_is_no_mention(prose: str) -> None:
    greedy = catalogue(listing("s", ["memo://a"], ["{+anything}"]))
    assert check(prose, greedy) == NotAMention()


def test_a_server_that_is_not_configured() -> None:
    snapshot = catalogue(listing("docs", ["memo://a"]), listing("logs"), listing("slow", listed=False))
    assert check("@dosc:memo://b", snapshot) == UnknownServer("dosc", "memo://b", ("docs",))
    assert check("@elsewhere:memo://a", snapshot) == UnknownServer("elsewhere", "memo://a", ("docs",))


def test_what_may_be_a_uri_of_a_server_that_has_not_spoken_is_no_unknown_server() -> None:
    snapshot = catalogue(listing("a"), listing("slow", listed=False))
    assert check("@urn:isbn:1", snapshot) == Waiting(None)
    heard = snapshot.with_listing(listing("slow", ["urn:isbn:1"]))
    assert known("@urn:isbn:1", heard) == ("slow", "urn:isbn:1")
    assert check("@urn:isbn:2", heard) == NotAMention()


@pytest.mark.parametrize(
    ("wrong", "suggestion"),
    [
        ("memo://insigths", "memo://insights"),
        ("memo://insight", "memo://insights"),
        ("MEMO://Insights", "memo://insights"),
        ("file:///old/place/keys.md", "file:///home/keys.md"),
        ("nothing://alike", None),
        ("", None),
    ],
)
def test_did_you_mean(wrong: str, suggestion: str | None) -> None:
    found = similar_uris(listing("s", ["memo://insights", "file:///home/keys.md", "x://y"]), wrong)
    assert found[:1] == ((suggestion,) if suggestion else ())


def test_server_names_are_suggested_whatever_their_case() -> None:
    listings = catalogue(listing("Docs"), listing("logs"), listing("")).listings
    assert similar_servers(listings, "docs", "x://1") == ("Docs",)
    assert similar_servers(listings, "d" * 100_000, "x://1") == ()


def test_a_slip_is_found_among_100000_in_bounded_time() -> None:
    big = ServerListing.of("s", files(100_000))
    wanted = big.resources[-1].uri
    begun = time.perf_counter()
    found = similar_uris(big, wanted.replace(".md", ".dm"))
    taken = time.perf_counter() - begun
    assert found[0] == wanted
    assert taken < 1
    long = "x" * 100_000
    assert similar_uris(big, long) == ()


def test_did_you_mean_compares_the_scheme_and_what_follows_it_by_themselves() -> None:
    short = listing("s", ["memo://0", "memo://1", "memo://insights"], ["echo://{message}"])
    assert similar_uris(short, "memo://zzz") == ()
    assert similar_uris(short, "memo://9") == ()
    assert similar_uris(short, "ehco://zz") == ("echo://zz",)


@pytest.mark.case("TPL-03")
def test_tpl_03_a_uri_that_takes_too_long_to_compare_is_not_unknown() -> None:
    hostile = "{+a}{+b}{+a}{+b}{+c}{+a}"
    snapshot = catalogue(
        listing("s", ["memo://a"], [f"long:{hostile}", "memo://{a}"]), listing("t", ["m://a"])
    )
    uri = "long:" + "ab,cd," * 100
    assert check(f"@s:{uri}x", snapshot) == Waiting("s", undecided=True)
    assert check(f"@{uri}x", snapshot) == Waiting(None, undecided=True)
    assert isinstance(check("@s:memo://b", snapshot), TemplateMatch)
    assert isinstance(check("@s:other://b", snapshot), UnknownResource)


def test_all_templates_of_a_server_share_what_is_spent_on_one_uri() -> None:
    hostile = [f"long:{{+a}}{{+b}}{{+a}}{{+b}}{{+c{n}}}{{+a}}" for n in range(200)]
    snapshot = catalogue(listing("s", ["memo://a"], hostile))
    begun = time.process_time()
    assert check("@s:long:" + "ab,cd," * 100 + "x", snapshot) == Waiting("s", undecided=True)
    assert time.process_time() - begun < 1


def test_many_templates_that_share_their_beginning_are_told_apart_at_a_glance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An expression was made for each, which held everything for a second."""
    made: list[object] = []

    def counted(parts: Parts) -> re.Pattern[str] | None:
        made.append(parts)
        return plain(parts)

    monkeypatch.setattr(template_pattern, "plain", counted)
    templates = [f"glance://{{owner}}/folder-{number}/{{path}}" for number in range(500)]
    snapshot = catalogue(listing("s", [], templates))
    assert isinstance(check("@s:glance://me/nowhere/x", snapshot), UnknownResource)
    assert made == []
    found = check("@s:glance://me/folder-7/x", snapshot)
    assert isinstance(found, TemplateMatch)
    assert found.arguments == {"owner": "me", "path": "x"}
    assert len(made) == 1


def test_of_very_many_templates_the_first_are_tried_and_nothing_is_said_of_the_others() -> None:
    """To take all apart held everything for a second for each mention."""
    snapshot = catalogue(
        listing("s", [], [f"many://{{owner}}/folder-{number}/{{path}}" for number in range(5_000)])
    )
    assert isinstance(check("@s:many://me/folder-7/x", snapshot), TemplateMatch)
    assert check("@s:many://me/folder-4999/x", snapshot) == Waiting("s", undecided=True)
    assert check("@s:many://me/nowhere/x", snapshot) == Waiting("s", undecided=True)

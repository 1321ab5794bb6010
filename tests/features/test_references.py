"""The mentions of the resource at the cursor, in whatever form each is written."""

from __future__ import annotations

import pytest
from tests.support.catalogues import listing
from tests.support.marked import fixture

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.resolutions import Resolutions
from mcp_lectern.features.references import may_mention, mentions_of, named

A = listing("a", ["memo://1", "memo://1b", "config://app", 'x:q"uote'], ["echo://{x}"])
B = listing("b", ["config://app"])
SLOW = listing("slow", listed=False)


def check(marked: str, *expected: str, among: tuple[ServerListing, ...] = (A, B, SLOW)) -> None:
    """The texts of all mentions of what the one at the cursor names."""
    given = fixture(marked, *among)
    resolutions = Resolutions(given.catalogue)
    at = next(one for one in given.mentions if one.start <= given.offset <= one.end)
    wanted = named(resolutions, at)
    found = [] if wanted is None else [m for m in mentions_of(resolutions, wanted, given.mentions) if m]
    assert [given.text[one.start : one.end] for one in found] == list(expected)
    for one in found:
        assert wanted is not None
        assert may_mention(given.text[one.start : one.end], wanted)


def test_every_form_of_the_same_resource_and_no_other() -> None:
    check(
        '$0@a:memo://1 @memo://1. @"a:memo://1" @a:memo://1b @b:memo://1',
        *("@a:memo://1", "@memo://1", '@"a:memo://1"'),
    )
    check(r'@"a:x:q\"uo$0te" @"a:x\:q\"uote"', r'@"a:x:q\"uote"', r'@"a:x\:q\"uote"')


def test_what_is_not_listed_has_references_too() -> None:
    check("@a:memo$0://9 @a:memo://9", "@a:memo://9", "@a:memo://9")
    check("@slow:memo$0://9 @a:memo://9", "@slow:memo://9")
    check("@a:echo$0://x @echo://x", "@a:echo://x", "@echo://x")
    check("@nosuch:memo$0://1 @nosuch:memo://1", "@nosuch:memo://1", "@nosuch:memo://1")


def test_what_may_be_prose_as_long_as_a_server_has_not_listed_has_none() -> None:
    check("@memo$0://9 @memo://9")
    check("@memo$0://9 @memo://9", among=(A, B))


@pytest.mark.parametrize("text", ["", "memo://1", "C:\\a and @bob", '@"quoted" words', "@a:memo://2"])
def test_a_text_that_cannot_hold_a_mention_is_not_read(text: str) -> None:
    assert not may_mention(text, ("a", "memo://1"))


@pytest.mark.case("URI-05")
def test_uri_05_two_servers_with_one_uri_are_two_resources() -> None:
    check("@a:config$0://app @b:config://app @config://app", "@a:config://app")
    check("@config$0://app @config://app @a:config://app")

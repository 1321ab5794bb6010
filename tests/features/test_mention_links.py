"""Where mentions lead, and where they do not."""

from __future__ import annotations

import pytest
from tests.support.catalogues import listing
from tests.support.marked import fixture

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.features.definition import target
from mcp_lectern.features.links import links

A = listing("a", ["memo://1", "config://app"], ["echo://{x}"])
B = listing("b", ["config://app"])
SLOW = listing("slow", listed=False)


def check(
    text: str, *expected: tuple[str, str, str], among: tuple[ServerListing, ...] = (A, B, SLOW)
) -> None:
    """Each link as the text it covers, its server and its URI."""
    given = fixture(text, *among)
    found = [link for link in links(given.catalogue, given.mentions) if link]
    assert [(given.text[link.start : link.end], link.server, link.uri) for link in found] == list(expected)


def test_mentions_lead_to_their_resource() -> None:
    check("see @a:memo://1, or @memo://1.", ("@a:memo://1", "a", "memo://1"), ("@memo://1", "a", "memo://1"))
    check('see @"a:memo://1"', ('@"a:memo://1"', "a", "memo://1"))


def test_a_qualified_mention_leads_to_what_is_not_listed() -> None:
    check("@a:echo://x", ("@a:echo://x", "a", "echo://x"))
    check("@a:memo://2", ("@a:memo://2", "a", "memo://2"))
    check("@slow:memo://2", ("@slow:memo://2", "slow", "memo://2"))


@pytest.mark.case("URI-05")
def test_uri_05_an_ambiguous_mention_leads_nowhere() -> None:
    check("@config://app and @b:config://app", ("@b:config://app", "b", "config://app"))


def test_unknown_servers_and_prose_lead_nowhere() -> None:
    check(r"@nosuch:memo://1 @C:\x @https://example.org @decorator")


def test_the_definition_is_the_links_target() -> None:
    given = fixture("@a:memo://1 @nosuch:memo://1", A)
    aims = [target(given.catalogue, mention) for mention in given.mentions]
    assert [(aim.server, aim.uri) if aim else None for aim in aims] == [("a", "memo://1"), None]

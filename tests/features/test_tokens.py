"""What the parts of mentions are for highlighting, written under the text that they belong to."""

from __future__ import annotations

import pytest
from tests.support.catalogues import listing
from tests.support.marked import fixture

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.resolutions import Resolutions
from mcp_lectern.features.tokens import tokens

A = listing("a", ["memo://1", "config://app"], ["echo://{x}"])
B = listing("b", ["config://app"])
SLOW = listing("slow", listed=False)
MARKS = {("namespace", False): "n", ("namespace", True): "N", ("string", False): "s", ("string", True): "S"}


def check(text: str, marks: str, *among: ServerListing) -> None:
    """Under each character the token it belongs to: server ``n``, URI ``s``; capitals are unresolved."""
    given = fixture(text, *among)
    drawn = [" "] * len(given.text)
    for token in tokens(Resolutions(given.catalogue), given.mentions):
        if token is not None:
            drawn[token.start : token.end] = MARKS[token.kind, token.unresolved] * (token.end - token.start)
    assert "".join(drawn).rstrip() == marks


def test_server_and_uri() -> None:
    check("see @a:memo://1, ok", "     n ssssssss", A)
    check('see @"a:memo://1"', "      n ssssssss", A)
    check("see @memo://1.", "     ssssssss", A)
    check("see @a:echo://x", "     n ssssssss", A)


def test_what_leads_nowhere_is_unresolved() -> None:
    check("@a:memo://2", " n SSSSSSSS", A)
    check("@nosuch:memo://1", " NNNNNN SSSSSSSS", A)


@pytest.mark.case("URI-05")
def test_uri_05_an_ambiguous_uri_is_unresolved() -> None:
    check("@config://app @b:config://app", " SSSSSSSSSSSS  n ssssssssssss", A, B)


@pytest.mark.case("TPL-03")
def test_tpl_03_nothing_is_unresolved_before_the_server_has_listed() -> None:
    check("@slow:memo://9", " ssss".replace("ssss", "nnnn") + " ssssssss", SLOW)
    check("@memo://9 and @memo://1", "               ssssssss", A, SLOW)


@pytest.mark.case("URI-04")
def test_uri_04_prose_has_no_tokens() -> None:
    check(r"@C:\x @decorator @types/node @alice:example.org @https://example.org", "", A)

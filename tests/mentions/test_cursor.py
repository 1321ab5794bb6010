"""The half-typed mention at the cursor: ``|`` marks the cursor, ``covers`` is what an edit replaces."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.mentions.cursor import at
from mcp_lectern.mentions.model import HalfTyped
from mcp_lectern.mentions.printer import write

SERVERS = ("docs", "file", "a:b", "Slack Local", "@scope/pkg")


def half_typed(marked: str) -> HalfTyped | None:
    offset = marked.index("|")
    return at(marked.replace("|", "", 1), offset, SERVERS)


@pytest.mark.parametrize(
    ("marked", "query", "server", "rest", "covers"),
    [
        ("@|", "", None, "", "@"),
        ("see @re|", "re", None, "re", "@re"),
        ("(foo @bar|)", "bar", None, "bar", "@bar"),
        ("@docs|", "docs", None, "docs", "@docs"),
        ("@docs:memo://日|本 x", "docs:memo://日", "docs", "memo://日", "@docs:memo://日本"),
        ("@docs:|", "docs:", "docs", "", "@docs:"),
        ("@docs:me|", "docs:me", "docs", "me", "@docs:me"),
        ("@docs:memo://aa-149|", "docs:memo://aa-149", "docs", "memo://aa-149", "@docs:memo://aa-149"),
        ("@docs:me|mo://a.", "docs:me", "docs", "me", "@docs:memo://a"),
        ("(@docs:me|mo://a) x", "docs:me", "docs", "me", "@docs:memo://a"),
        ("@do|cs:memo://a", "do", None, "do", "@docs:memo://a"),
        ("@memo://|x", "memo://", None, "memo://", "@memo://x"),
        ("@file://|", "file://", None, "file://", "@file://"),
        ("@file:memo|", "file:memo", "file", "memo", "@file:memo"),
        ("@re|ading on", "re", None, "re", "@re"),
        ("見@|的文档", "", None, "", "@"),
        ("@docs:|的文档", "docs:", "docs", "", "@docs:"),
        ("見@docs:日|", "docs:日", "docs", "日", "@docs:日"),
        ("(@bob,@do|", "do", None, "do", "@do"),
        ("@bob:@docs:x|", "docs:x", "docs", "x", "@docs:x"),
        (
            "@docs:npm://@types/no|",
            "docs:npm://@types/no",
            "docs",
            "npm://@types/no",
            "@docs:npm://@types/no",
        ),
        ("@@sco|", "@sco", None, "@sco", "@@sco"),
        ("@@scope/pkg:me|", "@scope/pkg:me", "@scope/pkg", "me", "@@scope/pkg:me"),
        ("@@dat|", "dat", None, "dat", "@dat"),
        ("one\r@tw|\nthree", "tw", None, "tw", "@tw"),
        ('"@docs:me|"', "docs:me", "docs", "me", "@docs:me"),
        ("'@docs:me|mo://a' x", "docs:me", "docs", "me", "@docs:memo://a"),
        ("'@docs:memo://a'| x", "docs:memo://a'", "docs", "memo://a'", "@docs:memo://a'"),
        ("@docs:me|mo://a's x", "docs:me", "docs", "me", "@docs:memo://a's"),
        ("thanks @bob's| x", "bob's", None, "bob's", "@bob's"),
    ],
)
def test_bare(marked: str, query: str, server: str | None, rest: str, covers: str) -> None:
    found = half_typed(marked)
    assert found is not None
    assert (found.query, found.server, found.rest, found.quoted) == (query, server, rest, False)
    assert marked.replace("|", "", 1)[found.start : found.end] == covers


@pytest.mark.parametrize(
    ("marked", "query", "server", "rest", "covers"),
    [
        ('@"|', "", None, "", '@"'),
        ('@"|"', "", None, "", '@""'),
        ('@"Slack Lo|', "Slack Lo", None, "Slack Lo", '@"Slack Lo'),
        ('@"Slack Lo|" and', "Slack Lo", None, "Slack Lo", '@"Slack Lo"'),
        ('@"Slack Local:memo://a b|', "Slack Local:memo://a b", "Slack Local", "memo://a b", None),
        (r'@"a\:b:c|', "a:b:c", "a:b", "c", r'@"a\:b:c'),
        (r'@"docs:a\"b|', 'docs:a"b', "docs", 'a"b', None),
        ('@"docs:me|mo://a b" x', "docs:me", "docs", "me", '@"docs:memo://a b"'),
        ('@"docs:me| and "quotes" later', "docs:me", "docs", "me", '@"docs:me'),
        ('@"|no "quotes" here', "", None, "", '@"'),
        ('@"docs:x" and @"docs:y|', "docs:y", "docs", "y", '@"docs:y'),
        ('@"docs:me|\nmo"', "docs:me", "docs", "me", '@"docs:me'),
        (r'@"no|te\:memo://a" x', "no", None, "no", r'@"note\:memo://a"'),
        (r'@"no|te, and" x', "no", None, "no", '@"no'),
    ],
)
def test_quoted(marked: str, query: str, server: str | None, rest: str, covers: str | None) -> None:
    found = half_typed(marked)
    assert found is not None
    assert (found.query, found.server, found.rest, found.quoted) == (query, server, rest, True)
    text = marked.replace("|", "", 1)
    assert text[found.start : found.end] == (text if covers is None else covers)


@pytest.mark.parametrize(
    "marked",
    [
        "|@docs",
        "|",
        "a@b|",
        "me@host.example|",
        "@bob |",
        "@docs:memo://a |",
        "@docs:memo://a\n|",
        "@docs\u2003|",
        "`@docs`|",
        "<@docs>|",
        '@"docs:memo://a"|',
        'look for "@" then|',
        "x_@docs|",
        "no mention here|",
    ],
)
def test_outside_a_mention(marked: str) -> None:
    assert half_typed(marked) is None


@given(st.text(st.sampled_from('@"\\: \n\rdocs:a(),.日😀\u2028'), max_size=30), st.data())
def test_the_edit_surrounds_the_cursor_on_its_line(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    found = at(text, offset, SERVERS)
    if found is None:
        return
    assert text[found.start] == "@"
    assert found.start < offset <= found.end
    assert not set("\r\n") & set(text[found.start : found.end])
    assert found.quoted or not any(character.isspace() for character in found.query)


@given(st.sampled_from(SERVERS), st.text(st.characters(exclude_categories=("Cs",)), min_size=1))
def test_an_inserted_mention_is_replaced_as_a_whole_when_it_is_completed_again(server: str, uri: str) -> None:
    mention = write(server, uri)
    quoted = mention.startswith('@"')
    found = at(f"({mention})", 1 + len(mention) - quoted, SERVERS)
    if quoted and uri[0].isspace() and not server:
        return
    assert found is not None
    assert (found.start, found.end, found.server, found.rest) == (1, 1 + len(mention), server, uri)


@pytest.mark.parametrize("piece", ["@", '@"', '"', "@docs:", "a", "\\", "@a,"])
def test_a_hostile_line_costs_little(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    begin = time.process_time()
    for offset in (len(text), len(text) // 2):
        at(text, offset, SERVERS)
    assert time.process_time() - begin < 0.25

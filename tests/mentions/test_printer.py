"""What a completion inserts reads back as exactly what was chosen."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_lectern.mentions.grammar import STOP
from mcp_lectern.mentions.parser import parse
from mcp_lectern.mentions.printer import write

ODD = [
    *(
        "",
        " ",
        '"',
        "\\",
        ":",
        "//",
        "\n",
        "\r",
        "\t",
        "\u2028",
        "\x85",
        "\x00",
        "日本",
        "😀",
        "עברית",
        "<",
        ">",
        "`",
    ),
    *("(", ")", "[", "]", "（", "）", ".", "'", "@", "memo://", "a", "docs", r"\n", r"\:", "C:"),
]
strings = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",))),
    st.lists(st.sampled_from(ODD), max_size=6).map("".join),
)
SURROUNDINGS = [
    *(("", ""), ("see ", " there"), ("(", ")"), ("(", ")."), ("[", "]"), ("**", " **"), ("見", " 。")),
    *(('"', '"'), ("`", "`"), ("<", ">"), ("say: ", "?!"), ("（", "）"), ("'", "',"), ("- ", "\n")),
    *(("x\n", "\r\ny"), ("/", " @bob")),
]


def nothing_listed(_server: str | None, _uri: str) -> bool:
    return False


@pytest.mark.case("URI-06")
@given(strings, strings, st.lists(strings, max_size=3), st.sampled_from(SURROUNDINGS))
@example("", "", [], ("", ""))
@example("a:b", "c://x", ["a"], ("", ""))
@example("a", "b:c://x", ["a:b"], ("", ""))
@example("file", "//x", ["//"], ("", ""))
@example("a", "x(", [], ("(", ")"))
def test_uri_06_every_pair_reads_back_in_any_surroundings(
    server: str, uri: str, others: list[str], around: tuple[str, str]
) -> None:
    before, after = around
    mention = write(server, uri)
    found = parse(f"{before}{mention}{after}", {server, *others}, nothing_listed)
    assert [(each.server, each.uri) for each in found if each.start == len(before)] == [(server, uri)]
    assert found[0].end == len(before) + len(mention)
    assert found[0].quoted is mention.startswith('@"')


@pytest.mark.case("URI-06")
@given(strings, strings, st.text(max_size=5))
def test_uri_06_a_quoted_mention_may_be_followed_by_anything(server: str, uri: str, after: str) -> None:
    mention = write(server, uri)
    found = parse(mention + after, {server}, nothing_listed)
    if mention.startswith('@"'):
        assert (found[0].server, found[0].uri, found[0].end) == (server, uri, len(mention))


@given(strings, strings)
def test_a_mention_is_one_line_and_a_bare_one_holds_no_white_space(server: str, uri: str) -> None:
    mention = write(server, uri)
    assert not set("\r\n\t") & set(mention)
    assert mention.startswith('@"') or not STOP.search(mention)


@pytest.mark.case("URI-06")
def test_uri_06_pairs_with_the_same_joined_key_stay_distinct() -> None:
    assert write("a", "b:c://x") == "@a:b:c://x"
    assert write("a:b", "c://x") == r'@"a\:b:c://x"'


@pytest.mark.parametrize(
    ("server", "uri", "expected"),
    [
        ("docs", "memo://a", "@docs:memo://a"),
        ("docs", "file:///C:/Users/x%20y.txt", "@docs:file:///C:/Users/x%20y.txt"),
        ("docs", "memo://a(b)", "@docs:memo://a(b)"),
        ("docs", "memo://[::1]/x", "@docs:memo://[::1]/x"),
        ("docs", "memo://日本", "@docs:memo://日本"),
        ("bob's", "memo://a", "@bob's:memo://a"),
        ("a.b", "memo://a", "@a.b:memo://a"),
        ("a/b", "memo://a", "@a/b:memo://a"),
        ("日本", "memo://a", "@日本:memo://a"),
        ("Slack Local", "memo://a", '@"Slack Local:memo://a"'),
        ("docs", "memo://a.", '@"docs:memo://a."'),
        ("docs", "memo://a'", '@"docs:memo://a\'"'),
        ("docs", "memo://a's", "@docs:memo://a's"),
        ("docs", "memo://a)", '@"docs:memo://a)"'),
        ("docs", "memo://a(", '@"docs:memo://a("'),
        ("docs", "memo://a b", '@"docs:memo://a b"'),
        ("docs", "//host/a", '@"docs://host/a"'),
        ("docs", 'a"b\\c\n', r'@"docs:a\"b\\c\n"'),
        ("docs", "", '@"docs:"'),
        ("", "memo://a", '@":memo://a"'),
    ],
)
def test_the_bare_form_where_it_is_safe(server: str, uri: str, expected: str) -> None:
    assert write(server, uri) == expected


def test_lone_surrogates_do_no_harm() -> None:
    assert write("\ud800", "\udc00") == "@\ud800:\udc00"

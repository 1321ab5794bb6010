"""What is a mention, what is prose, and what neither may cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Container

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_lectern.mentions.grammar import escape
from mcp_lectern.mentions.model import Mention
from mcp_lectern.mentions.parser import parse

SERVERS = frozenset({"docs", "file", "https", "a", "a:b", "Slack Local", "日本", "@scope/pkg"})


def nothing_listed(_server: str | None, _uri: str) -> bool:
    return False


def listing(*pairs: tuple[str, str]) -> Callable[[str | None, str], bool]:
    return lambda server, uri: any(uri == other and server in {None, name} for name, other in pairs)


def read(
    text: str,
    servers: Container[str] = SERVERS,
    listed: Callable[[str | None, str], bool] = nothing_listed,
) -> list[tuple[str | None, str]]:
    return [(mention.server, mention.uri) for mention in parse(text, servers, listed)]


@pytest.mark.case("URI-04")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@docs:file:///C:/Users/x%20y.txt", [("docs", "file:///C:/Users/x%20y.txt")]),
        ("@file:memo://a", [("file", "memo://a")]),
        (r"@C:\tmp\a.txt", []),
        ("@memo://a", [(None, "memo://a")]),
        ("@https://example.org/x", [(None, "https://example.org/x")]),
        ("@file:///etc/hosts", [(None, "file:///etc/hosts")]),
        ("@https:memo://a", [("https", "memo://a")]),
        ('@"file://etc"', [("file", "//etc")]),
        (r'@"a\:b:c://x"', [("a:b", "c://x")]),
        ("@a:b:c://x", [("a", "b:c://x")]),
    ],
)
def test_uri_04_the_first_colon_ends_a_configured_name(
    text: str, expected: list[tuple[str | None, str]]
) -> None:
    assert read(text) == expected


@pytest.mark.case("URI-04")
def test_uri_04_a_qualified_reading_beats_an_unqualified_one() -> None:
    assert read("@file:memo://a", listed=listing(("docs", "file:memo://a"))) == [("file", "memo://a")]


@pytest.mark.parametrize(
    "text",
    [
        "mail a@b.example, a_@docs:memo://a, 9@docs:memo://a",
        "@bob @types/node @decorator @decorator() @property: @docs @docs: @docs:. @docs:)",
        "at @10:30, @angular/core, cc @all, @ @: @@ @, (@) @\n@",
        '@"docs" @"hello there" @"docs:memo://a',
        "@:memo://a @:docs:memo:",
        '@"docs:memo:\n//a"',
    ],
)
def test_prose_is_no_mention(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "before", ["", "\n", " ", "(", "[", "，", "見", "é", "'", '"', "/", "-", "*", "😀", "@"]
)
def test_a_mention_may_stand_behind_anything_but_an_ascii_word(before: str) -> None:
    (mention,) = parse(f"{before}@docs:memo://a", SERVERS, nothing_listed)
    assert (mention.start, mention.end) == (len(before), len(before) + len("@docs:memo://a"))


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("(see @docs:memo://a)", "memo://a"),
        ("(@docs:memo://a(b))", "memo://a(b)"),
        ("(@docs:memo://a(b)).", "memo://a(b)"),
        ("@docs:memo://a.,;:!?'", "memo://a"),
        ("@docs:memo://a?).", "memo://a"),
        ("[@docs:memo://[::1]/x]", "memo://[::1]/x"),
        ("{@docs:memo://{id}}", "memo://{id}"),
        ("（@docs:memo://a）", "memo://a"),
        ("@docs:memo://a)b(c)", "memo://a)b(c)"),
        ("@docs:memo://a<b", "memo://a"),
        ("`@docs:memo://a`", "memo://a"),
        ("<@docs:memo://a>", "memo://a"),
        ('"@docs:memo://a"', "memo://a"),
        ("[text](@docs:memo://a)", "memo://a"),
        ("@docs:memo://a\u3000b", "memo://a"),
        ("@docs:memo://a\u2028b", "memo://a"),
        ("@docs:memo://日本/😀", "memo://日本/😀"),
        ("@docs:hello", "hello"),
    ],
)
def test_what_surrounds_a_bare_uri(text: str, uri: str) -> None:
    assert read(text) == [("docs", uri)]


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("'@docs:memo://a'", "memo://a"),
        ("('@docs:memo://a')", "memo://a"),
        ("the guests' @docs:memo://a, then", "memo://a"),
        ("@docs:memo://a'", "memo://a"),
        ("@docs:memo://a''", "memo://a"),
        ("@docs:memo://a'.", "memo://a"),
        ("@docs:memo://a.'", "memo://a"),
        ("@docs:memo://a's", "memo://a's"),
        ("@docs:memo://a's'", "memo://a's"),
        ("@docs:memo://a(b)'", "memo://a(b)"),
        ("@docs:memo://a(b)'s", "memo://a(b)'s"),
        ("@docs:memo://o'neill/a", "memo://o'neill/a"),
    ],
)
def test_an_apostrophe_at_the_end_is_prose_and_one_inside_is_the_uris(text: str, uri: str) -> None:
    """Contract 5: only what stands behind all else is prose; the beginning of a word is never a mention."""
    assert read(text) == [("docs", uri)]
    stem = uri.partition("'")[0]
    assert read(text, listed=listing(("docs", stem))) == [("docs", uri)]
    assert read(text, listed=listing(("docs", uri))) == [("docs", uri)]


def test_a_listed_uri_may_end_with_an_apostrophe() -> None:
    assert read("(@docs:memo://a').", listed=listing(("docs", "memo://a'"))) == [("docs", "memo://a'")]
    assert read("@memo://a'?", listed=listing(("docs", "memo://a'"))) == [(None, "memo://a'")]
    assert read("'@memo://a'") == [(None, "memo://a")]


@pytest.mark.parametrize(
    ("text", "listed", "uri"),
    [
        ("@docs:res://doc.", ["res://doc"], "res://doc"),
        ("@docs:res://doc.", ["res://doc."], "res://doc."),
        ("@docs:res://doc?).", ["res://doc?", "res://doc"], "res://doc?"),
        ("@docs:res://doc-old", ["res://doc"], "res://doc-old"),
        ("@docs:res://a(b)", ["res://a(b"], "res://a(b"),
        ("@docs:res://a(b)", ["res://a(b", "res://a(b)"], "res://a(b)"),
        ("(@docs:res://a!)", ["res://a!"], "res://a!"),
        ("@docs:!?", ["!"], "!"),
    ],
)
def test_the_longest_listed_prefix_before_prose_counts(text: str, listed: list[str], uri: str) -> None:
    assert read(text, listed=listing(*(("docs", entry) for entry in listed))) == [("docs", uri)]
    other_server = listing(*(("a", entry) for entry in listed))
    assert read(text, listed=other_server) == read(text)


@pytest.mark.parametrize("uri", ["types/node", "bob", r"C:\tmp\a.txt", "1password", "x", "a-b."])
def test_a_listed_uri_without_a_scheme_is_an_unqualified_mention(uri: str) -> None:
    assert read(f"see @{uri}, ok", listed=listing(("docs", uri))) == [(None, uri)]
    assert read(f'see @"{escape(uri)}"', listed=listing(("docs", uri))) == [(None, uri)]


@pytest.mark.parametrize("uri", ['say "hi"', "tab\there", "back\\slash", "two words", "line\nend"])
def test_a_listed_uri_that_needs_quotes_is_read_without_its_escapes(uri: str) -> None:
    text = f'see @"{escape(uri)}" and more'
    (mention,) = parse(text, SERVERS, listing(("docs", uri)))
    assert (mention.server, mention.uri, mention.claimed, mention.quoted) == (None, uri, None, True)
    assert text[mention.start : mention.end] == f'@"{escape(uri)}"'
    assert text[slice(*mention.uri_span)] == escape(uri)
    assert read(text) == []


def test_of_many_handles_in_one_word_only_some_are_looked_up() -> None:
    asked: list[str] = []

    def listed(_server: str | None, uri: str) -> bool:
        asked.append(uri)
        return False

    assert parse("@-" * 100 + " @b", SERVERS, listed) == []
    assert 2 < len(asked) < 20
    assert asked[-1] == "b"


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("@nosuch:memo://a", "nosuch"),
        ("@nosuch:git+ssh://host/x", "nosuch"),
        ("@no/such:urn:isbn:1", None),
        ("nx run @myorg/app:build:production", None),
        ("https://medium.com/@user:foo:bar", None),
        ('@"no/such:urn:isbn:1"', "no/such"),
        ("@my_server:memo://a", "my_server"),
        ("@日本語:memo://a", "日本語"),
        ("@nosuch:memo:", None),
        ("@nosuch:memo:).", None),
        (r'@"no\:such:memo://a b"', "no:such"),
        ("@alice:example.org", None),
        ("@alice:example.org:8448", None),
        ("@angular/core:build", None),
        ("@memo://a", None),
        (r"@disk:C:\x", None),
        ("@https://nosuch:memo", None),
    ],
)
def test_an_unknown_server_is_claimed_only_before_a_scheme(text: str, claimed: str | None) -> None:
    found = parse(text, SERVERS, nothing_listed)
    assert [mention.claimed for mention in found if mention.claimed] == ([claimed] if claimed else [])
    for mention in found:
        assert mention.server is None
        if mention.claimed_span:
            begin, end = mention.claimed_span
            assert text[end] == ":"
            assert text[begin:end].replace("\\", "") == claimed


@pytest.mark.parametrize(
    ("text", "server", "uri"),
    [
        (r'@"docs:a \"b\" \\ \n\r\t c"', "docs", 'a "b" \\ \n\r\t c'),
        (r'@"Slack Local:memo://a"', "Slack Local", "memo://a"),
        (r'@"docs:C\path"', "docs", r"C\path"),
        ('@"docs:"', "docs", ""),
        ('@"docs:memo://a."', "docs", "memo://a."),
        ('@"日本:x y"', "日本", "x y"),
        ("@@scope/pkg:memo://a", "@scope/pkg", "memo://a"),
    ],
)
def test_quoted_mentions_and_odd_names(text: str, server: str, uri: str) -> None:
    assert read(text + ".") == [(server, uri)]


def test_spans_show_the_parts_as_written() -> None:
    text = r'x @"a\:b:c \"d\"" y @docs:memo://a.'
    quoted, bare = parse(text, SERVERS, nothing_listed)
    assert quoted == Mention("a:b", 'c "d"', 2, 17, True, (9, 16), (4, 8))
    assert text[slice(*bare.server_span or ())] == "docs"
    assert text[slice(*bare.uri_span)] == "memo://a"
    assert text[bare.start : bare.end] == "@docs:memo://a"


def test_only_the_given_part_of_the_text_is_read_and_the_character_before_it_counts() -> None:
    text = "x@docs:memo://a @docs:memo://b @docs:memo://c"
    assert [mention.uri for mention in parse(text, SERVERS, nothing_listed, 1)] == ["memo://b", "memo://c"]
    assert [mention.uri for mention in parse(text, SERVERS, nothing_listed, 16, 29)] == ["memo://"]
    assert parse(text, SERVERS, nothing_listed, 99, 999) == []


def test_neither_tail_nor_name_limits_change_what_people_write() -> None:
    assert read("@docs:memo://a" + "." * 500) == [("docs", "memo://a")]
    assert read("@docs:memo://a" + "." * 500, listed=listing(("docs", "memo://a..."))) == [
        ("docs", "memo://a...")
    ]
    name = "n" * 1024
    assert read(f"@{name}:memo://a", servers=(name,)) == [(name, "memo://a")]
    assert read("@" * 5000 + '@"docs:memo://a"') == [("docs", "memo://a")]
    assert read("@" * 5000 + "@docs:memo://a") == [("docs", "memo://a")]


HOSTILE_PIECES = [
    '@"',
    "@",
    '"',
    "\\",
    ":",
    "//",
    "docs",
    "a",
    "memo",
    " ",
    "\n",
    ")",
    "(",
    ".",
    "<",
    "`",
    "日",
    "\ud800",
    "@docs:x",
]
hostile = st.one_of(st.text(), st.lists(st.sampled_from(HOSTILE_PIECES), max_size=30).map("".join))


@given(hostile, st.booleans())
@example('@"', True)
@example("@docs:", True)
def test_any_text_gives_ordered_spans_that_do_not_overlap(text: str, everything_listed: bool) -> None:
    position = 0
    for mention in parse(text, SERVERS, lambda _server, _uri: everything_listed):
        assert position <= mention.start < mention.end <= len(text)
        assert text[mention.start] == "@"
        assert mention.start < mention.uri_span[0] <= mention.uri_span[1] <= mention.end
        if not mention.quoted:
            assert text[slice(*mention.uri_span)] == mention.uri != ""
        position = mention.end


SIZE = 400_000
WORST = {
    "marks": "@",
    "marks apart": "@ ",
    "quotes": '"',
    "open quotes": '@"',
    "escaped quotes": '@"\\',
    "names": "@x:",
    "claims": "@:",
    "brackets": "@docs:)",
    "nested brackets": "@docs:(",
    "long names": "@" * 1020 + ":",
    "names before one colon": "@-" * 400 + ":memo:" + ")" * 200,
    "long runs": "@" * 900 + ")" * 100 + " ",
}


@pytest.mark.parametrize("piece", WORST.values(), ids=WORST.keys())
def test_hostile_text_costs_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        begin = time.process_time()
        parse(text, SERVERS, nothing_listed)
        return time.process_time() - begin

    # Quadratic time would be a hundredfold here, and minutes rather than seconds.
    assert seconds(SIZE) < 40 * seconds(SIZE // 10) + 0.5


@pytest.mark.parametrize("closing", [")", "(", "(]", "().", "'"])
def test_a_long_run_of_brackets_is_one_look(closing: str) -> None:
    begin = time.process_time()
    parse("@docs:" + closing * SIZE, SERVERS, nothing_listed)
    assert time.process_time() - begin < 5

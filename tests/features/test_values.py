"""Values for a template's variables: what is asked, what is offered, and what the text becomes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.catalogues import listing
from tests.support.marked import fixture

from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.template import Template
from mcp_lectern.features.completion import CompletionAnswer, Kind, Question, complete
from mcp_lectern.mcp.wire.resources import Resource
from mcp_lectern.mentions.parser import parse

HUB = listing("hub", [], ["gh://{owner}/{repo}"])
ODD = ["foo/bar", "x y", "<b>", "$1}"]


def answer(
    marked: str, *among: ServerListing, values: tuple[str, ...] = (), limit: int = 100
) -> CompletionAnswer:
    known = fixture(marked, *(among or (HUB,)))
    found = complete(
        known.text, known.offset, known.catalogue, known.indexes, {}, limit=limit, proposals=lambda _: values
    )
    assert found is not None
    return found


def asked(marked: str, *among: ServerListing) -> list[Question]:
    return list(answer(marked, *among).questions)


def check(
    marked: str, values: str | tuple[str, ...], *expected: str, among: tuple[ServerListing, ...] = ()
) -> None:
    """The text after accepting each of the offered values; ``…`` stands where the list opens again."""
    known = fixture(marked, *(among or (HUB,)))
    found = answer(marked, *among, values=(values,) if isinstance(values, str) else values)
    rows = [row for row in found.items if row.kind is Kind.VALUE]
    texts = [known.text[: found.start] + row.insert_text + known.text[found.end :] for row in rows]
    assert [text + "…" * row.unfinished for text, row in zip(texts, rows, strict=True)] == list(expected)


@pytest.mark.case("CMP-02")
def test_cmp_02_the_question_has_the_template_verbatim_and_decoded_values() -> None:
    assert asked("@hub:gh://$0") == [Question("hub", "gh://{owner}/{repo}", "owner", "")]
    assert asked("@hub:gh://a%2Fb/x%20y$0") == [
        Question("hub", "gh://{owner}/{repo}", "repo", "x y", (("owner", "a/b"),))
    ]
    raw = listing("hub", [], ["file:///my docs/{n:3}"])
    assert asked('@"hub:file:///my docs/a$0', raw) == [Question("hub", "file:///my docs/{n:3}", "n", "a")]
    assert asked("@hub:file:///my%20docs/a$0", raw) == [Question("hub", "file:///my docs/{n:3}", "n", "a")]


@pytest.mark.case("CMP-02")
@pytest.mark.parametrize(
    ("value", "simple", "reserved"),
    [
        ("foo/bar", "foo%2Fbar", "foo/bar"),
        ("x y", "x%20y", "x%20y"),
        ("<b>", "%3Cb%3E", "%3Cb%3E"),
        ("$1}", "%241%7D", "$1%7D"),
        ("a\nb", "a%0Ab", "a%0Ab"),
        ("50%", "50%25", "50%25"),
        ("日", "%E6%97%A5", "%E6%97%A5"),
    ],
)
def test_cmp_02_values_are_encoded_as_their_operator_wants(value: str, simple: str, reserved: str) -> None:
    check("@hub:gh://o/$0", value, f"@hub:gh://o/{simple}")
    check("@s:f:///$0", value, f"@s:f:///{reserved}", among=(listing("s", [], ["f:///{+path}"]),))


def test_a_value_brings_the_next_literal_and_the_list_again() -> None:
    check("see @hub:gh://$0", ("a", "b/c"), "see @hub:gh://a/…", "see @hub:gh://b%2Fc/…")
    check("see @hub:gh://a$0", "ab", "see @hub:gh://ab/…")
    check("@hub:gh://a/$0", "r", "@hub:gh://a/r")
    check("@hub:gh://a/$0 and more", "r", "@hub:gh://a/r and more")
    spaced = listing("my hub", [], ["gh://{owner}/{repo}"])
    check('@"my hub:gh://$0', "a", '@"my hub:gh://a/…', among=(spaced,))
    check('@"my hub:gh://a/$0', "r", '@"my hub:gh://a/r"', among=(spaced,))


@pytest.mark.parametrize(
    ("template", "typed", "value", "expected"),
    [
        ("x:/s{?q,lang}", "x:/s", "1", "x:/s?q=1"),
        ("x:/s{?q,lang}", "x:/s?", "1", "x:/s?q=1"),
        ("x:/s{?q,lang}", "x:/s?q=1&", "de", "x:/s?q=1&lang=de"),
        ("x:/s{?q,lang}", "x:/s?q=1&lang=d", "de", "x:/s?q=1&lang=de"),
        ("x:/s?a=1{&q}", "x:/s?a=1", "2", "x:/s?a=1&q=2"),
        ("m://{lat,long}/z", "m://", "1", "m://1,…"),
        ("m://{lat,long}/z", "m://1,", "2", "m://1,2/z"),
        ("x://{/s*}", "x:///a/", "b", "x:///a/b"),
        ("x://{/a,b}", "x://", "1", "x:///1/…"),
        ("x://{owner}{/repo}", "x://", "o", "x://o/…"),
        ("x://{owner}{?q}", "x://", "o", "x://o"),
        ("x://{v:3}/e", "x://to", "topics", "x://top/e"),
        ("x://{name}.md", "x://a", "ab", "x://ab.md"),
        ("x://{a}/{a}/{b}", "x://", "1", "x://1/1/…"),
        ("x://{a}#{b}", "x://q#", "z", "x://q#z"),
        ("x://p{#b}", "x://p", "z", "x://p#z"),
        ("x://p{;b}", "x://p", "z", "x://p;b=z"),
        ("x://{+a}-{;b}e", "x://", "z", "x://z-…"),
        ("x://p{?a}{&b}", "x://p", "z", "x://p?a=z"),
        ("x://{a}{?a,c}", "x://", "z/é", "x://z%2F%C3%A9?a=z%2F%C3%A9"),
        ("x://{a}{?c,a}{&d}", "x://", "z", "x://z?a=z"),
        ("x://{a}/{b}{#a}", "x://z/", "y", "x://z/y#z"),
        ("x://{a}/{b}{;a*}.txt", "x://z/", "y", "x://z/y;a=z.txt"),
        ("x://{a}{+b}", "x://", "z", "x://z"),
        ("x://{+a}{b}/e", "x://", "z", "x://z…"),
        ("x://h{#a,b}", "x://h#1,", "a/b", "x://h#1,a/b"),
        ("x://h{;a:2,b}", "x://h", "abc", "x://h;a=ab"),
        ("x://h{/s*}{?q}", "x://h/a/b?q=", "1 2", "x://h/a/b?q=1%202"),
        ("x://s?f=1{&q,r}", "x://s?f=1&q=a&", "b&c", "x://s?f=1&q=a&r=b%26c"),
    ],
)
def test_every_operator_goes_on_in_its_own_way(template: str, typed: str, value: str, expected: str) -> None:
    check(f"@s:{typed}$0", value, f"@s:{expected}", among=(listing("s", [], [template]),))


@pytest.mark.case("CMP-02")
@pytest.mark.parametrize(
    ("template", "typed", "argument", "value", "arguments"),
    [
        ("x://{+path}/to/{n}", "x://a/b%20c/to/1", "n", "1", (("path", "a/b c"),)),
        ("x://h{/s*}{?q}", "x://h/a/b%2Fc?q=1", "q", "1", (("s", "a,b/c"),)),
        ("x://h{?m*}{#f}", "x://h?k=1&l=2#z", "f", "z", ()),
        ("x://h{?a,b,c}", "x://h?b=%C3%A9&c=", "c", "", (("b", "é"),)),
        ("x://s?f=1{&q,r}", "x://s?f=1&q=x%26y&r=", "r", "", (("q", "x&y"),)),
        ("x://{v:3}/{w}", "x://top/", "w", "", ()),
        ("x://{v:3}/{w}", "x://to/", "w", "", (("v", "to"),)),
        ("x://{a}/{b}{?a,c}", "x://1/2?a=1&c=", "c", "", (("a", "1"), ("b", "2"))),
        ("x://{a,b}{.c}", "x://1,2.3", "c", "3", (("a", "1"), ("b", "2"))),
        ("x://h{#a,b}", "x://h#1/2,3", "b", "3", (("a", "1/2"),)),
    ],
)
def test_cmp_02_earlier_values_of_every_operator_are_the_context(
    template: str, typed: str, argument: str, value: str, arguments: tuple[tuple[str, str], ...]
) -> None:
    found = asked(f"@s:{typed}$0", listing("s", [], [template]))
    assert found == [Question("s", template, argument, value, arguments)]


@pytest.mark.case("TPL-02")
def test_tpl_02_a_name_that_is_settled_is_not_asked_again() -> None:
    twice = listing("s", [], ["x://{a}/{b}/{a}"])
    assert asked("@s:x://1/2/$0", twice) == []
    check("@s:x://1/2/$0", "other", "@s:x://1/2/1", among=(twice,))


@pytest.mark.case("TPL-03")
def test_tpl_03_several_templates_may_fit_and_a_listed_uri_comes_first() -> None:
    echo = listing("s", [Resource("echo://test", "test")], ["echo://{message}", "echo://{input}"])
    assert [(one.uri_template, one.argument) for one in asked("@s:echo://te$0", echo)] == [
        ("echo://{message}", "message"),
        ("echo://{input}", "input"),
    ]
    rows = answer("@s:echo://te$0", echo, values=("tea",)).items
    assert [(row.kind, row.label) for row in rows] == [
        (Kind.RESOURCE, "test"),
        (Kind.VALUE, "tea"),
        (Kind.VALUE, "tea"),
    ]


@pytest.mark.parametrize(
    "marked",
    [
        "@hub:$0", "@hub:g$0", "@hub:gh:/$0", "@gh$0", "@hub:gh://a/b/c$0", "@hub:gh://a/b?c$0",
        "@hub:GH://$0", "@other:gh://$0",
    ],
)  # fmt: skip
def test_nothing_is_asked_outside_a_variable(marked: str) -> None:
    assert asked(marked, HUB, listing("other")) == []


def test_a_template_that_filters_take_away_is_not_asked_for() -> None:
    known = fixture("@hub:gh://a/$0", HUB)
    offered = {"hub": ServerIndex.of(listing("hub"))}
    found = complete(known.text, known.offset, known.catalogue, offered, {}, limit=9)
    assert found is not None
    assert found.questions == ()


def test_an_unqualified_uri_stands_in_the_templates_of_all_servers() -> None:
    other = listing("other", [], ["gh://{who}/{what}", "{+anything}"])
    found = asked("@gh://a/$0", HUB, other)
    assert [(one.server, one.argument) for one in found] == [("hub", "repo"), ("other", "what")]
    check("@gh://a/$0", "r", "@hub:gh://a/r", "@other:gh://a/r", among=(HUB, other))


def test_a_template_in_which_something_is_typed_is_not_offered_over_it() -> None:
    assert [row.kind for row in answer("@hub:gh://$0").items] == [Kind.TEMPLATE]
    assert answer("@hub:gh://o$0").items == ()
    assert [row.kind for row in answer("@hub:gh://$0", values=("a",)).items] == [Kind.VALUE, Kind.TEMPLATE]


def test_a_flood_of_values_leaves_room_for_the_rest_and_keeps_the_limit() -> None:
    crowd = listing("s", [f"x://v/{n}" for n in range(90)], ["x://v/{a}", "x://v/{b}"])
    rows = answer("@s:x://v/$0", crowd, values=tuple(f"v{n}" for n in range(300)), limit=50).items
    assert len(rows) <= 50
    assert {row.kind for row in rows} == {Kind.RESOURCE, Kind.VALUE, Kind.TEMPLATE}
    for limit in (0, 1, 2, 3):
        assert len(answer("@s:x://v/$0", crowd, values=("a", "b", "c"), limit=limit).items) <= limit


@pytest.mark.case("CMP-01")
def test_cmp_01_odd_values_are_shown_on_one_line_and_an_empty_one_is_none() -> None:
    rows = answer("@hub:gh://o/$0", values=("", "a\nb\u202e", "a\nb\u202e", "x" * 20_000)).items
    assert next(row.label for row in rows if row.kind is Kind.VALUE) == "a b"
    assert all(len(row.label) <= 200 and len(row.filter_text) < 500 for row in rows)
    assert len([row for row in rows if row.kind is Kind.VALUE]) == 2
    (row, *_) = answer("@hub:gh://o/$0", values=("\n\u202e",)).items
    assert (row.label, row.insert_text) == (r"'\n\u202e'", "@hub:gh://o/%0A%E2%80%AE")


TEMPLATES = ["x://{a}/{b}", "x://{+a}", "x://p{/a,b}", "x://p{?a,b}", "x://{a}.{b}", "x://é{a}", "my x:{a}-z"]


@given(
    st.sampled_from(TEMPLATES),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6),
    st.sampled_from(["s", "my s", "a:b"]),
)
def test_whatever_a_server_proposes_reads_back_as_proposed(text: str, value: str, server: str) -> None:
    template = Template.parse(text)
    assert isinstance(template, Template)
    begun = f'@"{server.replace(":", chr(92) + ":")}:{template.start}$0'
    found = answer(begun, listing(server, [], [text]), values=(value,))
    row = next(row for row in found.items if row.kind is Kind.VALUE)
    written = row.insert_text + (
        'z"' if row.unfinished and row.insert_text.startswith('@"') else "z" * row.unfinished
    )
    (mention,) = parse(written, [server], lambda _server, _uri: False)
    assert (mention.server, mention.end) == (server, len(written))
    arguments = template.match(mention.uri)
    assert arguments is not None
    if "%" not in value and "." not in value:
        assert arguments["a"] == value


@given(st.sampled_from(TEMPLATES), st.text("x:/pé?&=ab.-% z", max_size=12))
def test_no_beginning_breaks_it(template: str, typed: str) -> None:
    for one in answer(f'@"s:{typed}$0', listing("s", [], [template]), values=("v",)).questions:
        assert one.uri_template == template


BLOBS = listing("git", [], ["blob://{sha:2}/{sha:4}"])


@pytest.mark.case("CMP-02")
def test_cmp_02_a_value_that_was_cut_is_not_the_whole_one() -> None:
    assert asked("@git:blob://ab/abc$0", BLOBS) == [Question("git", "blob://{sha:2}/{sha:4}", "sha", "abc")]
    assert asked("@git:blob://ab/$0", BLOBS) == [Question("git", "blob://{sha:2}/{sha:4}", "sha", "ab")]
    check("@git:blob://ab/$0", ("abcdef", "bcdefa"), "@git:blob://ab/abcd", among=(BLOBS,))
    check("@git:blob://a$0", "abcdef", "@git:blob://ab/abcd", among=(BLOBS,))


@pytest.mark.case("CMP-02")
def test_cmp_02_nothing_is_asked_where_two_beginnings_contradict() -> None:
    known = fixture("@git:blob://ab/bc$0", BLOBS)
    found = complete(known.text, known.offset, known.catalogue, known.indexes, {}, limit=9)
    assert found is None or not found.questions


@pytest.mark.case("TPL-02")
def test_tpl_02_a_value_longer_than_its_prefix_stands_nowhere() -> None:
    named = listing("git", [], ["x://h{?v:3,w}"])
    assert asked("@git:x://h?v=abc$0", named)
    known = fixture("@git:x://h?v=abcd$0", named)
    found = complete(known.text, known.offset, known.catalogue, known.indexes, {}, limit=9)
    assert found is None or not found.questions


def test_hostile_templates_hold_no_letter_up() -> None:
    hostile = [f"x:{{+a}},{{+b}},{{+a}},{{+b}},{{+c{n}}},{{+a}}|{{v}}" for n in range(300)]
    among = listing("s", [], [*hostile, "y://{a}/{b}"])
    begun = time.process_time()
    assert asked("@s:x:" + "ab,cd," * 100 + "x|z$0", among) == []
    assert time.process_time() - begun < 1
    assert [one.argument for one in asked("@s:y://1/$0", among)] == ["b"]

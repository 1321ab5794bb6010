"""URI templates beyond the RFC's own examples: broken ones, odd ones, and the way back."""

from __future__ import annotations

import time
from collections.abc import Sequence
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.catalogue.template import Template, Unusable
from mcp_lectern.catalogue.template_expand import Value


def usable(text: str) -> Template:
    template = Template.parse(text)
    assert isinstance(template, Template), template
    return template


@pytest.mark.case("TPL-02")
@pytest.mark.parametrize(
    ("text", "arguments", "uri"),
    [
        ("{v:3}", {"v": "topics"}, "top"),
        ("{v:1}", {"v": "é"}, "%C3%A9"),
        ("{/s*}", {"s": ["a", "b"]}, "/a/b"),
        ("{a}/{a}", {"a": "x"}, "x/x"),
        ("{+a}", {"a": "x y%20z %"}, "x%20y%20z%20%25"),
        ("{v}", {"v": "\ud800"}, "%ED%A0%80"),
        ("t://{user-id}/{a.b}", {"user-id": "1", "a.b": "2"}, "t://1/2"),
        ("file:///docs/café/{n}", {"n": "1"}, "file:///docs/café/1"),
        ("{&m*}", {"m": {"a": ""}}, "&a="),
        ("{;m*}", {"m": {"a": ""}}, ";a"),
        ("{m*}", {"m": {"a": ""}}, "a="),
        ("{m}", {"m": {}}, ""),
    ],
)
def test_tpl_02_expansion(text: str, arguments: dict[str, Value], uri: str) -> None:
    assert usable(text).expand(arguments) == uri


@pytest.mark.case("TPL-02")
@pytest.mark.parametrize(
    "text",
    [
        "x://{a",
        "x://{}",
        "x://{a?}",
        "x://{a}}",
        "{v:0}",
        "{v:3*}",
        "{v:10000}",
        "{v:}",
        "{{a}}",
        "{=a}",
        "{|a}",
        "{a,,b}",
        "{a b}",
        "{?}",
        "{é}",
        "{a}" * 101,
        "x" * 8_001,
    ],
)
def test_tpl_02_a_broken_template_is_kept_with_its_reason(text: str) -> None:
    broken = Template.parse(text)
    assert isinstance(broken, Unusable)
    assert broken.text == text
    assert broken.reason.endswith(".")


@pytest.mark.case("TPL-02")
def test_tpl_02_a_repeated_name_is_asked_once() -> None:
    template = usable("x://{b}/{a}{?b,c}")
    assert template.variables == ("b", "a", "c")
    assert template.start == "x://"


@pytest.mark.case("LST-05")
def test_lst_05_a_template_without_variables_is_its_own_uri() -> None:
    template = usable("fixed://x")
    assert (template.variables, template.start, template.expand({})) == ((), "fixed://x", "fixed://x")
    assert template.match("fixed://x") == {}
    assert template.match("fixed://y") is None


@pytest.mark.parametrize(
    ("text", "uri", "arguments"),
    [
        ("echo://{message}", "echo://zzz", {"message": "zzz"}),
        ("echo://{message}", "echo://a%2Fb", {"message": "a/b"}),
        ("echo://{message}", "echo://a/b", None),
        ("echo://{message}", "ECHO://a", None),
        ("gh://{owner}/{repo}", "gh://a%2Fb/c", {"owner": "a/b", "repo": "c"}),
        ("x://{a}-{b}.md", "x://1-2-3.md", {"a": "1", "b": "2-3"}),
        ("x://{a}.md", "x://a.md.md", {"a": "a.md"}),
        ("file:///{+path}/{name}", "file:///a/b/c", {"path": "a/b", "name": "c"}),
        ("x:/{/s*}", "x://a/b", {"s": ["a", "b"]}),
        ("x:{/s}", "x:", {}),
        ("x:{/a,b}", "x:/1/2", {"a": "1", "b": "2"}),
        ("x:/s{?q,lang}", "x:/s?lang=de&q=a%20b", {"lang": "de", "q": "a b"}),
        ("x:/s{?q,lang}", "x:/s?lang", {"lang": ""}),
        ("x:/s{?q,lang}", "x:/s?other=1", None),
        ("x:/s{?q}", "x:/s?q=1&q=2", None),
        ("x:/s{?q*}", "x:/s?q=1&q=2", {"q": ["1", "2"]}),
        ("x:/s{?q}", "x:/s", {}),
        ("x:{a}/{a}", "x:1/1", {"a": "1"}),
        ("x:{a}/{a}", "x:1/2", None),
        ("x:{a:1}/{a}", "x:b/bob", {"a": "bob"}),
        ("x:{a:1}/{a}", "x:c/bob", None),
        ("x:{a:2}", "x:abc", None),
        ("x:{a}", "x:%FF", {"a": "%FF"}),
        ("file:///docs/café/{n}", "file:///docs/caf%C3%A9/1", {"n": "1"}),
        ("file:///my docs/{n}", "file:///my%20docs/1", {"n": "1"}),
        ("file:///café/{n}", "file:///café/1", {"n": "1"}),
        ("x:/s?f=1{&a}{&b}", "x:/s?f=1&a=2", {"a": "2"}),
        ("x:/s?f=1{&a}{&b}", "x:/s?f=1&b=2", {"b": "2"}),
        ("x:/s{?a,b}{?c}", "x:/s?b=1&a=2?c=3", {"b": "1", "a": "2", "c": "3"}),
        ("x:/s{?a}-end", "x:/s?a=1-end", {"a": "1"}),
        ("x:/s{?a,ab}", "x:/s?ab", {"ab": ""}),
        ("x:/s{?m*}", "x:/s?a=1&b=%20", {"m": {"a": "1", "b": " "}}),
        ("x:/s{?q,m*}", "x:/s?q=2&a=1", {"q": "2", "m": {"a": "1"}}),
        ("x:/s{?q,m*}", "x:/s?a=1&q=2", {"m": {"a": "1", "q": "2"}}),
        ("x:/s{?q,m*}", "x:/s?m=1&q=2", {"m": {"m": "1", "q": "2"}}),
        ("x:/s{?q,m*}", "x:/s?m=1&m=3&q=2", {"q": "2", "m": ["1", "3"]}),
        ("x:/s{;m*}", "x:/s;a;b=2", {"m": {"a": "", "b": "2"}}),
        ("{+all}", "anything://at?all#", {"all": "anything://at?all#"}),
    ],
)
def test_the_way_back(text: str, uri: str, arguments: dict[str, str] | None) -> None:
    assert usable(text).match(uri) == arguments


@pytest.mark.case("TPL-02")
@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("file:///docs/café/{n}", "file:///docs/café/é%20x", "file:///docs/caf%C3%A9/é%20x"),
        ("file:///my docs/{n}", "file:///my docs/1", "file:///my%20docs/1"),
        ("x://{a}é{b}", "x://1é2", "x://1%C3%A92"),
    ],
)
def test_tpl_02_literals_have_one_other_spelling(text: str, one: str, other: str) -> None:
    assert usable(text).respelled(one) == other
    assert usable(text).respelled(other) == one


@pytest.mark.parametrize(
    ("text", "uri"),
    [("x://{a}", "x://é"), ("x://{a}", "x://1"), ("é://{a}", "x://1"), ("é{a}/{a}", "é1/2"), ("", "x")],
)
def test_a_uri_without_another_spelling_has_none(text: str, uri: str) -> None:
    assert usable(text).respelled(uri) is None


@given(st.tuples(st.text(max_size=8), st.text(max_size=8)))
def test_what_was_expanded_matches_with_the_same_arguments(values: tuple[str, str]) -> None:
    arguments: dict[str, Sequence[str]] = dict(zip(("a", "b"), values, strict=True))
    for text in ("x://{a}/{b}", "x://p/{a}{?b}", "x://{b}{;a}"):
        assert usable(text).match(usable(text).expand(arguments)) == arguments


@given(st.text("ab{}/?&=*:,+#.;%é ", max_size=20), st.text("ab/?&=,#.;%é", max_size=20))
def test_no_text_breaks_it(text: str, uri: str) -> None:
    template = Template.parse(text)
    if isinstance(template, Template):
        template.match(uri)
        template.expand({"a": uri, "b": [uri, ""]})


def test_matching_is_linear() -> None:
    template = usable("{a}{b}{c}{d}{e}{f}{g}" * 10 + "-")
    begun = time.perf_counter()
    assert template.match("x" * 4_000) is None
    assert usable("{+a}x{+b}x{+c}x{+d}x{+e}y").match("x" * 4_000) is None
    matched = template.match("x" * 3_999 + "-")
    assert matched is None  # seven names, each with ten values that differ
    assert time.perf_counter() - begun < 5


@pytest.mark.case("TPL-02")
@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("blob://{sha:2}/{sha:4}", {"sha": "abcdef"}),
        ("x://{id:2}/{id:4}/{id}", {"id": "abcdef"}),
        ("x://{id:4}/{id:2}", {"id": "abcdef"}),
        ("f://doc{;rev}.txt", {"rev": ""}),
        ("x://h{?q*,a}", {"q": {"a": "2"}, "a": "1"}),
        ("x://h{?a,q*}", {"q": {"a": "2"}, "a": "1"}),
        ("x://{dir}{name:3}", {"dir": "abcd", "name": "abcd"}),
        ("x://{#c*}{a:3}", {"c": ["k", "l"], "a": "abcdef"}),
        ("x://{#e,b:3}", {"e": "k,l", "b": "abcdef"}),
        ("x://{.e,b:3}", {"e": "k.l.m", "b": "abcdef"}),
        ("x://{#a*}{#b}", {"a": ["1", "2"], "b": "3#4"}),
        ("x://{name:1}{name}", {"name": "bob"}),
        ("x://{a}{b:2}/{a}", {"a": "kk", "b": "kkkk"}),
        ("x://{b}{+b*}/x", {}),
        ("x://h{;b,b}", {"b": "~"}),
    ],
)
def test_tpl_02_what_was_expanded_matches_with_arguments_that_make_it_again(
    text: str, arguments: dict[str, Value]
) -> None:
    template = usable(text)
    uri = template.expand(arguments)
    found = template.match(uri)
    assert found is not None
    assert unquote(template.expand(found)) == unquote(uri)


@pytest.mark.case("TPL-02")
def test_tpl_02_a_shorter_prefix_is_the_beginning_of_a_longer_one() -> None:
    template = usable("blob://{sha:2}/{sha:4}")
    assert template.match("blob://ab/abcd") == {"sha": "abcd"}
    assert template.match("blob://ab/bbcd") is None
    assert usable("x://{name:1}{name}").match("x://bbob") == {"name": "bob"}
    assert usable("x://{name:3}/{name}").match("x://to/topics") is None


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("x://{a,b,c,d,e,f,g,h}{a}", "x://" + "a," * 3900),
        ("x://{+a,b,c*,d*,e*}{a}{b}", "x://" + "a," * 3900),
        ("x://{a}{a}{a}{a}", "x://" + "ab" * 3900),
    ],
)
def test_ways_to_read_a_uri_are_not_all_tried(text: str, uri: str) -> None:
    begin = time.process_time()
    usable(text).match(uri)
    assert time.process_time() - begin < 1


NAMES = st.permutations("abcdef")
TEXTS = st.text("ab1.,=&;/?# %é", max_size=5)


@given(NAMES, st.data())
def test_expansions_of_any_template_without_repeated_names_match_and_come_out_the_same(
    names: list[str], data: st.DataObject
) -> None:
    text, arguments = "s://h", {}
    while names and data.draw(st.booleans()):
        taken = [names.pop() for _ in range(min(len(names), data.draw(st.integers(1, 2))))]
        text += "{" + data.draw(st.sampled_from(["", *"+#./;?&"]))
        text += ",".join(name + data.draw(st.sampled_from(["", ":3"])) for name in taken) + "}"
        text += data.draw(st.sampled_from(["", "/x", ".txt", "-"]))
        arguments |= {name: data.draw(TEXTS) for name in taken}
    template = usable(text)
    uri = template.expand(arguments)
    found = template.match(uri)
    assert found is not None, (text, arguments, uri)
    again = template.expand(found)
    assert sorted(unquote(unquote(again))) == sorted(unquote(unquote(uri)))

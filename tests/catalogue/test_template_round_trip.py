"""Whatever a template makes of any arguments is read back as arguments that make it again."""

from __future__ import annotations

import time

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from mcp_lectern.catalogue.template import Template
from mcp_lectern.catalogue.template_expand import Value
from mcp_lectern.catalogue.template_values import MOST_STEPS, Work

ODD = [
    *(
        "",
        " ",
        "a",
        "bc",
        "%",
        "%2",
        "%20",
        "%41",
        "%2541",
        "50%",
        "é",
        "日本",
        "😀",
        "\ud800",
        "\x00",
        "{x}",
    ),
    *("/", "a/b", "?", "#", "a,b", ",", "=", "a=b", "k=", "&", ";", ".", "..", "~"),
]
TEXTS = st.sampled_from(ODD) | st.text(max_size=4)
VALUES = (
    TEXTS
    | st.lists(TEXTS, max_size=3)
    | st.dictionaries(st.sampled_from(["k", "a", "b", "é", "a.b", "a,b", "a=b", ""]), TEXTS, max_size=2)
)
OPERATORS = ["", *"+#./;?&"]
MODIFIERS = ["", "", "*", ":1", ":3"]
LITERALS = ["", "", "/", "/x", ".txt", "-", "é", ",", "=", "&a=", "a"]


def usable(text: str) -> Template:
    template = Template.parse(text)
    assert isinstance(template, Template), template
    return template


@st.composite
def expansions(draw: st.DrawFn, *, repeated: bool) -> tuple[str, dict[str, Value]]:
    """A template, its variables named once or several times, and arguments for it."""
    names = list("abcdef")
    arguments: dict[str, Value] = {}
    text = "s://h"
    for _ in range(draw(st.integers(1, 3))):
        variables = []
        for _ in range(draw(st.integers(1, 3))):
            name = draw(st.sampled_from("abc")) if repeated else names.pop(0) if names else None
            if name is not None:
                value = arguments.setdefault(name, draw(VALUES))
                # The RFC leaves open what the prefix of a list is.
                modifiers = MODIFIERS if isinstance(value, str) else ["", "*"]
                variables.append(name + draw(st.sampled_from(modifiers)))
        if variables:
            text += "{" + draw(st.sampled_from(OPERATORS)) + ",".join(variables) + "}"
        text += draw(st.sampled_from(LITERALS))
    for name in list(arguments):
        if draw(st.integers(0, 5)) == 0:
            del arguments[name]
    return text, arguments


def check(text: str, arguments: dict[str, Value], work: Work) -> None:
    template = usable(text)
    uri = template.expand(arguments)
    found = template.match(uri, work)
    if found is None:
        assert work.cut_short, (text, arguments, uri)
    else:
        assert template.expand(found) == uri, (text, arguments, uri, found)


@pytest.mark.case("TPL-02")
@given(expansions(repeated=False))
@settings(max_examples=400, deadline=None)
def test_tpl_02_an_expansion_is_matched_by_arguments_that_make_it_again(
    expansion: tuple[str, dict[str, Value]],
) -> None:
    work = Work()
    check(*expansion, work)
    assert not work.cut_short, expansion


@pytest.mark.case("TPL-02")
@given(expansions(repeated=True))
@settings(max_examples=400, deadline=None)
def test_tpl_02_so_is_that_of_a_template_which_names_variables_several_times(
    expansion: tuple[str, dict[str, Value]],
) -> None:
    work = Work(10 * MOST_STEPS)
    check(*expansion, work)
    event("given up" if work.cut_short else "read")


@pytest.mark.case("TPL-02")
@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("s://h{e,e*}", {"e": "}"}),
        ("s://h{?b,b*}", {"b": ""}),
        ("s://h{/b*,b}", {"b": ""}),
        ("s://h{#a,a*}/", {"a": ""}),
        ("s://h{a}{?a*}", {"a": ["x", "y"]}),
        ("s://h{a}{?a*}", {"a": {"x": "1", "y": "2"}}),
        ("s://h{?a}{&a*}", {"a": {"x": "1", "y": ""}}),
        ("s://h{?a*,b*}", {"a": {"k": "1"}, "b": {"k": "2"}}),
        ("s://h{;a*,b*}", {"a": {"k": "", "l": ""}, "b": {"k": "2"}}),
        ("s://h{.a*,b*}", {"a": {"k.l": "1.2"}, "b": {"k": "2"}}),
        ("s://h{.a*}", {"a": {"a": "1", "b.a": "2"}}),
        ("s://h{+a}/{a}", {"a": " %20"}),
        ("s://h{a}/{+a}", {"a": " %20"}),
        ("s://h{+a:1}/{a}", {"a": "é%"}),
        ("s://h{a}{+a*}", {"a": ["x,y", "z"]}),
        ("s://h{a}{+a*}", {"a": {"x,y": "=", "z=": "1"}}),
        ("s://h{a}/{b}/{a}", {"b": "1"}),
        ("s://h{+a}", {"a": "%2541 %zz"}),
        ("s://h{a}", {"a": "\ud800"}),
    ],
)
def test_tpl_02_expansions_that_were_unknown_once(text: str, arguments: dict[str, Value]) -> None:
    work = Work()
    check(text, arguments, work)
    assert not work.cut_short


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("s://{a}/{a}", "s://1/2"),
        ("s://{a}/{+a}", "s://1%2F2/1%2F2"),
        ("s://{a}{?a}", "s://1"),
        ("s://{a}{?a*}", "s://1,2?a=1&a=3"),
        ("s://{a:2}/{a:4}", "s://ab/abc/"),
        ("s://{a:2}/{a:4}", "s://a/ab"),
        ("s://{?a*,b*}", "s://?k=1&k=2&k=3"),
        ("s://{?a,a}", "s://?a=1&a=2"),
        ("s://{a*}", "s://k=1,l"),
    ],
)
def test_what_no_arguments_make_is_not_matched(text: str, uri: str) -> None:
    work = Work()
    found = usable(text).match(uri, work)
    assert found is None or usable(text).expand(found) != uri
    assert not work.cut_short


HOSTILE = [
    ("{a}{b}{c}{d}{e}" * 20, "x" * 10_000),
    ("".join(f"{{v{n}}}" for n in range(100)), "x," * 5_000),
    ("".join(f"{{+v{n}}}" for n in range(99)) + "-", "x%20" * 2_500),
    ("{+a}{+b}{+a}{+b}{+c}{+a}", "ab," * 3_300),
    ("{.a*,b*,c*,a,b,c}", ".a=b.c" * 1_600),
    ("{?a*,b*,c*,d*}{&a*,b*}", "?" + "&".join(f"k{n % 7}={n}" for n in range(1_500))),
    ("{" + ",".join(f"v{n}" for n in range(1_500)) + "}", "1," * 5_000),
    ("{+" + ",".join(f"v{n % 500}*" for n in range(1_000)) + "}", "a=1," * 2_500),
    ("{a:9}" * 100, "%C3%A9" * 1_600),
    ("{+a}" + "x{b}" * 99, "x" * 9_999 + "y"),
    ("{+m*}{#m*}", "%20=," * 2_000 + "#" + "%20=," * 1_900),
]


@pytest.mark.parametrize(("text", "uri"), HOSTILE)
def test_hostile_templates_are_given_up_in_time(text: str, uri: str) -> None:
    template = usable(text)
    work = Work()
    begun = time.process_time()
    found = template.match(uri, work)
    assert time.process_time() - begun < 1
    assert work.spent < 3 * MOST_STEPS
    assert found is None or template.expand(found)

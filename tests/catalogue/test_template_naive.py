"""The way back against one that tries all arguments, on alphabets so small that this can be done."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import product
from urllib.parse import unquote

import pytest

from mcp_lectern.catalogue.template import Template
from mcp_lectern.catalogue.template_expand import Value
from mcp_lectern.catalogue.template_values import MOST_STEPS, Work

LONGEST = 6
"""Characters of the URIs that are compared; arguments are tried that make as many, or fewer."""
TEXTS = ["", "a", "b", "aa", "ab", "ba", "bb", "a,", ",", "=", ".", "a."]
VALUES: list[Value | None] = [
    None,
    *TEXTS,
    *([one, other] for one, other in product(["", "a", "b", ","], repeat=2)),
    *({name: member} for name, member in product(["", "a", "b"], repeat=2)),
    *({"a": one, "b": other} for one, other in product(["", "a", "b"], repeat=2)),
]
TEMPLATES = [
    "{a}", "{a}{b}", "{a}a{b}", "{a}{a}", "{a}b{a}", "{a,b}", "{a*}", "{a*,b}", "{a,a*}", "{a:1}{a}",
    "{+a}", "{+a,b}", "{+a}{a}", "{+a*}", "{#a}", "{#a,b}", "{a}{#a}", "{.a}", "{.a,b}", "{.a*}", "{.a,a}",
    "{/a}", "{/a,b}", "{/a*}", "{/a}{a}", "{/a*}{/b}", "{;a}", "{;a,b}", "{;a*}", "{;a}{;b}",
    "{?a}", "{?a,b}", "{?a*}", "{?a}{&b}", "{&a*,b*}", "{a}{?a}", "b{a}", "{a}b",
]  # fmt: skip


@cache
def made(text: str) -> dict[str, tuple[dict[str, Value], ...]]:
    """All URIs that the arguments above make of a template, with the arguments that make each."""
    template = Template.parse(text)
    assert isinstance(template, Template)
    found: dict[str, list[dict[str, Value]]] = {}
    for values in product(VALUES, repeat=len(template.variables)):
        pairs = zip(template.variables, values, strict=True)
        arguments = {name: value for name, value in pairs if value is not None}
        if ":" in text and any(not isinstance(value, str) for value in arguments.values()):
            continue
        found.setdefault(template.expand(arguments), []).append(arguments)
    return {uri: tuple(ways) for uri, ways in found.items()}


def near(uris: list[str], chance: random.Random) -> Iterator[str]:
    """Each URI and what one slip of a pen makes of it."""
    for uri in uris:
        yield uri
        at = chance.randrange(len(uri) + 1)
        letter = chance.choice("ab,=./;?&#%")
        yield uri[:at] + letter + uri[at:]
        yield uri[:at] + uri[at + 1 :]
        yield uri[:at] + letter + uri[at + 1 :]


def letters(uri: str) -> list[str]:
    # A triplet that is broken off is a percent sign, and goes out as one.
    return sorted(unquote(uri.replace("%25", "%")).replace("=", ""))


@pytest.mark.case("TPL-02")
@pytest.mark.parametrize("text", TEMPLATES)
def test_tpl_02_what_all_arguments_make_is_matched_and_nothing_is_found_that_does_not_make_it(
    text: str,
) -> None:
    template = Template.parse(text)
    assert isinstance(template, Template)
    short = [uri for uri in made(text) if len(uri) <= LONGEST]
    compared = 0
    for uri in near(short, random.Random(len(text))):
        work = Work(10 * MOST_STEPS)
        found = template.match(uri, work)
        assert not work.cut_short, (text, uri)
        exact = found is not None and template.expand(found) == uri
        if uri in made(text):
            assert exact, (text, uri, found, made(text)[uri][:3])
        elif found is not None:
            # What is encoded, the order of names and the sign behind an empty value are all that may differ.
            assert letters(template.expand(found)) == letters(uri), (text, uri, found)
        compared += 1
    assert compared > 10

"""What a question may be, and what fits a form: hostile schemas, addresses and answers."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.mcp.wire.elicitation import FormQuestion, Mode, Unaskable, UrlQuestion, question_of
from mcp_lectern.mcp.wire.forms import read_fields

BOTH: frozenset[Mode] = frozenset({"form", "url"})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
PRIMITIVE = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "number", "integer", "boolean", "array"])},
    optional=dict.fromkeys(("enum", "oneOf", "items", "default", "minLength", "maximum", "format"), JSON),
)


def form(properties: dict[str, Any], **more: Any) -> FormQuestion:
    schema = {"type": "object", "properties": properties, **more}
    question = question_of({"message": "m", "requestedSchema": schema}, "it", BOTH)
    assert isinstance(question, FormQuestion)
    return question


def url(address: str) -> UrlQuestion:
    question = question_of({"mode": "url", "message": "m", "url": address}, "it", BOTH)
    assert isinstance(question, UrlQuestion)
    return question


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "string"}, ["", "x"], [7, True, [], {}, "x" * 100_001]),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "abc"], ["a", "abcd"]),
        ({"type": "string", "format": "email"}, ["a@b"], ["a", "a@", "a b@c", "a@b\n"]),
        ({"type": "string", "format": "uri"}, ["x:y", "https://a"], ["a", "://", "https://a b"]),
        ({"type": "string", "format": "date"}, ["2026-01-31"], ["2026-02-31", "today"]),
        ({"type": "string", "format": "date-time"}, ["2026-01-31T10:00:00Z"], ["2026-01-31", "10:00"]),
        ({"type": "string", "format": "of the future"}, ["anything"], [7]),
        ({"type": "string", "enum": ["a", "b"]}, ["a"], ["c", "A", 1]),
        ({"type": "string", "enum": ["a"], "enumNames": ["Alpha"]}, ["a"], ["Alpha"]),
        ({"type": "string", "oneOf": [{"const": "a", "title": "Alpha"}]}, ["a"], ["Alpha"]),
        ({"type": "number", "minimum": 0, "maximum": 1.5}, [0, 1, 1.5], [-1, 2, "1", True, float("nan")]),
        ({"type": "number", "minimum": 10**400}, [1, 1e300], ["x", float("inf")]),
        ({"type": "integer"}, [3, 3.0, 10**30], [3.5, "3", False]),
        ({"type": "boolean"}, [True, False], [0, "true"]),
        (
            {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1},
            [[], ["a"]],
            [["c"], ["a", "b"], "a"],
        ),
        ({"type": "array", "items": {"anyOf": [{"const": "a"}]}, "minItems": 1}, [["a"]], [[], [1]]),
    ],
)
def test_what_fits_a_field(schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    question = form({"f": schema}, required=["f"])
    assert [value for value in good if question.problems({"f": value})] == []
    assert [value for value in bad if not question.problems({"f": value})] == []
    assert question.problems({})


@pytest.mark.parametrize(
    "properties",
    [
        {"f": {"type": "object", "properties": {}}},
        {"f": {"type": "array", "items": {"type": "string"}}},
        {"f": {"type": "array", "items": {"type": "object"}}},
        {"f": {"type": "array"}},
        {"f": {"$ref": "#/x"}},
        {"f": {"type": ["string", "null"]}},
        {"f": {}},
        {"f": None},
        {str(number): {"type": "string"} for number in range(101)},
        {"f": {"type": "string", "enum": [str(number) for number in range(1001)]}},
        [],
        "x",
    ],
)
def test_a_schema_that_is_not_flat_is_not_asked(properties: Any) -> None:
    with pytest.raises(Unaskable, match="form"):
        form(properties)


def test_a_field_that_is_needed_has_to_exist() -> None:
    with pytest.raises(Unaskable, match="ghost"):
        form({"f": {"type": "string"}}, required=["ghost"])


def test_defaults_stand_in_for_what_was_not_given_and_nothing_else_is_sent() -> None:
    question = form(
        {
            "a": {"type": "string", "default": "x"},
            "b": {"type": "integer", "default": "wrong"},
            "c": {"type": "boolean", "default": False},
            "d": {"type": "array", "items": {"enum": ["p", "q"]}, "default": ["p"]},
        }
    )
    assert question.completed(None) == {"a": "x", "c": False, "d": ["p"]}
    # Null is what a person took away on purpose.
    assert question.completed({"a": "y", "c": None, "secret": 1}) == {"a": "y", "d": ["p"]}


@given(
    st.dictionaries(st.text(max_size=5), PRIMITIVE | JSON, max_size=4), JSON, st.dictionaries(st.text(), JSON)
)
def test_no_schema_and_no_answer_breaks_it(properties: Any, required: Any, content: dict[str, Any]) -> None:
    try:
        fields = read_fields({"type": "object", "properties": properties, "required": required})
    except ValueError:
        return
    question = FormQuestion("it", "m", {}, fields)
    assert question.completed(content).keys() <= properties.keys()
    question.problems(content)


@given(JSON)
def test_no_parameters_break_it(params: Any) -> None:
    with contextlib.suppress(Unaskable):
        question_of(params, "it", BOTH)


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://example.com/a?b=c#d", "example.com"),
        ("HTTPS://Example.COM:8443/", "example.com"),
        ("https://[::1]:8080/x", "::1"),
        ("http://localhost:3000/cb", "localhost"),
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://[::1]/", "::1"),
        ("https://münchen.example/", "münchen.example"),
        ("https://xn--mnchen-3ya.example/", "xn--mnchen-3ya.example"),
        ("https://good.example@evil.example/", "evil.example"),
    ],
)
def test_the_host_of_an_address_is_where_a_browser_goes(address: str, host: str) -> None:
    question = url(address)
    assert (question.url, question.host) == (address, host)


@pytest.mark.parametrize(
    ("address", "odd"),
    [
        ("https://example.com/", None),
        ("https://xn--pypal-4ve.com/", "another alphabet"),
        ("https://login.xn--pypal-4ve.com/", "another alphabet"),
        ("https://p\u0430ypal.com/", "another alphabet"),
        ("https://paypal.com@evil.example/", "leads to evil.example"),
    ],
)
def test_an_odd_address_is_flagged(address: str, odd: str | None) -> None:
    warning = url(address).warning
    assert warning is None if odd is None else odd in (warning or "")


@pytest.mark.parametrize(
    "address",
    [
        "http://example.com/",
        "http://127.0.0.1.example.com/",
        "http://localhost.example.com/",
        "javascript:alert(1)",
        "command:evil",
        "file:///etc/passwd",
        "vscode://x/y",
        "//example.com",
        "example.com",
        "https:///path",
        "https://",
        "",
        "https://evil.example\\@good.example/",
        "https://good.example\t.evil.example/",
        "https://good.example/\u202egnp.exe",
        "https://good.example/\u200b",
        "https://good.example/[x](command:y)",
        " https://example.com/",
        "https://example.com:99999/",
        "https://[::1/",
        "https://example.com/" + "x" * 2000,
    ],
)
def test_an_address_that_hides_something_or_is_not_https_is_not_asked(address: str) -> None:
    with pytest.raises(Unaskable, match="address"):
        url(address)

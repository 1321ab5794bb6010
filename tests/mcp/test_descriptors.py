"""Listed entries: a wrong field costs the field, an entry without an address costs the entry."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.mcp.wire.decoding import decode
from mcp_lectern.mcp.wire.pages import Page, resource_page, template_page, ttl_ms
from mcp_lectern.mcp.wire.resources import Annotations, Resource, ResourceTemplate


def page_of(text: str) -> Page[Resource]:
    """The page of a result given as the JSON text of its ``resources``."""
    page = resource_page(decode(f'{{"result":{{"resources":{text}}}}}'.encode())["result"])
    assert page is not None
    return page


def resource_of(**fields: Any) -> Resource:
    (entry,) = page_of(json.dumps([{"uri": "a://1", "name": "one", **fields}])).entries
    return entry


@pytest.mark.case("LST-03")
@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("12", 12),
        ("12.0", 12),
        ('"12"', None),
        ("-1", None),
        ("1.5", None),
        ("1e400", None),
        ("-1e400", None),
        ("9" * 5000, None),
        ("99999999999999999999", None),
        ("NaN", None),
        ("true", None),
        ("[]", None),
        ("null", None),
    ],
)
def test_lst_03_sizes(size: str, expected: int | None) -> None:
    page = page_of(f'[{{"uri":"a://1","name":"one","size":{size}}},{{"uri":"a://2","size":5}}]')
    assert [(entry.uri, entry.size) for entry in page.entries] == [("a://1", expected), ("a://2", 5)]
    assert page.left_out == 0


@pytest.mark.case("LST-03")
@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({"priority": 7}, Annotations(priority=1.0)),
        ({"priority": -1}, Annotations(priority=0.0)),
        ({"priority": "high"}, Annotations()),
        ({"priority": True}, Annotations()),
        ({"priority": 1}, Annotations(priority=1.0)),
        ({"audience": "user"}, Annotations()),
        ({"audience": ["robot", "user", 7]}, Annotations(audience=("user",))),
        ({"lastModified": 123}, Annotations()),
        ({"lastModified": "yesterday"}, Annotations()),
        ({"lastModified": "2025-01-12T15:00:58Z"}, Annotations(last_modified="2025-01-12T15:00:58Z")),
        ({"lastModified": "2025-01-12"}, Annotations(last_modified="2025-01-12")),
        ([], None),
        ("x", None),
    ],
)
def test_lst_03_annotations(annotations: object, expected: Annotations | None) -> None:
    assert resource_of(annotations=annotations) == Resource("a://1", "one", annotations=expected)


@pytest.mark.case("LST-03")
@pytest.mark.parametrize("icons", [{}, [7], [{"src": "javascript:alert(1)"}]])
def test_lst_03_icons_and_other_members_are_ignored(icons: object) -> None:
    assert resource_of(icons=icons, _meta={"x": [1]}, whatever=None) == Resource("a://1", "one")


@pytest.mark.case("LST-03")
def test_lst_03_a_description_without_end_is_cut() -> None:
    description = resource_of(description="é" * 3_000_000).description
    assert description is not None
    assert len(description) == 20_000
    assert description.endswith("é…")


@pytest.mark.case("LST-03")
def test_lst_03_of_doubled_keys_the_last_counts() -> None:
    (entry,) = page_of('[{"uri":"a://1","uri":"a://2","name":"x"}]').entries
    assert entry.uri == "a://2"


@pytest.mark.case("LST-04")
@pytest.mark.parametrize(
    ("mime_type", "expected"),
    [
        ("text/html;profile=mcp-app", "text/html;profile=mcp-app"),
        ("application/json; charset=utf-8", "application/json; charset=utf-8"),
        ("TEXT/Markdown", "TEXT/Markdown"),
        ("", None),
        ("not a mime", "not a mime"),
        ("text/html\r\nX: y", "text/htmlX: y"),
        ("\x1b[31m\u0085", "[31m"),
        (7, None),
        ("x" * 10_000, None),
    ],
)
def test_lst_04_mime_types_keep_their_parameters_and_lose_control_characters(
    mime_type: object, expected: str | None
) -> None:
    assert resource_of(mimeType=mime_type).mime_type == expected


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"name": "n", "title": "T"}, "n"),
        ({"title": "T"}, "T"),
        ({}, "a://1"),
        ({"name": "", "title": ""}, "a://1"),
        ({"name": 7, "title": "T"}, "T"),
        ({"name": None}, "a://1"),
        ({"name": "\ud800"}, "a://1"),
    ],
)
def test_a_missing_name_becomes_the_title_then_the_uri(fields: dict[str, Any], name: str) -> None:
    (entry,) = page_of(json.dumps([{"uri": "a://1", **fields}])).entries
    assert entry.name == name


def test_entries_without_an_address_are_left_out_and_counted() -> None:
    page = page_of(
        json.dumps(
            [{"name": "x"}, {"uri": ""}, {"uri": 7}, {"uri": "\ud800"}, None, "a://1", [], {"uri": "b"}]
        )
    )
    assert [entry.uri for entry in page.entries] == ["b"]
    assert page.left_out == 7


def test_templates_are_read_likewise() -> None:
    result = {
        "resourceTemplates": [{"uriTemplate": "a://{x}", "title": "T", "size": 3}, {"uriTemplate": ""}],
        "ttlMs": 5,
    }
    page = template_page(decode(json.dumps({"result": result}).encode())["result"])
    assert page == Page([ResourceTemplate("a://{x}", "T", title="T")], None, 1, 5)


@pytest.mark.parametrize("value", [None, {}, "x", 7])
def test_a_page_without_a_list_is_none(value: object) -> None:
    assert resource_page(decode(json.dumps({"result": {"resources": value}}).encode())["result"]) is None
    assert template_page({}) is None


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), unique=True))
def test_a_uri_is_opaque_and_comes_out_as_it_went_in(uris: list[str]) -> None:
    page = page_of(json.dumps([{"uri": uri} for uri in uris]))
    assert [entry.uri for entry in page.entries] == uris


@pytest.mark.case("RD-10")
@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (-5, 0),
        (0, 0),
        (None, 0),
        ("60000", 0),
        (1.5, 1),
        (True, 0),
        (9e18, 31_536_000_000),
        (float("nan"), 0),
        (250, 250),
    ],
)
def test_rd_10_caching_hints_are_clamped(hint: object, expected: int) -> None:
    assert ttl_ms(hint) == expected

"""Words of a server on one line, and as Markdown, wherever features show them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.features.describe import escaped, label, title_of
from mcp_lectern.mcp.wire.resources import Resource
from mcp_lectern.text.untrusted import single_line


@pytest.mark.case("LSP-07")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("  plain ", "plain"),
        ("[x](command:evil)", "[x] (command:evil)"),
        ("](", "] ("),
        ("a]b(c", "a]b(c"),
        ("two\nlines", "two lines"),
        ("tab\tbed", "tab bed"),
        ("bell\x07", "bell"),
        ("del\x7f", "del"),
        ("é](command:evil)", "é] (command:evil)"),
        ("wrapped\u202e", "wrapped"),
        ("fil\u3164ler", "filler"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 199 + "…"),
        ("", ""),
        (" ", ""),
    ],
)
def test_lsp_07_a_label_is_one_safe_line_however_plain_it_looks(text: str, shown: str) -> None:
    assert label(text) == shown


@given(st.text() | st.text(st.sampled_from("](a \n\u202e"), max_size=9), st.integers(1, 12))
def test_the_short_way_to_a_label_leads_where_the_long_one_does(text: str, limit: int) -> None:
    shown = label(text, limit)
    if "  " not in text:
        assert shown == single_line(text, limit)
    assert len(shown) <= limit
    assert "](" not in shown


@pytest.mark.case("LSP-07")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n# b", "a # b"),
        ("# b", r"\# b"),
        ("a\r\n\r\nb", "a b"),
        ("- a", r"\- a"),
        ("*a*", r"\*a\*"),
        ("x" * 201, "x" * 199 + "…"),
    ],
)
def test_lsp_07_escaped_text_is_one_line_of_letters(text: str, shown: str) -> None:
    assert escaped(text) == shown


@pytest.mark.parametrize(
    ("title", "name", "shown"),
    [("Title", "name", "Title"), (None, "name", "name"), (" ", "name", "name"), ("\u202e", " n ", "n")],
)
def test_what_a_person_calls_it(title: str | None, name: str, shown: str) -> None:
    assert title_of(Resource("x://1", name, title)) == shown

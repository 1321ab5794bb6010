"""What an editor without Markdown is shown: the words themselves, and no mark that stands for something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.lsp.to_proto.markup import markup
from mcp_lectern.text.untrusted import code_fence, code_span, markdown_escape, single_line

MARKS = st.text(st.sampled_from("`*\\_#[]()1. ab\n") | st.characters(), max_size=60)


def plain(text: str) -> str:
    shown = markup(text, markdown=False)
    assert shown["kind"] == "plaintext"
    return shown["value"]


def test_an_editor_with_markdown_gets_it_as_it_is() -> None:
    assert markup("**a** `b`", markdown=True) == {"kind": "markdown", "value": "**a** `b`"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**Welcome**\n\ntour · text/markdown\n\n`tour://a`", "Welcome\n\ntour · text/markdown\n\ntour://a"),
        (r"**2 \* 3 \*\* 4**", "2 * 3 ** 4"),
        ("`` a`b `` and `` `c` ``", "a`b and `c`"),
        ("```\n**not** `touched`\n```\nafter **that**", "**not** `touched`\nafter that"),
        ("````text\n```\ninner\n```\n````", "```\ninner\n```"),
    ],
)
def test_marks_are_gone(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(MARKS)
def test_words_of_a_server_are_shown_as_they_are(text: str) -> None:
    line = single_line(text)
    assert plain(f"**{markdown_escape(line)}**\n\nx") == f"{line}\n\nx"
    assert plain(f"- {code_span(text)}: y") == f"- {line or ' '}: y"


@given(MARKS)
def test_a_preview_is_shown_as_it_is(text: str) -> None:
    fenced = code_fence(text)
    assert plain(f"**a**\n\n{fenced}") == "a\n\n" + "\n".join(fenced.split("\n")[1:-1])

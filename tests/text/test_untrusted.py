"""Text of strangers: nothing hidden, nothing alive."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.support.hidden import HIDDEN, LINE_ENDS, STRAY, code_point

from mcp_lectern.text.untrusted import (
    code_fence,
    code_span,
    markdown_escape,
    plain_text,
    single_line,
    spelled_out,
    visible,
)

HOSTILE = [
    "[x](command:evil)",
    "![](http://127.0.0.1:1/p.png)",
    "<img src=x onerror=alert(1)>",
    "<http://evil.example>",
    "```\nunclosed",
    "~~~\nunclosed",
    "# heading",
    "under\n===",
    "under\n---",
    "- item",
    "+ item",
    "12. item",
    "12) item",
    "> quote",
    "    indented",
    "\tindented",
    "a  \nb",
    "back\\",
    "&lt;b&gt;&#91;",
    "[ref]: http://evil.example",
    "[ref][ref]",
    "*a* _b_ `c` ~~d~~ **e**",
    "| a | b |\n|---|---|\n| c | d |",
    "https://evil.example www.evil.example a@evil.example",
    "$(zap) $x$",
]
FRAGMENTS = [
    *HOSTILE,
    "]",
    "(",
    ")",
    "[",
    "!",
    "`",
    "~",
    "\\",
    "\n",
    "\r",
    " ",
    "\t",
    "-",
    "1.",
    "a",
    "日",
    "<",
    ">",
]
hostile_text = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join))

# A renderer that also makes links of bare addresses is the strictest judge at hand.
RENDERER = MarkdownIt("gfm-like", {"linkify": False, "html": True})
INERT = {"paragraph_open", "paragraph_close", "inline"}
INERT_INLINE = {"text", "text_special", "softbreak"}


def shown(markdown: str) -> list[str]:
    """What a renderer shows, one string a line; fails on anything that is more than text."""
    pieces = []
    for token in RENDERER.parse(markdown):
        assert token.type in INERT, (token.type, markdown)
        for child in token.children or []:
            assert child.type in INERT_INLINE, (child.type, markdown)
            pieces.append("\n" if child.type == "softbreak" else child.content)
        pieces.append("\n")
    return [line.strip() for line in "".join(pieces).split("\n") if line.strip()]


@pytest.mark.case("LSP-07")
@pytest.mark.parametrize("text", HOSTILE)
def test_lsp_07_escaped_markdown_shows_the_text_itself(text: str) -> None:
    assert shown(markdown_escape(text)) == [line.strip() for line in text.split("\n") if line.strip()]


@pytest.mark.case("LSP-07")
@given(hostile_text)
def test_lsp_07_escaped_markdown_is_never_more_than_text(text: str) -> None:
    escaped = markdown_escape(text)
    assert "](" not in escaped
    expected = [line.strip(" \t") for line in visible(text).replace("\0", "\ufffd").split("\n")]
    assert [re.sub(r"\s", "", line) for line in shown(escaped)] == [
        re.sub(r"\s", "", line) for line in expected if line.strip()
    ]


@pytest.mark.case("LSP-07")
@given(hostile_text)
def test_lsp_07_a_label_is_one_capped_line_without_hidden_text(text: str) -> None:
    label = single_line(text, 40)
    assert len(label) <= 40
    assert len(label.splitlines()) <= 1
    assert "](" not in label
    assert not any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in label)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff]", label)
    assert single_line(label, 40) == label


@pytest.mark.case("LSP-07")
@given(hostile_text)
def test_lsp_07_a_message_of_several_lines_keeps_no_link(text: str) -> None:
    message = plain_text(text)
    assert "](" not in message
    assert plain_text(message) == message


@pytest.mark.case("LSP-07")
@given(hostile_text, st.text())
def test_lsp_07_a_fence_cannot_be_broken_out_of(text: str, language: str) -> None:
    tokens = RENDERER.parse(f"{code_fence(text, language)}\n\nafter")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert tokens[0].content.rstrip("\n") == visible(text).replace("\0", "\ufffd").rstrip("\n")
    assert re.fullmatch(r"[A-Za-z0-9+#._-]*", tokens[0].info)


@pytest.mark.case("LSP-07")
@given(hostile_text)
def test_lsp_07_a_code_span_is_one_span(text: str) -> None:
    (paragraph,) = [token for token in RENDERER.parse(f"x {code_span(text)} y") if token.type == "inline"]
    children = paragraph.children or []
    assert [child.type for child in children] == ["text", "code_inline", "text"]
    assert children[1].content.strip() == single_line(text)


@pytest.mark.case("LSP-07")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\U000e0041\U000e0042b", "ab"),
        ("\U000e0000x", "x"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("a\u200b\u2060\ufeffb", "ab"),
        ("x\ufe01\U000e0100y", "xy"),
        ("a\r\nb\u2028c\u2029d", "a b c d"),
        ("a\x00\x1b[31mb", "a[31mb"),
        ("\ud800", "\ufffd"),
        ("[x](command:evil)", "[x] (command:evil)"),
        ("[x]\u200b(command:evil)", "[x] (command:evil)"),
        ("", ""),
    ],
)
def test_lsp_07_hidden_characters_go(text: str, expected: str) -> None:
    assert single_line(text) == expected


# Signs that are drawn around or under the digits behind them, though Unicode counts them as formatting.
DRAWN = {*map(chr, range(0x600, 0x606)), *"\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"}


@pytest.mark.case("LSP-07")
def test_lsp_07_no_control_format_or_separator_is_left_in_a_line() -> None:
    """All that Unicode knows of, so that a newer Python shows what is missing here."""
    left = {
        character
        for character in map(chr, range(0x110000))
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        and character in single_line(f"a{character}b")
    }
    assert left == DRAWN


@pytest.mark.case("LSP-07")
@pytest.mark.parametrize("show", [visible, single_line, plain_text, markdown_escape, code_span, code_fence])
@pytest.mark.parametrize("hidden", [*HIDDEN, *LINE_ENDS, *STRAY], ids=code_point)
def test_lsp_07_nothing_hidden_is_shown_in_any_form(show: Callable[[str], str], hidden: str) -> None:
    assert hidden not in show(f"a{hidden}b")
    assert hidden not in show(hidden)


@pytest.mark.case("LSP-07")
@pytest.mark.parametrize("hidden", [*HIDDEN, *LINE_ENDS[2:], *STRAY], ids=code_point)
def test_lsp_07_what_must_stay_exact_is_spelled_out(hidden: str) -> None:
    spelled = spelled_out(f"a{hidden}b{hidden}", lambda one: f"<{ord(one):x}>")
    assert spelled == f"a<{ord(hidden):x}>b<{ord(hidden):x}>"


@given(hostile_text)
def test_spelling_loses_nothing_and_touches_nothing_that_is_seen(text: str) -> None:
    text = text.replace("\ue000", "").replace("\ue001", "")
    spelled = spelled_out(text, lambda one: f"\ue000{ord(one):x}\ue001")
    assert re.sub("\ue000(.*?)\ue001", lambda match: chr(int(match[1], 16)), spelled) == text
    assert visible(re.sub("\ue000.*?\ue001", "", spelled)).replace("\n", "") == visible(text).replace(
        "\n", ""
    )


@pytest.mark.parametrize("space", [" ", "\xa0", "\u1680", "\u2003", "\u202f", "\u205f", "\u3000", "\u2800"])
def test_nothing_hides_between_spaces_of_any_width(space: str) -> None:
    assert single_line(f"日{space}\u200d{space}本") == "日 本"
    assert single_line(f"日{space}\ufe0f本") == "日 本"
    assert single_line(space * 3) == ""


@pytest.mark.parametrize("mark", "0123456789#*")
def test_a_variation_selector_stays_at_a_key_cap_alone(mark: str) -> None:
    assert single_line(f"{mark}\ufe0f\u20e3") == f"{mark}\ufe0f\u20e3"
    assert single_line(f"{mark}\ufe0fx{mark}\ufe0e") == f"{mark}x{mark}"


@pytest.mark.parametrize("text", ["❤️‍🔥", "👨‍👩‍👧", "می‌خواهم", "1️⃣", "क्‍ष", "日本語", "עברית"])
def test_characters_that_scripts_and_emoji_need_stay(text: str) -> None:
    assert single_line(text) == text


@pytest.mark.parametrize("text", ["a\u200db", "\u200c\u200dx", "日\u200d\u200d本"])
def test_joiners_that_join_nothing_go(text: str) -> None:
    assert not re.search("[\u200c\u200d]", single_line(text))


@pytest.mark.case("LSP-07")
def test_lsp_07_long_text_is_capped_with_a_mark() -> None:
    for cap in (single_line, plain_text, markdown_escape):
        shortened = cap("word " * 5000, 100)
        assert len(shortened) <= 100
        assert shortened.endswith("…")

"""Code in Markdown, judged by a full CommonMark parser."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mcp_lectern.mentions.fences import Blocks, dead_zones, is_inside, stretch, zones_of
from mcp_lectern.mentions.parser import parse

PEER = MarkdownIt("commonmark")


def dead(text: str) -> list[str]:
    return [text[start:end] for start, end in dead_zones(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a `b` c", ["`b`"]),
        ("``a ` b`` c", ["``a ` b``"]),
        (r"\`a` b`", ["` b`"]),
        (r"`a\` b", [r"`a\`"]),
        (r"\\`a`", ["`a`"]),
        ("`a\nb`", ["`a\nb`"]),
        ("`a\n\nb`", []),
        ("`a\n- b`", []),
        ("# `a\nb`", []),
        ("> `a\n> b`", ["`a\n> b`"]),
        ("`a", []),
        ("```\na\n```\nb", ["```\na\n```\n"]),
        ("```py\na\n````\nb", ["```py\na\n````\n"]),
        ("````\na\n```\nb", ["````\na\n```\nb"]),
        ("~~~ a`b\nx\n~~~\ny", ["~~~ a`b\nx\n~~~\n"]),
        ("~~~\na\n```\nb", ["~~~\na\n```\nb"]),
        ("   ```\na\n   ```\nb", ["   ```\na\n   ```\n"]),
        ("```\na\n    ```\nb", ["```\na\n    ```\nb"]),
        ("``` a`b\nx", []),
        ("```\r\na\r\n```\r\nb", ["```\r\na\r\n```\r\n"]),
        ("```\ra\r```\rb", ["```\ra\r```\r"]),
        ("- ```\n  a\n  ```\n- b", ["- ```\n  a\n  ```\n"]),
        ("- x\n\n  ```\n  a\n\n  b\n  ```\nc", ["  ```\n  a\n\n  b\n  ```\n"]),
        ("- ```\n  a\nb", ["- ```\n  a\n"]),
        ("> ```\n> a\nb", ["> ```\n> a\n"]),
        ("> - ```\n>   a\n> b", ["> - ```\n>   a\n"]),
        ("1.\t```\n\ta\n\t```\nb", ["1.\t```\n\ta\n\t```\n"]),
        ("a\n```\nb", ["```\nb"]),
        ("10. a\n\n    ```\n    x\n    ```\nb", ["    ```\n    x\n    ```\n"]),
        ("-\n\n    ```\nb", []),
        ("-      ```\nb", []),
        ("-     ```\nb", []),
        ("    `a\nb`", []),
        ("- x\n\n      `a\n\n  b`", []),
        ("-    ```\n     x\nb", ["-    ```\n     x\n"]),
        ("a\n1. ```\n   x\n   ```\nb", ["1. ```\n   x\n   ```\n"]),
        ("a\n2. ```\n   ```\nb", ["   ```\nb"]),
        ("a\n-\n  ```\n  x\nb", ["  ```\n  x\nb"]),
        ("-```\nx`", []),
        ("~~~\na\n~~~ x\nb", ["~~~\na\n~~~ x\nb"]),
        ("```\na\n``\n```\nb", ["```\na\n``\n```\n"]),
        ("> " * 24 + "```\n" + "> " * 24 + "`a`\nb", ["> " * 24 + "```\n" + "> " * 24 + "`a`\n"]),
        ("", []),
    ],
)
def test_fences_and_code_spans(text: str, expected: list[str]) -> None:
    assert dead(text) == expected


LINES = [
    *("```", "````", "~~~", "``` x", "a", "b c", "", "> a", "> ```", ">", "- a", "- ```", "  ```", "  a"),
    *("1. a", "2. b", "* * *", "===", "# h", "   ~~~", "> - a", "-", "> > ```", "   a", "- - ~~~", "10) x"),
    "\t```",
]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=9))
def test_fences_are_those_of_a_full_parser(lines: list[str]) -> None:
    text = "\n".join([*lines, "", "end"])
    expected = {
        line
        for token in PEER.parse(text)
        if token.type == "fence" and token.map
        for line in range(*token.map)
        if line < len(lines) and lines[line]
    }
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]
    # A code span ends behind its back ticks, a fence behind a line.
    fenced = [zone for zone in dead_zones(text) if zone[1] == len(text) or text[zone[1] - 1] == "\n"]
    found = {
        number
        for number, start in enumerate(starts)
        if lines[number] and any(begin <= start < end for begin, end in fenced)
    }
    assert found == expected


@given(st.text(st.sampled_from("`\\ax \n"), max_size=25))
def test_code_spans_are_those_of_a_full_parser(text: str) -> None:
    text = "x" + text.replace("\n ", "\nx")
    text = text.replace("\n`", "\nx`")
    tokens = [child for token in PEER.parse(text) for child in token.children or []]
    assert [span.replace(" ", "").replace("\n", "").strip("`") for span in dead(text)] == [
        token.content.replace(" ", "").strip("`") for token in tokens if token.type == "code_inline"
    ]


@given(st.text(st.sampled_from("`~\\>-*1.) \t\r\na#=日"), max_size=60))
def test_zones_of_any_text_are_ordered_and_do_not_overlap(text: str) -> None:
    position = 0
    for start, end in dead_zones(text):
        assert position <= start < end <= len(text)
        position = end


def test_mentions_in_code_are_left_out() -> None:
    text = "@docs:memo://a `@docs:memo://b` @docs:memo://c\n```\n@docs:memo://d\n```\n@docs:memo://e"
    mentions = parse(text, ("docs",), lambda _server, _uri: False)
    zones = dead_zones(text)
    assert [mention.uri[-1] for mention in mentions if not is_inside(zones, mention.start)] == ["a", "c", "e"]
    assert not is_inside([], 3)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from([*LINES, "`x", "y` ``z", "\\`", "> `q", "- `r"]), max_size=12),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.data(),
)
def test_zones_are_the_same_in_whatever_stretches_a_text_is_read(
    lines: list[str], line_end: str, data: st.DataObject
) -> None:
    text = line_end.join(lines)
    found, state, position = [], Blocks(), 0
    for line in lines:
        end = min(position + len(line) + len(line_end), len(text))
        if end == len(text) or data.draw(st.booleans()):
            start = found[-1][2] if found else 0
            one = stretch(text, start, end, state)
            found.append((start, one, end))
            state = one.exit
        position = end
    assert merged(zones_of((start, one) for start, one, _ in found)) == merged(dead_zones(text))


def merged(zones: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """A fence that goes on in the next stretch is one zone for each, side by side."""
    whole: list[tuple[int, int]] = []
    for start, end in zones:
        if whole and whole[-1][1] == start:
            whole[-1] = (whole[-1][0], end)
        else:
            whole.append((start, end))
    return whole


@pytest.mark.parametrize(
    "piece",
    [
        "`",
        "` ",
        "``` ",
        "```\n",
        "> ",
        "- ",
        "\\`",
        "*  ",
        "1. ",
        "- \n",
        "a `b`\n",
        "\t",
        "~~~`\n",
        "> ```\n",
        "\\",
    ],
)
def test_hostile_markdown_costs_time_in_proportion_to_its_length(piece: str) -> None:
    nested = "- " * 200_000 + "\n" * 200_000 + "`"
    lengths = "".join("`" * length + " " for length in range(1, 1000))
    for text in ("`" + piece * (500_000 // len(piece)), piece * 100_000 + nested, lengths):
        begin = time.process_time()
        dead_zones(text)
        assert time.process_time() - begin < 5

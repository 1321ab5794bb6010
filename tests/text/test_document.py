"""The document's text stays the editor's text, in every position encoding."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pygls.workspace import TextDocument

from mcp_lectern.text.document import Change, Document
from mcp_lectern.text.encodings import Encoding, units
from mcp_lectern.text.lines import line_starts
from mcp_lectern.text.positions import Positions

ENCODINGS: list[Encoding] = ["utf-8", "utf-16", "utf-32"]
encodings = st.sampled_from(ENCODINGS)
pieces = st.lists(
    st.sampled_from(
        ["\n", "\r", "\r\n", "a", "bc", "é", "日本", "😀", "\u2028", "\x0b", "\x0c", "\x85", "\ud83d"]
    ),
    max_size=8,
).map("".join)


def document(text: str) -> Document:
    return Document("file:///a.md", "markdown", 1, text)


def reference_lines(text: str) -> list[str]:
    return re.split(r"\r\n|\r|\n", text)


def paired(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


@given(pieces)
def test_lines_end_at_line_feed_and_carriage_return_only(text: str) -> None:
    subject = document(text)
    assert [subject.line(number) for number in range(subject.line_count)] == reference_lines(text)
    assert subject.line(-1) == subject.line(subject.line_count) == ""


@given(pieces, encodings, st.data())
def test_position_and_offset_are_inverse(text: str, encoding: Encoding, data: st.DataObject) -> None:
    subject = document(text)
    offset = data.draw(st.integers(0, len(subject.text)))
    line, character = subject.position(offset, encoding)
    back = subject.offset(line, character, encoding)
    inside_line_end = subject.text[offset - 1 : offset + 1] == "\r\n" and offset > 0
    assert back == (offset - 1 if inside_line_end else offset)


@given(pieces, encodings, st.lists(st.integers(-1, 20), max_size=8))
def test_positions_of_many_offsets_are_those_of_each(
    text: str, encoding: Encoding, offsets: list[int]
) -> None:
    subject = document(text)
    for order in (offsets, sorted(offsets)):
        walk = Positions(subject, encoding)
        assert [walk.of(offset) for offset in order] == [subject.position(o, encoding) for o in order]


@given(pieces, pieces, st.data())
def test_whoever_watches_is_told_what_was_replaced(text: str, new: str, data: st.DataObject) -> None:
    subject = document(text)
    before, told = subject.text, []
    subject.watch = lambda start, end, after: told.append((start, end, after))
    whole = data.draw(st.booleans())
    places = sorted(data.draw(st.tuples(st.integers(0, len(before)), st.integers(0, len(before)))))
    first, second = (subject.position(place, "utf-32") for place in places)
    subject.apply([(None if whole else (first, second), new)], 2, "utf-32")
    ((start, end, after),) = told
    assert (after, subject.edition) == (subject.text, 1)
    assert after[:start] == before[:start]
    assert after[len(after) - (len(before) - end) :] == before[end:]


@given(
    pieces,
    encodings,
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), pieces), max_size=5),
)
def test_the_index_after_edits_is_that_of_a_fresh_document(
    text: str, encoding: Encoding, edits: list[tuple[int, int, int, str]]
) -> None:
    subject = document(text)
    expected = paired(text)
    for version, (line, first, second, new) in enumerate(edits):
        start = subject.offset(line, first, encoding)
        end = subject.offset(line + 1, second, encoding)
        subject.apply([(((line, first), (line + 1, second)), new)], version, encoding)
        expected = paired(expected[: min(start, end)] + new + expected[max(start, end) :])
        assert subject.text == expected
        fresh = line_starts(expected)
        assert [subject.offset(number, 0, encoding) for number in range(subject.line_count)] == fresh
        assert [subject.position(offset, "utf-32")[0] for offset in fresh] == list(range(len(fresh)))
        assert subject.version == version


@pytest.mark.case("LSP-02")
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_lsp_02_three_ordered_edits_around_an_emoji(encoding: Encoding) -> None:
    subject = document("a😀b\nsecond\n")
    emoji_end = 1 + units("😀", encoding)
    changes: list[Change] = [
        (((0, emoji_end), (0, emoji_end)), "X"),
        (((0, 1), (0, emoji_end)), "🙂🙂"),
        (((0, 1 + units("🙂🙂", encoding)), (1, 0)), "|"),
    ]
    subject.apply(changes, 2, encoding)
    assert subject.text == "a🙂🙂|second\n"
    assert subject.position(subject.text.index("s"), encoding) == (0, units("a🙂🙂|", encoding))


@pytest.mark.case("LSP-02")
def test_lsp_02_an_edit_inside_a_surrogate_pair_does_not_split_it() -> None:
    subject = document("a😀b")
    assert subject.offset(0, 2, "utf-16") == 1
    subject.apply([(((0, 2), (0, 2)), "X")], 2, "utf-16")
    assert subject.text == "aX😀b"


@pytest.mark.case("LSP-02")
def test_lsp_02_an_offset_inside_utf_8_bytes_clamps_to_the_character() -> None:
    subject = document("é日😀x")
    assert [subject.offset(0, byte, "utf-8") for byte in range(12)] == [0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 4, 4]


@pytest.mark.case("LSP-02")
def test_lsp_02_two_edits_that_complete_a_pair_make_one_character() -> None:
    subject = document("ab\n\n")
    subject.apply([(((0, 1), (0, 1)), "\ud83d"), (((0, 2), (0, 2)), "\ude00")], 2, "utf-16")
    assert subject.text == "a😀b\n\n"
    assert subject.position(2, "utf-16") == (0, 3)
    assert subject.line_count == 3


@pytest.mark.case("LSP-02")
@pytest.mark.parametrize(
    ("line", "character", "expected"),
    [(0, 99, 3), (1, 99, 7), (9, 0, 8), (2, 5, 8), (-1, 5, 0), (0, -1, 0), (0, 2**31, 3)],
)
def test_lsp_02_positions_outside_clamp(line: int, character: int, expected: int) -> None:
    for encoding in ENCODINGS:
        assert document("abc\r\nde\n").offset(line, character, encoding) == expected


@pytest.mark.case("LSP-02")
def test_lsp_02_range_outside_and_reversed() -> None:
    subject = document("abc\ndef")
    subject.apply([(((7, 7), (9, 9)), "!")], 2, "utf-16")
    assert subject.text == "abc\ndef!"
    subject.apply([(((1, 3), (0, 1)), "-")], 3, "utf-16")
    assert subject.text == "a-!"


@pytest.mark.case("LSP-02")
def test_lsp_02_a_full_change_between_incremental_ones() -> None:
    subject = document("one\ntwo")
    subject.apply([(((0, 0), (0, 3)), "1"), (None, "x\r\ny\rz"), (((2, 1), (2, 1)), "!")], 9, "utf-16")
    assert (subject.text, subject.line_count, subject.version) == ("x\r\ny\rz!", 3, 9)


@pytest.mark.case("LSP-02")
def test_lsp_02_a_line_feed_typed_behind_a_lone_carriage_return_joins_it() -> None:
    subject = document("a\rb")
    subject.apply([(((1, 0), (1, 0)), "\n")], 2, "utf-16")
    assert [subject.line(number) for number in range(subject.line_count)] == ["a", "b"]
    subject.apply([(((0, 1), (1, 0)), "\r")], 3, "utf-16")
    assert (subject.text, subject.line_count) == ("a\rb", 2)


@pytest.mark.case("LSP-02")
def test_lsp_02_other_separators_do_not_end_lines() -> None:
    subject = document("a\u2028b\x0cc\x85d\ne")
    assert subject.line_count == 2
    assert subject.position(7, "utf-16") == (0, 7)


def test_an_offset_between_carriage_return_and_line_feed_is_the_line_s_end() -> None:
    assert document("ab\r\nc").position(3, "utf-16") == (0, 2)
    assert document("ab").position(99, "utf-8") == (0, 2)
    assert document("ab").position(-1, "utf-8") == (0, 0)


LINE = "See @docs:memo://some/resource for the details, then go on. \u00e9\u65e5\n"
LARGE = LINE * (1_000_000 // len(LINE))


def fastest(action: Callable[[], object]) -> float:
    """The best of many runs in seconds: what the code costs, not what the machine was busy with."""
    best = 1.0
    for _ in range(30):
        begin = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - begin)
    return best


def test_one_position_in_a_large_document_costs_a_fraction_of_the_peer_s() -> None:
    subject = document(LARGE)
    peer = TextDocument("file:///a.md", LARGE)
    line = subject.line_count - 2
    ours = fastest(lambda: subject.offset(line, 20, "utf-16"))
    theirs = fastest(lambda: peer.offset_at_position(types.Position(line, 20)))
    assert ours < 0.2e-3
    assert ours * 5 < theirs


def test_one_edit_in_a_large_document_costs_a_fraction_of_the_peer_s() -> None:
    subject = document(LARGE)
    peer = TextDocument("file:///a.md", LARGE)
    line = subject.line_count // 2
    place = types.Range(types.Position(line, 5), types.Position(line, 5))
    change = types.TextDocumentContentChangePartial(range=place, text="x")

    def edit_and_ask() -> None:
        subject.apply([(((line, 5), (line, 5)), "x")], 2, "utf-16")
        assert subject.offset(line + 1, 0, "utf-16") > 0

    ours = fastest(edit_and_ask)
    theirs = fastest(lambda: peer.apply_change(change))
    assert ours * 2 < theirs

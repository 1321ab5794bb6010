"""A long line is read in parts: it means what it means as a whole, and no part is long."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_lectern.mentions import code_spans, fences, incremental, long_lines, pieces
from mcp_lectern.mentions.code_spans import Runs, Zone, pairing, runs, spans
from mcp_lectern.mentions.fences import Blocks, Stretch, dead_zones, is_inside, stretch, zone_steps, zones_of
from mcp_lectern.mentions.incremental import MentionIndex
from mcp_lectern.mentions.model import Mention
from mcp_lectern.mentions.parser import parse

SERVERS = ("docs",)
MENTION = "@docs:memo://a"
LINE = st.lists(
    st.sampled_from(
        [
            *("`", "`", "``", "```", "`````", "\\`", "\\", "\\\\", " `", "` ", MENTION, f"`{MENTION}` "),
            *("~~~", "~", "~~~~ ", "x", "é", "日", "😀", " ", "\t", '"', '@"', '\\"', "[", "](", "<", ">"),
            *("> ", "- ", "1. ", "# ", "* * *", "===", "---", "    "),
        ]
    ),
    max_size=30,
).map("".join)
LINE_END = st.sampled_from(["\n", "\n", "\n\n", "\r", "\r\n", "\r\r"])
TEXT = st.lists(st.tuples(LINE, LINE_END), max_size=4).flatmap(
    lambda lines: LINE.map(lambda last: "".join(line + end for line, end in lines) + last)
)
EDITS = st.lists(
    st.tuples(st.integers(0, 8), st.floats(0, 1), st.integers(0, 20), LINE | LINE_END), min_size=1, max_size=6
)


def listed(_server: str | None, _uri: str) -> bool:
    return False


def whole(text: str) -> list[Mention]:
    zones = dead_zones(text)
    return [one for one in parse(text, SERVERS, listed) if not is_inside(zones, one.start)]


def index(text: str) -> MentionIndex:
    made = MentionIndex(text)
    made.read_as(SERVERS, listed, SERVERS, markdown=True)
    return made


def offsets(zones: list[Zone]) -> set[int]:
    """What the zones hold: a fence that goes on in the next stretch is one zone for each."""
    return {offset for start, end in zones for offset in range(start, end)}


@pytest.fixture
def small_pieces() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "PIECE", 6)
        patch.setattr(code_spans, "_AT_ONCE", 3)
        yield


@settings(max_examples=600, deadline=None)
@given(TEXT, st.data())
def test_zones_are_the_same_wherever_a_line_is_cut(text: str, data: st.DataObject) -> None:
    cuts = data.draw(st.sets(st.integers(1, max(len(text) - 1, 1)), max_size=8))
    ends = sorted(cut for cut in cuts if cut < len(text) and text[cut - 1 : cut + 1] != "\r\n")
    found: list[tuple[int, Stretch]] = []
    state, start = Blocks(), 0
    for end in [*ends, len(text)]:
        found.append((start, stretch(text, start, end, state)))
        state, start = found[-1][1].exit, end
    zones = zones_of(found)
    assert offsets(zones) == offsets(dead_zones(text))
    assert [zone[0] for zone in zones] == sorted(zone[0] for zone in zones)


@pytest.mark.usefixtures("small_pieces")
@settings(max_examples=500, deadline=None)
@given(TEXT, EDITS, st.data())
def test_a_reading_that_an_edit_interrupts_ends_as_that_of_the_whole_text(
    text: str, edits: list[tuple[int, float, int, str]], data: st.DataObject
) -> None:
    subject = index(text)
    steps = subject.steps()
    for pause, place, length, new in edits:
        for _ in range(pause):
            next(steps, None)
        start = round(place * len(text))
        end = min(start + length, len(text))
        text = text[:start] + new + text[end:]
        subject.replaced(start, end, text)
        if data.draw(st.booleans()):
            offset = data.draw(st.integers(0, len(text)))
            assert subject.is_code(offset) == is_inside(dead_zones(text), offset)
        if data.draw(st.booleans()):
            steps = subject.steps()
    for _ in steps:
        pass
    assert subject.mentions() == whole(text)
    zones = dead_zones(text)
    assert [subject.is_code(n) for n in range(len(text))] == [is_inside(zones, n) for n in range(len(text))]


@pytest.mark.parametrize("typed", ["`", "``", "\\", "x", "\n", "~~~", "\r"])
@pytest.mark.parametrize(
    "line", ["`a` ", "`", "` `` ``` ", "\\` ", "~~~ ` ", "# `@docs:memo://a` @docs:memo://b `` "]
)
def test_an_edit_anywhere_between_two_pieces_of_a_reading_is_seen(line: str, typed: str) -> None:
    text = line * (30_000 // len(line))
    for pause in range(0, 18, 3):
        subject = index(text)
        steps = subject.steps()
        for _ in range(pause):
            next(steps)
        for place in (len(text), 16_384, 3, 0):
            after = text[:place] + typed + text[place:]
            subject.replaced(place, place, after)
            next(steps)
            subject.replaced(place, place + len(typed), text)
            subject.replaced(place, place, after)
            for _ in steps:
                pass
            assert subject.mentions() == whole(after)
            subject.replaced(place, place + len(typed), text)
            steps = subject.steps()
            next(steps)


@pytest.mark.parametrize(
    ("before", "line", "typed", "behind"),
    [
        ("", "```" + " x" * 10_000, "`", "\n@docs:memo://a\n"),
        ("", "``` " + "@docs:memo://a " * 2_000, "`", ""),
        ("`x\n", "_ " * 10_000, "x", "\n@docs:memo://a `"),
        ("~~~\nx\n", "~~~" + " " * 10_000, "x", "\n@docs:memo://a\n"),
        ("`x\n", " " * 20_000, "x", "\n@docs:memo://a `"),
    ],
)
def test_a_letter_far_behind_what_a_line_begins_with_may_decide_about_that(
    before: str, line: str, typed: str, behind: str
) -> None:
    text = f"{before}{line}{behind}"
    subject = index(text)
    alive = len(subject.mentions())
    place = len(before) + len(line)
    after = text[:place] + typed + text[place:]
    subject.replaced(place, place, after)
    assert subject.mentions() == whole(after)
    assert len(subject.mentions()) != alive
    subject.replaced(place, place + 1, text)
    assert subject.mentions() == whole(text)


MARKS = st.lists(st.sampled_from(["`", "~", "*", "_", "=", "-", " ", "\t"]), min_size=1, max_size=3)
STARTS = st.lists(
    st.sampled_from(["> ", "- ", "1. ", "* ", "   ", "```", "~~~", "# ", "x", "=", "_ ", "\t"]), max_size=4
).map("".join)
ENDS = st.sampled_from(["", "x", "`", "~", "*", "=", " ", "``", "* * `", "x `"])
LONG = st.tuples(STARTS, MARKS, ENDS).map(
    lambda parts: parts[0] + "".join(mark * 900 for mark in parts[1] * 2) + parts[2]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(LONG | LINE, min_size=1, max_size=3))
def test_a_shortened_line_reads_like_the_line(lines: list[str]) -> None:
    text = "\n".join([*lines, "```", "`a`", "``x`` `b"])
    short = dead_zones(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fences, "HEAD", len(text))
        patch.setattr(long_lines, "HEAD", len(text))
        assert short == dead_zones(text)


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("~" * 5_000 + "\nx\n" + "~" * 4_999 + "\ny\n" + "~" * 5_000 + "\nz", ["x", "y"]),
        ("```" + " w" * 5_000 + "\nx\n```\nz", ["x"]),
        ("```" + " y" * 5_000 + "`\nz", []),
        ("x\n" + "=" * 5_000 + "\n`z", []),
        ("`x\n" + "* " * 5_000 + "\nz`", []),
        ("`x\n" + "* " * 5_000 + "w\nz`", []),
        ("`x\n" + "_ " * 5_000 + "w\nz`", ["x", "z"]),
        ("- ~~~\n  x\n" + " " * 5_000 + "\nz", ["x"]),
        ("~~~\nx\n~~~" + " " * 5_000 + "\nz", ["x"]),
        ("~~~\nx\n~~~" + " " * 5_000 + "y\nz", ["x", "y", "z"]),
    ],
)
def test_what_ends_a_long_line_decides_what_it_opens_and_closes(text: str, dead: list[str]) -> None:
    zones = dead_zones(text)
    letters = {letter: text.rindex(letter) for letter in "xyz" if letter in text}
    assert [letter for letter, place in letters.items() if is_inside(zones, place)] == dead
    subject = index(text)
    assert [letter for letter, place in letters.items() if subject.is_code(place)] == dead


def naive(text: str) -> list[Zone]:
    """The spans of a text of back ticks, back slashes and others, letter by letter."""
    zones, at = [], 0
    while (at := text.find("`", at)) >= 0:
        if (at - len(text[:at].rstrip("\\"))) % 2 and text[at - 1] == "\\":
            at += 1
        stop = at + len(text[at:]) - len(text[at:].lstrip("`"))
        if stop == at:
            continue
        closing = stop
        while (closing := text.find("`", closing)) >= 0:
            end = closing + len(text[closing:]) - len(text[closing:].lstrip("`"))
            if end - closing == stop - at:
                break
            closing = end
        if closing >= 0:
            zones.append((at, end))
            stop = end
        at = stop
    return zones


@settings(max_examples=500)
@given(st.text("`\\x", max_size=40), st.data())
def test_runs_found_in_parts_pair_like_those_of_the_whole(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    found = Runs()
    found.add(runs(text, 0, cut), 0)
    escape = code_spans.escapes(text, 0, cut)
    found.add(runs(text, cut, len(text), cut, escape=escape), cut)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code_spans, "_AT_ONCE", data.draw(st.integers(1, 5)))
        assert [zone for some in pairing(found) for zone in some] == naive(text)
    assert spans(text, 0, len(text)) == naive(text)


HOSTILE = {
    "spans": "`a` ",
    "one run": "`",
    "no spans": "` `` ``` ",
    "mentions": "@`",
    "links": "[`](",
    "escapes": "\\`",
    "quotes": '@"`',
    "carriage returns": "`a`\r",
    "two bytes": "é`ü`",
    "astral": "😀`",
    "tildes": "~~~`",
    "items": "- ",
}


@pytest.mark.parametrize("what", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_step_of_a_long_line_is_long_and_a_keystroke_costs_one_piece(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "x" + what * (400_000 // len(what)) + "`"
    read: list[int] = []
    found: list[int] = []

    def noted(text: str, start: int, end: int, entry: Blocks) -> Stretch:
        read.append(end - start)
        return stretch(text, start, end, entry)

    def counted(stretches: Iterator[tuple[int, Stretch]]) -> Iterator[list[Zone]]:
        for some in zone_steps(stretches):
            found.append(len(some))
            yield some

    monkeypatch.setattr(incremental, "stretch", noted)
    monkeypatch.setattr(incremental, "zone_steps", counted)
    subject = index(text)
    before = -1
    for _ in subject.steps():
        assert len(read) - before <= 2, "more than a piece was read in one step"
        before = len(read)
    assert max(read) <= 3 * pieces.PIECE
    assert max(found) <= 2 * pieces.PIECE
    assert len(found) >= sum(found) / code_spans._AT_ONCE
    assert subject.mentions() == whole(text)

    read.clear()
    after = text[:200_000] + "x" + text[200_000:]
    subject.replaced(200_000, 200_000, after)
    subject.mentions()
    assert sum(read) <= 8 * pieces.PIECE
    starts = [start for start, _ in dead_zones(after)]
    number = bisect_right(starts, 200_000) - 1
    assert subject.is_code(200_000) == (number >= 0 and is_inside(dead_zones(after), 200_000))

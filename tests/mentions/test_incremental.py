"""After any edits the kept mentions are those of the whole text, and an edit costs what it touches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_lectern.mentions import incremental, pieces
from mcp_lectern.mentions.fences import dead_zones, is_inside
from mcp_lectern.mentions.incremental import MentionIndex
from mcp_lectern.mentions.model import Mention
from mcp_lectern.mentions.parser import parse, parse_part

SERVERS = ("docs", "a<b")
PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "@docs:memo://a",
                '@"docs:x y"',
                "@memo://b",
                '@"',
                "@",
                "docs",
                ":",
                "//",
                '"',
                "\\",
                "<",
                ".",
            ),
            *(
                "`",
                "```",
                "~~~",
                "```\n",
                "\n```\n",
                "\n~~~\n",
                "> ",
                "- ",
                "  ",
                "===",
                "# ",
                "1. ",
                "x",
                "日",
            ),
            *("a<", '"docs:memo://q ', '@"docs:', '\\"', " x y z ", "b:zz ", "@a<b:z>", "@@a"),
            *("\n", "\n", "\r", "\r\n", "\n\n", " ", "@a<b:z", "\t"),
        ]
    ),
    max_size=12,
).map("".join)
EDITS = st.lists(st.tuples(st.integers(0, 90), st.integers(0, 30), PIECES), max_size=8)


def listed(_server: str | None, uri: str) -> bool:
    return uri.endswith(".")


def whole(text: str, markdown: bool) -> list[Mention]:
    found = parse(text, SERVERS, listed)
    zones = dead_zones(text) if markdown else []
    return [mention for mention in found if not is_inside(zones, mention.start)]


def index(text: str, *, markdown: bool) -> MentionIndex:
    made = MentionIndex(text)
    made.read_as(SERVERS, listed, SERVERS, markdown=markdown)
    return made


@pytest.fixture(autouse=True, scope="module")
def small_pieces() -> object:
    patch = pytest.MonkeyPatch()
    patch.setattr(pieces, "PIECE", 6)
    yield
    patch.undo()


ONE_LINE = st.lists(
    st.sampled_from(
        [
            *('@"docs:memo://a', '"', '"', '@"', '@"', "\\", '\\"', " ", " ", "<", ">", "`", ":", "@"),
            *(
                "@a<b:z",
                "@a<",
                "b:memo://z",
                "@docs:memo://b",
                "@memo://c ",
                "abcdefgh",
                "x y z ",
                "日",
                "\r\n",
            ),
        ]
    ),
    min_size=8,
    max_size=60,
).map("".join)


@settings(max_examples=600, deadline=None)
@given(PIECES | ONE_LINE, EDITS, st.booleans(), st.data())
def test_incremental_is_whole_under_any_edits(
    text: str, edits: list[tuple[int, int, str]], markdown: bool, data: st.DataObject
) -> None:
    subject = index(text, markdown=markdown)
    assert subject.mentions() == whole(text, markdown)
    for wanted, length, new in edits:
        start = min(wanted, len(text))
        end = min(start + length, len(text))
        text = text[:start] + new + text[end:]
        subject.replaced(start, end, text)
        look = data.draw(st.sampled_from(["all", "at", "some", "nothing"]))
        if look == "all":
            assert subject.mentions() == whole(text, markdown)
        elif look == "some":
            next(subject.steps(), None)
        elif look == "at":
            offset = data.draw(st.integers(0, len(text)))
            expected = [one for one in parse(text, SERVERS, listed) if one.start <= offset <= one.end][:1]
            alive = [one for one in expected if one in whole(text, markdown)]
            assert [one for one in [subject.at(offset)] if one] == alive
            assert subject.is_code(offset) == (markdown and is_inside(dead_zones(text), offset))
    assert subject.mentions() == whole(text, markdown)


@settings(deadline=None)
@given(PIECES, PIECES, PIECES, PIECES)
def test_an_editor_may_send_the_whole_text_for_every_edit(head: str, old: str, new: str, tail: str) -> None:
    subject = index(head + old + tail, markdown=True)
    subject.mentions()
    subject.replaced(0, len(head + old + tail), head + new + tail)
    assert subject.mentions() == whole(head + new + tail, True)


def test_what_is_listed_may_change() -> None:
    subject = index("see @docs:memo://a. and `@docs:x`", markdown=True)
    assert [one.uri for one in subject.mentions()] == ["memo://a."]
    subject.read_as(SERVERS, lambda _server, _uri: False, object(), markdown=True)
    assert [one.uri for one in subject.mentions()] == ["memo://a"]
    subject.read_as((), lambda _server, _uri: False, object(), markdown=False)
    assert [one.uri for one in subject.mentions()] == ["docs:memo://a", "docs:x"]


@pytest.mark.parametrize("lines", [1, 2, 5])
def test_a_code_span_over_many_lines_is_code_at_every_place_in_it(lines: int) -> None:
    prose = "some words\n" * lines
    text = f"{prose}a `b\n{prose}@docs:memo://dead\n{prose}c` d @docs:memo://alive\n{prose}"
    for looked_before in (False, True):
        subject = index(text, markdown=True)
        if looked_before:
            subject.mentions()
        assert subject.at(text.index("@docs:memo://dead") + 3) is None
        assert subject.is_code(text.index("@docs:memo://dead"))
        alive = text.index("@docs:memo://alive")
        found = subject.at(alive + 3)
        assert found is not None
        assert (found.start, found.uri) == (alive, "memo://alive")
        assert not subject.is_code(alive)
        assert [one.uri for one in subject.mentions()] == ["memo://alive"]


def test_a_fence_that_opens_far_above_is_code_down_to_its_end() -> None:
    text = "```\n" + "code\n" * 30 + "@docs:memo://dead\n```\n@docs:memo://alive\n"
    subject = index(text, markdown=True)
    assert subject.at(text.index("@docs:memo://dead") + 2) is None
    assert subject.at(text.index("@docs:memo://alive") + 2) is not None
    without = text[3:]
    subject.replaced(0, 3, without)
    assert subject.at(without.index("@docs:memo://dead") + 2) is not None
    assert subject.at(without.index("@docs:memo://alive") + 2) is None


@pytest.mark.parametrize("before", ["xx `a", "```\nx", "a:b: `"])
def test_a_line_feed_behind_a_carriage_return_ends_no_second_line(before: str) -> None:
    text = f"{before}\r@docs:memo://dead` @docs:memo://b `\n@docs:memo://c"
    subject = index(text, markdown=True)
    assert subject.mentions() == whole(text, True)
    place = len(before) + 1
    after = f"{text[:place]}\n{text[place:]}"
    subject.replaced(place, place, after)
    assert subject.mentions() == whole(after, True)
    subject.replaced(place, place + 1, text)
    assert subject.mentions() == whole(text, True)


def test_an_edit_reads_only_what_it_touches(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(f"line {number} @docs:memo://{number} and `code`\n" for number in range(500))
    text = f"{lines}\n```\n@docs:memo://dead\n```\n\n{lines}"
    subject = index(text, markdown=True)
    before = subject.mentions()
    read: list[int] = []

    def counted(
        text: str, servers: object, listed: object, start: int, end: int
    ) -> tuple[list[Mention], int]:
        read.append(end - start)
        return parse_part(text, SERVERS, lambda _server, _uri: False, start, end)

    scanned: list[int] = []
    scan = incremental.stretch

    def noted(text: str, start: int, end: int, entry: object) -> object:
        scanned.append(end - start)
        return scan(text, start, end, entry)  # type: ignore[arg-type]

    monkeypatch.setattr(incremental, "parse_part", counted)
    monkeypatch.setattr(incremental, "stretch", noted)
    subject.replaced(700, 700, text[:700] + "x" + text[700:])
    after = subject.mentions()
    assert len(after) == len(before)
    assert sum(read) < 100
    assert sum(scanned) < 100
    assert after[-1].start == before[-1].start + 1


def test_reading_goes_on_in_steps_while_the_text_changes() -> None:
    text = "".join(f"@docs:memo://{number}\n" for number in range(50))
    subject = index(text, markdown=True)
    steps = subject.steps()
    for _ in range(20):
        next(steps)
    text = "`\n" + text
    subject.replaced(0, 0, text)
    assert sum(1 for _ in steps) >= 50
    assert subject.mentions() == whole(text, True)


LONG_LINES = {
    "mentions": "see @docs:memo://item/1 word ",
    "quotes": '@"',
    "quoted mentions": '@"docs:memo://a b" and ',
    "handles": "@a:",
    "marks": "@",
    "escapes": '@"\\" ',
    "tags": "<td>@docs:memo://a</td>",
    "brackets": "()[]",
}


@pytest.fixture
def pieces_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE", 4096)


@pytest.mark.usefixtures("pieces_of_life")
@pytest.mark.parametrize("what", LONG_LINES.values(), ids=LONG_LINES.keys())
def test_a_keystroke_in_a_long_line_reads_only_what_it_touches(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "@docs:memo://first " + what * (400_000 // len(what))
    subject = index(text, markdown=True)
    steps = sum(1 for _ in subject.steps())
    assert subject.mentions() == whole(text, True)
    looks: list[int] = []
    search = incremental.parse_part

    def counted(
        text: str, servers: object, listed: object, start: int, end: int
    ) -> tuple[list[Mention], int]:
        looks.append(text.count("@", start, end))
        return search(text, SERVERS, lambda _server, _uri: False, start, end)

    monkeypatch.setattr(incremental, "parse_part", counted)
    middle = text.index(what, 200_000) + len(what)
    after = text[:middle] + " x " + text[middle:]
    subject.replaced(middle, middle, after)
    subject.at(middle)
    assert len(looks) <= 4
    if " " in what or '"' in what or "<" in what:  # else it is one word
        assert steps > 80
        assert sum(looks) < 10_000
    assert subject.mentions() == whole(after, True)


@pytest.mark.usefixtures("pieces_of_life")
@pytest.mark.parametrize("what", LONG_LINES.values(), ids=LONG_LINES.keys())
def test_a_place_in_a_long_line_is_known_without_the_line(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    line = what * (400_000 // len(what))
    text = f"{line} . @docs:memo://last . {line}"
    subject = index(text, markdown=True)
    read: list[int] = []
    search = incremental.parse_part

    def counted(
        text: str, servers: object, listed: object, start: int, end: int
    ) -> tuple[list[Mention], int]:
        read.append(text.count("@", start, end) if end - start < 50_000 else 256)
        return search(text, SERVERS, lambda _server, _uri: False, start, end)

    monkeypatch.setattr(incremental, "parse_part", counted)
    found = subject.at(len(line) + 10)
    assert sum(read) < 10_000
    assert found is not None
    assert found.uri == "memo://last"


def test_a_quoted_mention_may_be_opened_and_closed_far_away() -> None:
    filler = "some prose, @docs:memo://x and so on " * 40
    text = f"{filler}docs:memo://a b {filler}"
    subject = index(text, markdown=True)
    subject.mentions()
    for place, new in (
        (len(text), '"'),
        (0, '@"'),
        (len(filler) + 9, '"'),
        (3, "y"),
        (len(filler) + 3, "\n"),
    ):
        text = text[:place] + new + text[place:]
        subject.replaced(place, place, text)
        assert subject.mentions() == whole(text, True)
        assert subject.at(60) == next((m for m in whole(text, True) if m.start <= 60 <= m.end), None)

"""After any edits the kept mentions are those of the whole text, and an edit costs what it touches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_lectern.mentions import incremental
from mcp_lectern.mentions.fences import dead_zones, is_inside
from mcp_lectern.mentions.incremental import MentionIndex
from mcp_lectern.mentions.model import Mention
from mcp_lectern.mentions.parser import parse

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
    patch.setattr(incremental, "PIECE", 6)
    yield
    patch.undo()


@settings(max_examples=600, deadline=None)
@given(PIECES, EDITS, st.booleans(), st.data())
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


def test_an_edit_reads_only_what_it_touches(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(f"line {number} @docs:memo://{number} and `code`\n" for number in range(500))
    text = f"{lines}\n```\n@docs:memo://dead\n```\n\n{lines}"
    subject = index(text, markdown=True)
    before = subject.mentions()
    read: list[int] = []

    def counted(text: str, servers: object, listed: object, start: int, end: int) -> list[Mention]:
        read.append(end - start)
        return parse(text, SERVERS, lambda _server, _uri: False, start, end)

    scanned: list[int] = []
    scan = incremental.stretch

    def noted(text: str, start: int, end: int, entry: object) -> object:
        scanned.append(end - start)
        return scan(text, start, end, entry)  # type: ignore[arg-type]

    monkeypatch.setattr(incremental, "parse", counted)
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

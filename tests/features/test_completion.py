"""What is offered after ``@``, and what the text becomes when an offer is accepted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.catalogues import big_index, listing
from tests.support.marked import fixture

from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.features.completion import CompletionAnswer, Item, Kind, complete, documentation
from mcp_lectern.mcp.wire.resources import Resource
from mcp_lectern.mentions.parser import parse

NOTES = listing(
    "notes", [Resource("memo://insights", "insights", "Insights"), Resource("memo://todo", "todo")]
)


def answer(
    marked: str, *listings: ServerListing | ServerIndex, limit: int = 100, **states: str
) -> CompletionAnswer | None:
    given = fixture(marked, *listings)
    return complete(given.text, given.offset, given.catalogue, given.indexes, states, limit=limit)


def rows(marked: str, *listings: ServerListing | ServerIndex, limit: int = 100, **states: str) -> list[Item]:
    found = answer(marked, *listings, limit=limit, **states)
    assert found is not None
    assert found.incomplete
    return list(found.items)


def check(marked: str, *labels: str, among: tuple[ServerListing | ServerIndex, ...] = (NOTES,)) -> None:
    assert [row.label for row in rows(marked, *among)] == list(labels)


def accepted(marked: str, label: str, *listings: ServerListing | ServerIndex) -> str:
    """The document after the row of this label was chosen."""
    given = fixture(marked, *listings)
    found = complete(given.text, given.offset, given.catalogue, given.indexes, {}, limit=100)
    assert found is not None
    row = next(row for row in found.items if row.label == label)
    return given.text[: found.start] + row.insert_text + given.text[found.end :]


def test_nothing_outside_a_mention() -> None:
    assert answer("plain $0text", NOTES) is None
    assert answer("a@b.example$0", NOTES) is None


def test_everything_after_a_bare_at_sign_servers_last() -> None:
    check("see @$0", "Insights", "todo", "notes:")


def test_what_was_typed_narrows_the_offer() -> None:
    check("see @ins$0", "Insights")
    check("see @notes:$0", "Insights", "todo")
    check("see @notes:memo://t$0", "todo")
    check("see @no$0", "notes:", "Insights", "todo")
    check("see @nowhere$0")


def test_a_row_shows_the_name_beside_the_title_and_behind_them_where_it_is_from() -> None:
    entries = [
        Resource("x://1", "one", "First", mime_type="text/plain"),
        Resource("x://2", "two", "two"),
        Resource("x://3", " "),
        Resource("x://4", "", "Fourth"),
    ]
    assert [(row.label, row.detail, row.description) for row in rows("@s:$0", listing("s", entries))] == [
        ("First", "  one", "s · text/plain"),
        ("two", "", "s"),
        ("x://3", "", "s"),
        ("Fourth", "", "s"),
    ]


def test_accepting_replaces_the_whole_half_typed_mention() -> None:
    assert accepted("see @ins$0 now", "Insights", NOTES) == "see @notes:memo://insights now"
    assert accepted("see @notes:memo://to$0 now", "todo", NOTES) == "see @notes:memo://todo now"
    assert accepted('see @"to$0" now', "todo", NOTES) == "see @notes:memo://todo now"


def test_a_server_is_a_beginning() -> None:
    assert accepted("see @no$0", "notes:", NOTES) == "see @notes:"
    assert accepted("see @$0", "my notes:", listing("my notes")) == 'see @"my notes:'
    assert [row.unfinished for row in rows("@no$0", NOTES)] == [True, False, False]


@pytest.mark.case("URI-06")
@pytest.mark.parametrize("server", ["Slack Local", "a:b", "a.b", "a/b", "日本", 'q"q', "back\\slash", "a@b"])
def test_uri_06_what_is_inserted_reads_back_as_the_same_pair(server: str) -> None:
    uri = 'c://x y"z'
    among = (listing(server, [Resource(uri, "wanted")]), listing("a", [Resource("b:c://x", "other")]))
    text = accepted("@wan$0", "wanted", *among)
    names = [one.server for one in among]
    mention = parse(text, names, lambda _server, _uri: False)[0]
    assert (mention.server, mention.uri, mention.end) == (server, uri, len(text))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10), st.text(max_size=3))
def test_whatever_is_listed_can_be_offered(uri: str, name: str) -> None:
    found = rows("@$0", listing("s", [Resource(uri, name)]))
    text = found[0].insert_text
    mention = parse(text, ["s"], lambda _server, _uri: False)[0]
    assert (mention.server, mention.uri, mention.end) == ("s", uri, len(text))


@pytest.mark.case("URI-05")
def test_uri_05_the_same_uri_of_two_servers_is_two_rows_that_name_them() -> None:
    a, b = (
        listing(name, [Resource("config://app", f"of {name}", mime_type=f"text/{name}")])
        for name in ("a", "b")
    )
    found = [row for row in rows("@config$0", a, b) if row.kind is Kind.RESOURCE]
    assert [(row.server, row.description) for row in found] == [("a", "a · text/a"), ("b", "b · text/b")]
    assert [row.insert_text for row in found] == ["@a:config://app", "@b:config://app"]


@pytest.mark.case("LST-05")
def test_lst_05_a_list_of_templates_only_is_offered() -> None:
    found = rows("@s:$0", listing("s", [], ["gh://{owner}/{repo}", "broken://{"]))
    assert [(row.kind, row.insert_text, row.unfinished) for row in found] == [
        (Kind.TEMPLATE, "@s:gh://", True)
    ]


@pytest.mark.case("LST-05")
def test_lst_05_a_template_without_variables_gives_way_to_the_resource() -> None:
    both = rows("@s:$0", listing("s", ["fixed://x"], ["fixed://x"]))
    assert [row.kind for row in both] == [Kind.RESOURCE]
    alone = rows("@s:$0", listing("s", [], ["fixed://x"]))
    assert [(row.kind, row.insert_text, row.unfinished) for row in alone] == [
        (Kind.TEMPLATE, "@s:fixed://x", False)
    ]


@pytest.mark.case("LST-05")
def test_lst_05_braces_of_a_listed_uri_are_inserted_as_they_are() -> None:
    text = rows("@s:$0", listing("s", ["issue://{id}"]))[0].insert_text
    assert parse(text, ["s"], lambda _server, _uri: False)[0].uri == "issue://{id}"


@pytest.mark.case("TPL-03")
def test_tpl_03_templates_that_overlap_are_all_offered() -> None:
    found = rows("@s:echo$0", listing("s", ["echo://test"], ["echo://{message}", "echo://{input}"]))
    assert [row.uri for row in found] == ["echo://test", "echo://{message}", "echo://{input}"]


def test_a_template_of_a_quoted_server_leaves_the_quote_open() -> None:
    text = accepted("@gh$0", "gh://{owner}", listing("my hub", [], ["gh://{owner}"]))
    assert text == '@"my hub:gh://'


@pytest.mark.case("LSP-04")
def test_lsp_04_incomplete_even_when_empty_or_while_a_server_lists() -> None:
    slow = listing("slow", listed=False)
    for marked in ("@$0", "@nothing-like-it$0", "@slow:$0", "@notes:memo$0"):
        found = answer(marked, NOTES, slow, slow="starting")
        assert found is not None
        assert found.incomplete


@pytest.mark.case("PAG-06")
def test_pag_06_an_answer_is_capped_and_says_it_is_not_all() -> None:
    for marked in ("@$0", "@files:$0", "@files:re$0", "@re$0"):
        found = answer(marked, big_index(100_000))
        assert found is not None
        assert (len(found.items), found.incomplete) == (100, True)
        assert [row.sort_text for row in found.items] == sorted(row.sort_text for row in found.items)


@pytest.mark.parametrize("limit", [0, 1, 2, 7])
def test_never_more_rows_than_the_limit(limit: int) -> None:
    mixed = listing("s", [f"x://{n}" for n in range(9)], [f"t://{n}/{{v}}" for n in range(9)])
    for marked in ("@$0", "@s$0", "@s:$0"):
        assert len(rows(marked, mixed, listing("other"), limit=limit, other="notTrusted")) <= limit


def test_templates_and_servers_have_their_place_in_a_full_answer() -> None:
    crowd = listing("s", [f"x://{n}" for n in range(90)], [f"t://{n}/{{v}}" for n in range(30)])
    kinds = [row.kind for row in rows("@$0", crowd, *(listing(f"s{n}") for n in range(5)), limit=50)]
    assert [kinds.count(kind) for kind in (Kind.RESOURCE, Kind.TEMPLATE, Kind.SERVER)] == [34, 10, 6]
    only = listing("s", [], [f"t://{n}/{{v}}" for n in range(30)])
    assert len(rows("@s:$0", only, limit=25)) == 25


@pytest.mark.case("UI-01")
@pytest.mark.parametrize("prose", ["thanks @bob$0", "@zg$0", "cc @all,$0", "@everyone:$0", "(@here)$0"])
def test_ui_01_prose_meets_an_empty_list_whatever_the_servers_state(prose: str) -> None:
    found = answer(prose, big_index(100_000), listing("docs", listed=False), docs="notTrusted")
    assert found is None or found.items == ()


@pytest.mark.case("UI-01")
def test_ui_01_a_handle_is_answered_by_word_starts_only() -> None:
    among = listing("s", [Resource(f"x://{n}", name) for n, name in enumerate(("kebob", "b-o-b", "the bob"))])
    check("hi @bob$0", "the bob", among=(among,))
    check("hi @s:bob$0", "the bob", "kebob", "b-o-b", among=(among,))
    paths = listing("s", [Resource("x://1", "kebob/bar"), Resource("x://2", "the bob/bar")])
    check("hi @bob/b$0", "the bob/bar", "kebob/bar", among=(paths,))


@pytest.mark.case("UI-01")
@pytest.mark.parametrize("closed", ["", '"'])
def test_ui_01_a_quoted_query_is_no_handle_and_finds_what_matches_anywhere(closed: str) -> None:
    among = listing("s", [Resource(f"x://{n}", name) for n, name in enumerate(("kebob", "b-o-b", "the bob"))])
    check(f'hi @"bob$0{closed}', "the bob", "kebob", "b-o-b", among=(among,))
    templates = listing("s", [], ["kebob://{x}"])
    check(f'hi @"bob$0{closed}', "kebob://{x}", among=(templates,))
    check("hi @bob$0", among=(templates,))


@pytest.mark.case("UI-01")
@pytest.mark.parametrize(
    "prose", ["bob's", "bob’s", "bob’s,", "bob'", "bob’", "bob”", "bob…", "bob，", "bob）。"]
)
def test_ui_01_a_handle_stays_one_whatever_punctuation_stands_at_it(prose: str) -> None:
    """Folding makes a space of most of these, and words with a space between are looked for anywhere."""
    names = ("kebob's", "kebobs", "bakebob…", "kebob”", "a kebob，s")
    among = listing("s", [Resource(f"x://{n}", name) for n, name in enumerate(names)])
    check(f"thanks @{prose}$0", among=(among,))


def test_servers_stand_as_they_are_configured_those_that_begin_so_first() -> None:
    among = tuple(listing(name) for name in ("old notes", "zebra", "notes-b", "My-Notes", "Notes-a"))
    check("@no$0", "notes-b:", "Notes-a:", "old notes:", "My-Notes:", among=among)
    check("@$0", "old notes:", "zebra:", "notes-b:", "My-Notes:", "Notes-a:", among=among)
    check("@otes$0", among=among)


def test_equally_good_rows_stand_in_the_order_of_the_servers_as_configured() -> None:
    among = tuple(listing(name, [Resource("x://plan", "plan")]) for name in ("z", "a", "m"))
    for marked in ("@$0", "@plan$0", "@x://$0", '@"pla$0'):
        found = [row.server for row in rows(marked, *among) if row.kind is Kind.RESOURCE]
        assert found == ["z", "a", "m"], marked


def test_the_filter_text_begins_with_what_is_covered() -> None:
    given = fixture("see @ins$0 now", NOTES)
    found = complete(given.text, given.offset, given.catalogue, given.indexes, {}, limit=9)
    assert found is not None
    covered = given.text[found.start : found.end]
    assert covered == "@ins"
    assert found.items[0].filter_text == "@ins insights Insights notes memo://insights"


@pytest.mark.parametrize(
    ("state", "command"),
    [
        ("notTrusted", "lectern.approve"),
        ("failed", "lectern.restart"),
        ("backingOff", "lectern.restart"),
        ("needsSignIn", "lectern.signIn"),
        ("starting", None),
    ],
)
def test_one_quiet_remark_on_servers_that_cannot_answer(state: str, command: str | None) -> None:
    found = rows("@$0", NOTES, listing("x", listed=False), listing("y", listed=False), x=state, y=state)
    remarks = [row for row in found if row.kind is Kind.NOTICE]
    assert len(remarks) == 1
    assert found[-1] is remarks[0]
    assert "x (and 1 more)" in remarks[0].label
    assert remarks[0].insert_text == "@"
    action = remarks[0].action
    assert (action.command if action else None) == command
    assert action is None or action.argument == {"server": "x"}


def test_no_remark_where_servers_are_well() -> None:
    assert [row.kind for row in rows("@notes:$0", NOTES, notes="ready")] == [Kind.RESOURCE, Kind.RESOURCE]


@pytest.mark.parametrize(
    ("state", "command", "explained"),
    [
        ("ready", "lectern.refresh", True),
        ("failed", "lectern.restart", True),
        ("notTrusted", "lectern.approve", True),
        ("starting", None, False),
    ],
)
def test_a_remark_says_why_in_inert_words(state: str, command: str | None, explained: bool) -> None:
    given = fixture("@x:$0", NOTES, listing("x"))
    why = "](command:evil) no such luck \U000e0041\u202e" + "z" * 20_000
    found = complete(
        given.text, given.offset, given.catalogue, given.indexes, {"x": state}, limit=9, troubles={"x": why}
    )
    assert found is not None
    (remark,) = (row for row in found.items if row.kind is Kind.NOTICE)
    assert (remark.action.command if remark.action else None) == command
    assert ("no such luck" in remark.documentation) is explained
    assert not any(bad in remark.documentation for bad in ("](", "\U000e0041", "\u202e"))
    assert len(remark.documentation) < 4_000


@pytest.mark.case("LSP-07")
def test_lsp_07_labels_are_single_lines_without_hidden_characters() -> None:
    hostile = "a\u202eb\U000e0041c\nd](command:evil)" + "x" * 20_000
    entry = Resource("x://" + "y" * 20_000, hostile, hostile, mime_type=hostile)
    row = rows("@$0", listing("s", [entry]))[0]
    for shown in (row.label, row.detail, row.description, row.filter_text):
        assert "\n" not in shown
        assert "\u202e" not in shown
        assert "\U000e0041" not in shown
        assert "](" not in shown
        assert len(shown) < 1_000


@pytest.mark.case("LSP-07")
def test_lsp_07_documentation_is_inert() -> None:
    entry = Resource("x://1", "one", "[x](command:evil)", "![](http://127.0.0.1/p.png)<b>\n```\nopen")
    given = fixture("", listing("s", [entry]))
    text = documentation(given.catalogue, "s", "x://1")
    assert text is not None
    assert "](" not in text
    assert "<b" not in text.replace("\\<b", "")
    assert "\n```" not in text


def test_documentation_of_what_is_gone() -> None:
    given = fixture("", listing("s", ["x://1"], ["t://{v}"]))
    assert documentation(given.catalogue, "s", "x://2") is None
    assert documentation(given.catalogue, "other", "x://1") is None
    assert "t://{v}" in (documentation(given.catalogue, "s", "t://{v}") or "")


@pytest.mark.case("LST-04")
@pytest.mark.parametrize(
    "mime_type", ["text/html;profile=mcp-app", "TEXT/Markdown", "", "not a mime", "text/x\r\nX: y"]
)
def test_lst_04_any_type_is_shown_on_one_line(mime_type: str) -> None:
    row = rows("@$0", listing("s", [Resource("x://1", "one", mime_type=mime_type)]))[0]
    assert row.description == (f"s · {mime_type}".replace("\r\n", " ") if mime_type else "s")

"""What a hover tells of a mention, without asking anybody."""

from __future__ import annotations

import pytest
from tests.support.catalogues import listing
from tests.support.marked import fixture

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.features.describe import size_shown
from mcp_lectern.features.hover import hover
from mcp_lectern.mcp.wire.resources import Annotations, Resource, ResourceTemplate

FULL = Resource(
    "memo://insights",
    "insights",
    "What was learnt",
    "Two *lines*.",
    "text/markdown; charset=utf-8",
    1536,
    Annotations(("user", "assistant"), 0.5, "2026-05-01T10:00:00Z"),
)


def shown(text: str, *listings: ServerListing, content: str | None = None, **states: str) -> str | None:
    given = fixture(text, *listings)
    if not given.mentions:
        return None
    return hover(given.catalogue, given.mentions[0], lambda _server, _uri: content, states)


def check(text: str, *pieces: str, among: tuple[ServerListing, ...], content: str | None = None) -> None:
    found = shown(text, *among, content=content)
    assert found is not None
    for piece in pieces:
        assert piece in found


def test_everything_that_is_known() -> None:
    check(
        "@s:memo://insights",
        "**What was learnt**",
        "s · text/markdown; charset=utf-8 · 1.5 KiB · modified 2026-05-01T10",
        "for user, assistant",
        "`memo://insights`",
        r"Two \*lines\*.",
        "```\nthe text\n```",
        among=(listing("s", [FULL]),),
        content="the text",
    )


def test_a_preview_is_short_and_says_so() -> None:
    found = shown("@s:memo://insights", listing("s", [FULL]), content="z" * 100_000)
    assert found is not None
    assert len(found) < 1_500
    assert "zz…" in found


@pytest.mark.case("LST-03")
def test_lst_03_odd_values_cost_only_themselves() -> None:
    odd = Resource("x://1", "one", "", " ", "", 0, Annotations((), None, "yesterday"))
    assert shown("@s:x://1", listing("s", [odd])) == "**one**\n\ns · 0 bytes · modified yesterday\n\n`x://1`"


def test_what_several_servers_have() -> None:
    check(
        "@x://1", "a, b", "`@a:x://1`", "`@b:x://1`", among=(listing("a", ["x://1"]), listing("b", ["x://1"]))
    )


def test_what_a_template_makes() -> None:
    check(
        "@s:echo://hi%20there",
        "`message`: `hi there`",
        "**echo",
        among=(listing("s", [], ["echo://{message}"]),),
    )


def test_the_arguments_of_a_template_are_shown_decoded_and_no_more_than_somebody_reads() -> None:
    check("@s:echo://a,b", "- `v`: `a, b`", among=(listing("s", [], ["echo://{v*}"]),))
    check("@s:echo://?a=1&b=2", "- `v`: `a=1, b=2`", among=(listing("s", [], ["echo://{?v*}"]),))
    names = [f"v{number:02}" for number in range(12)]
    found = shown("@s:echo://" + "/".join("x" * 12), listing("s", [], [f"echo://{{{'}/{'.join(names)}}}"]))
    assert found is not None
    assert [line for line in found.split("\n") if line.startswith("- ")] == [
        f"- `{name}`: `x`" for name in names[:10]
    ]
    whole = shown("@s:echo://", listing("s", [], ["echo://{?v}"]))
    assert whole is not None
    assert "- " not in whole


@pytest.mark.case("TPL-03")
def test_tpl_03_lists_arrays_and_odd_values_are_named_too() -> None:
    among = (listing("s", [], ["x://h{/path*}{?q,filter*,n}"]),)
    check(
        "@s:x://h/a/b%20c?q=1,2&kind=k&size=&n=7",
        "`path`: `a, b c`",
        "`q`: `1, 2`",
        "`filter`: `kind=k, size=`",
        "`n`: `7`",
        among=among,
    )
    found = shown("@s:x://h/%ED%A0%80%00", *among)
    assert found is not None
    assert "`path`" in found
    assert found.encode()  # no lone surrogate comes through


@pytest.mark.case("TPL-03")
def test_tpl_03_what_takes_too_long_to_find_out_is_said_and_not_called_unknown() -> None:
    among = (listing("s", ["x://a"], ["x:{+a}{+b}{+a}{+b}{+c}{+a}"]),)
    check("@s:x:" + "ab,cd," * 100 + "x", "takes too long", among=among)


def test_what_nobody_lists() -> None:
    check("@s:memo://insigths", "does not list", "`@s:memo://insights`", among=(listing("s", [FULL]),))
    check("@sss:memo://insights", "No server `sss`", "Did you mean `s`", among=(listing("s", [FULL]),))


@pytest.mark.parametrize(
    ("state", "piece"),
    [
        ("idle", "not listed its resources yet"),
        ("starting", "not listed its resources yet"),
        ("notTrusted", "needs your approval"),
        ("needsSignIn", "sign in"),
        ("failed", "failed to start"),
    ],
)
def test_a_server_that_has_not_listed(state: str, piece: str) -> None:
    found = shown("@s:memo://a", listing("s", listed=False), s=state)
    assert found is not None
    assert piece in found


@pytest.mark.case("LSP-07")
@pytest.mark.parametrize("state", ["failed", "backingOff"])
def test_lsp_07_why_a_server_failed_stands_where_it_is_mentioned_and_is_inert(state: str) -> None:
    given = fixture("@s:memo://a", listing("s", listed=False))
    why = "Cannot start “s”: ](command:evil) <img src=x> \U000e0041\u202e" + "z" * 20_000
    found = hover(given.catalogue, given.mentions[0], lambda *_: None, {"s": state}, {"s": why})
    assert found is not None
    assert "failed to start" in found
    assert "Cannot start “s”" in found
    assert not any(bad in found for bad in ("](", " <img", "\U000e0041", "\u202e"))
    assert len(found) < 4_000


@pytest.mark.parametrize(("length", "marked"), [(600, False), (601, True)])
def test_a_preview_that_is_whole_has_no_mark(length: int, marked: bool) -> None:
    found = shown("@s:memo://insights", listing("s", [FULL]), content="z" * length)
    assert found is not None
    assert found.endswith("\n```\n" + "z" * 600 + "…" * marked + "\n```")


def test_a_server_without_a_reason_points_to_its_log() -> None:
    found = shown("@s:memo://a", listing("s", listed=False), s="failed")
    assert found == "s failed to start; its log says why."


def test_a_list_that_was_cut_short() -> None:
    found = shown("@s:memo://a", ServerListing.of("s", [], partial="Stopped after 10 pages."))
    assert found is not None
    assert "Stopped after 10 pages" in found


def test_prose_has_no_hover() -> None:
    assert shown("@memo://nowhere", listing("s", [FULL])) is None
    assert shown("@decorator", listing("s", [FULL])) is None


HOSTILE = [
    "[x](command:evil)",
    "![](http://127.0.0.1:1/p.png)",
    "<img src=x onerror=y>",
    "```\nunclosed",
    "~~~\nunclosed",
    "tag\U000e0041text",
    "turned\u202eround",
    "x" * 20_000,
    "# heading\n\n- list\n\n| a | b |\n|---|---|",
    "`" * 50,
]


@pytest.mark.case("LSP-07")
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_lsp_07_hostile_text_is_inert_wherever_it_stands(text: str) -> None:
    uri = "x://1"
    entry = Resource(uri, text, text, text, text, 1, Annotations((text,), 0.1, text))
    template = ResourceTemplate("t://{v}", text, text, text, text)
    server = "s"
    hostile = ServerListing.of(server, [entry], [template])
    for mention, content in (("@s:x://1", text), ("@s:t://" + "y" * 50, None)):
        found = shown(mention, hostile, content=content)
        assert found is not None
        assert len(found) < 6_000
        assert "\u202e" not in found
        assert "\U000e0041" not in found
        outside = _without_code(found)
        assert "](" not in outside.replace(r"\](", "").replace(r"]\(", "")
        assert "<img" not in outside.replace(r"\<img", "")
        assert "\n# " not in outside
        assert "http://" not in outside


def _without_code(markdown: str) -> str:
    """The Markdown without fenced blocks, each of which must have ended, and code spans."""
    import re

    plain, fence = [], ""
    for line in markdown.split("\n"):
        marks = re.match(r"`{3,}$|`{3,}(?=[^`]*$)", line)
        if fence:
            fence = "" if line == fence else fence
        elif marks:
            fence = marks[0]
        else:
            plain.append(line)
    assert not fence
    return re.sub(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)", "", "\n".join(plain))


@pytest.mark.case("LSP-07")
@pytest.mark.parametrize("uri", ["x://a](command:evil)", "x://`b`", "x://<b>"])
def test_lsp_07_a_hostile_uri_is_inert(uri: str) -> None:
    quoted = uri.replace('"', '\\"')
    for listings in ((listing("s", [uri]),), (listing("s", ["x://other"]),)):
        found = shown(f'@"s:{quoted}"', *listings)
        assert found is not None
        assert "](" not in found
        assert "<b>" not in _without_code(found)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (10**15, "909.5 TiB")],
)
def test_sizes_for_people(size: int, text: str) -> None:
    assert size_shown(size) == text


@pytest.mark.case("LST-03")
def test_lst_03_an_absurd_size_is_still_a_size() -> None:
    assert size_shown(10**400).endswith(" TiB")

"""What a person would not see in a server's text: gone or spelled out, wherever the text is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from tests.support.catalogues import listing
from tests.support.hidden import HIDDEN, LINE_ENDS, STRAY, code_point
from tests.support.marked import fixture

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.resolve import resolve
from mcp_lectern.features.actions import actions
from mcp_lectern.features.completion import complete, documentation
from mcp_lectern.features.describe import label
from mcp_lectern.features.diagnostics import diagnostics
from mcp_lectern.features.expand import FORMATS, Outcome, Unread, framed, outcomes, plan
from mcp_lectern.features.hover import hover
from mcp_lectern.features.symbols import symbols
from mcp_lectern.mcp.wire.resources import (
    Annotations,
    BlobItem,
    ReadResult,
    Resource,
    ResourceTemplate,
    TextItem,
)
from mcp_lectern.mentions.printer import write

CHARACTERS = [*HIDDEN, *LINE_ENDS, *STRAY]

pytestmark = pytest.mark.parametrize("hidden", CHARACTERS, ids=code_point)


def odd(hidden: str) -> ServerListing:
    """A server whose every word holds the character between two letters of ASCII."""
    word = f"a{hidden}b"
    notes = Annotations((word,), 0.5, word)
    return ServerListing.of(
        f"s{hidden}r",
        [
            Resource(f"memo://{word}", word, word, word, word, 1, notes),
            Resource(f"memo://{word}2", word),
            Resource(f"memo://{word}4", hidden),
        ],
        [ResourceTemplate(f"echo://{word}/{{v}}", word, word, word, word)],
    )


@pytest.mark.case("LSP-07")
def test_lsp_07_a_label_shows_nothing_hidden(hidden: str) -> None:
    assert label(f"a{hidden}b") in ("ab", "a b")
    assert label(hidden) == ""


@pytest.mark.case("LSP-07")
def test_lsp_07_a_hover_shows_nothing_hidden(hidden: str) -> None:
    server = odd(hidden)
    other = ServerListing.of(f"o{hidden}r", [server.by_uri[f"memo://a{hidden}b"]])
    slow = listing(f"w{hidden}", listed=False)
    among = (server, other, slow)
    texts = [
        write(server.server, f"memo://a{hidden}b"),
        write(server.server, f"memo://a{hidden}c"),
        write(server.server, f"echo://a{hidden}b/z{hidden}"),
        write(f"so{hidden}r", f"memo://a{hidden}b"),
        write(slow.server, "memo://a"),
        f'@"memo://a{hidden}b"',
    ]
    shown = []
    for text in texts:
        given = fixture(text, *among)
        for mention in given.mentions[:1]:
            why = {slow.server: f"no{hidden}way"}
            states = {slow.server: "failed"}
            shown.append(hover(given.catalogue, mention, lambda *_: f"c{hidden}d", states, why))
    assert len([one for one in shown if one]) == len(texts)
    assert hidden not in "".join(filter(None, shown))


@pytest.mark.case("LSP-07")
def test_lsp_07_completion_shows_nothing_hidden(hidden: str) -> None:
    server = odd(hidden)
    waiting = listing(f"w{hidden}w", listed=False)
    given = fixture("@$0", server, waiting)
    troubles = {waiting.server: f"no{hidden}way"}
    found = complete(
        given.text,
        given.offset,
        given.catalogue,
        given.indexes,
        {waiting.server: "failed"},
        limit=9,
        troubles=troubles,
    )
    assert found is not None
    assert len({row.kind for row in found.items}) == 4
    for row in found.items:
        assert hidden not in row.label + row.detail + row.description + row.documentation
        if row.uri:
            assert hidden not in (documentation(given.catalogue, row.server, row.uri) or "")


@pytest.mark.case("LSP-07")
def test_lsp_07_a_value_shows_nothing_hidden(hidden: str) -> None:
    template = ResourceTemplate("echo://{v}", f"n{hidden}m", f"n{hidden}m")
    given = fixture(f'@"s{hidden}r:echo://$0', ServerListing.of(f"s{hidden}r", [], [template]))
    found = complete(
        given.text,
        given.offset,
        given.catalogue,
        given.indexes,
        {},
        limit=9,
        proposals=lambda _: (f"a{hidden}b",),
    )
    assert found is not None
    assert found.items[0].label in ("ab", "a b")
    assert not any(hidden in row.label + row.description for row in found.items)


@pytest.mark.case("LSP-07")
def test_lsp_07_remarks_fixes_and_symbols_show_nothing_hidden(hidden: str) -> None:
    server = odd(hidden)
    far = write(server.server, f"memo://a{hidden}b3")
    for text in (far, write(f"sr{hidden}", f"memo://a{hidden}b")):
        given = fixture(text, server)
        (mention,) = given.mentions
        (remark,) = diagnostics(given.catalogue, given.mentions, {})
        assert "Did you mean" in remark.message
        found = actions(mention, resolve(given.catalogue, mention), {server.server: "notTrusted"})
        assert found
        assert hidden not in remark.message + "".join(one.title for one in found)
    given = fixture("", server)
    for symbol in symbols(given.catalogue, given.indexes, "a", 9):
        assert hidden not in symbol.name + symbol.container


def expansions(hidden: str) -> Iterator[tuple[str, str, list[Outcome]]]:
    """Each format over a text, a binary part, a failed read, and a URI that nobody lists."""
    server = odd(hidden)
    uris = [f"memo://a{hidden}b", f"memo://a{hidden}b2"]
    marked = " ".join(write(server.server, uri) for uri in (*uris, f"memo://{hidden}gone"))
    given = fixture(marked, server)
    wanted = plan(given.catalogue, given.mentions, unlisted=False)
    items = (TextItem(uris[0], f"text/{hidden}", "kept"), BlobItem(f"{uris[0]}#{hidden}", None, b"1"))
    reads: dict[tuple[str, str], ReadResult | Unread] = {
        (server.server, uris[0]): ReadResult(items, stale=f"old{hidden}"),
        (server.server, uris[1]): Unread("failed", f"no{hidden}way"),
    }
    found = outcomes(wanted, reads, given.catalogue, None)
    assert [one.status for one in found] == ["included", "failed", "notListed"]
    for style in FORMATS:
        yield style, framed("Text.", found, style, lambda: "n1"), found


@pytest.mark.case("LSP-07")
def test_lsp_07_the_frames_of_an_expansion_hide_nothing(hidden: str) -> None:
    for style, whole, found in expansions(hidden):
        assert hidden not in whole, style
        if style == "json":
            assert [one["uri"] for one in json.loads(whole)["resources"]] == [one.uri for one in found]
        if style == "xml":
            written = re.findall(r'<resource-n1 server="([^"]*)" uri="([^"]*)"', whole)
            read = [tuple(map(unescaped, pair)) for pair in written]
            assert read == [(one.server, one.uri) for one in found]


def unescaped(value: str) -> str:
    """The attribute's value as a reader of XML has it; ``html.unescape`` replaces controls."""
    return re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), value)

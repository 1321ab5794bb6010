"""Contents as documents: text verbatim, binary described, several items linked, hostile text inert."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.support.hidden import HIDDEN, LINE_ENDS, STRAY, code_point

from mcp_lectern.documents.address import parse
from mcp_lectern.documents.page import unasked_page, unread_page
from mcp_lectern.documents.render import EMPTY, document_text, documents, item_text
from mcp_lectern.mcp.wire.resources import BlobItem, Item, ReadResult, TextItem, UnreadableItem

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def text_of(*items: Item, item: int | None = None, listed: str | None = None) -> str | None:
    return document_text("docs", "memo://a", ReadResult(items), listed, item)


@pytest.mark.case("RD-03")
def test_rd_03_empty_contents_say_so() -> None:
    assert documents("docs", "memo://a", ReadResult(()), None) == []
    assert text_of() == EMPTY + "\n"
    assert "empty or missing" in EMPTY
    assert text_of(item=0) is None


@pytest.mark.case("RD-03")
def test_rd_03_an_empty_text_is_an_empty_document() -> None:
    assert text_of(TextItem("memo://a", "text/plain", "")) == ""
    (document,) = documents("docs", "memo://a", ReadResult((TextItem(None, "text/plain", ""),)), None)
    assert (document.kind, document.size, document.error, document.language_id) == (
        "text",
        0,
        None,
        "plaintext",
    )


@pytest.mark.case("LST-04")
@pytest.mark.parametrize(
    ("mime", "language"),
    [
        (None, "plaintext"),
        ("image/png", "plaintext"),
        ("text/unheard-of", "plaintext"),
        ("text/css", "css"),
        ("text/csv", None),
    ],
)
def test_lst_04_text_has_the_language_of_its_type(mime: str | None, language: str | None) -> None:
    (document,) = documents("docs", "memo://a", ReadResult((TextItem("memo://a", mime, "a,b"),)), None)
    assert (document.kind, document.language_id) == ("text", language)


@pytest.mark.case("LSP-07")
def test_lsp_07_a_part_without_a_visible_name_can_be_seen_and_opened() -> None:
    parts = tuple(TextItem(uri, None, "x") for uri in ("\u202e\u200b", " ", "memo://c"))
    index = document_text("docs", "\u202e", ReadResult(parts), None) or ""
    heading, *rest = index.splitlines()
    assert heading == "# Resource"
    assert [line.partition("](")[0] for line in rest if "](" in line] == [
        "1. [Part 1",
        "2. [Part 2",
        "3. [memo\\://c",
    ]


@pytest.mark.case("RD-03")
def test_rd_03_an_unreadable_item_fails_nothing_else() -> None:
    result = ReadResult(
        (UnreadableItem("x://1", None, "it has neither text nor blob"), TextItem("x://2", None, "ok"))
    )
    first, second = documents("docs", "x://", result, None)
    assert first.error == "it has neither text nor blob"
    assert second.error is None
    assert "neither text nor blob" in (document_text("docs", "x://", result, None, 0) or "")
    assert document_text("docs", "x://", result, None, 1) == "ok"
    assert "neither text nor blob" in (document_text("docs", "x://", result, None) or "")


def test_a_single_item_has_the_address_of_its_resource() -> None:
    (document,) = documents(
        "docs", "memo://a", ReadResult((TextItem("memo://b", None, "é"),)), "text/markdown"
    )
    key = parse(document.address)
    assert key is not None
    assert (key.server, key.uri, key.item) == ("docs", "memo://a", None)
    assert (document.uri, document.item, document.size, document.language_id) == (
        "memo://b",
        None,
        2,
        "markdown",
    )
    assert document.address.partition("?")[0].endswith("/a.md")


def test_several_items_have_an_address_each_and_the_read_type_does_not_move_it() -> None:
    result = ReadResult((TextItem(None, "application/json", "{}"), BlobItem("x://p", "image/png", PNG)))
    first, second = documents("docs", "x://all", result, "text/markdown", title="All")
    assert [parse(document.address).item for document in (first, second)] == [0, 1]  # type: ignore[union-attr]
    assert first.address.partition("?")[0].endswith("/all-1.md")
    assert (first.language_id, first.mime_type, first.uri, first.title) == (
        "json",
        "application/json",
        "x://all",
        "All (1)",
    )
    assert (second.kind, second.size, second.language_id, second.title) == ("binary", len(PNG), None, "x://p")


@pytest.mark.case("RD-05")
def test_rd_05_a_blob_that_is_text_is_shown_as_text() -> None:
    assert text_of(BlobItem(None, "text/plain", "héllo".encode())) == "héllo"
    described = text_of(BlobItem(None, "text/plain", b"h\xff")) or ""
    assert "First bytes: 68 ff" in described


def test_a_binary_item_is_described_and_never_dumped() -> None:
    described = text_of(BlobItem("img://logo", "image/png; x=\x1b[31m", PNG)) or ""
    assert hashlib.sha256(PNG).hexdigest() in described
    assert "89 50 4e 47" in described
    assert "264 bytes" in described
    assert "image/png" in described
    assert "img://logo" in described
    assert "--out" in described
    assert "iVBOR" not in described
    assert "\x1b" not in described
    assert described.isascii()
    assert "none" in (text_of(BlobItem(None, None, b"")) or "")


@pytest.mark.parametrize(
    ("size", "shown"), [(0, "0 bytes"), (1, "1 byte"), (2, "2 bytes"), (1_234_567, "1,234,567 bytes")]
)
def test_one_byte_is_no_bytes(size: int, shown: str) -> None:
    blob = BlobItem("x://b", "image/png", b"x" * size)
    index = text_of(blob, TextItem("x://t", "text/plain", "y" * size)) or ""
    assert f"image/png, {shown}\n" in index
    assert f"text/plain, {shown}\n" in index
    assert f"\nSize:        {shown}\n" in (text_of(blob) or "")


@pytest.mark.case("LSP-07")
@pytest.mark.parametrize("hidden", [*HIDDEN, *LINE_ENDS, *STRAY], ids=code_point)
def test_lsp_07_nothing_hidden_is_shown_of_names_types_and_reasons(hidden: str) -> None:
    word = f"a{hidden}b"
    server, uri = f"s{hidden}r", f"x://{word}"
    blob = BlobItem(uri, f"image/{word}", b"\xff")
    result = ReadResult(
        (blob, TextItem(f"{uri}2", word, "text"), UnreadableItem(None, word, f"no{hidden}way")),
        notes=(f"note{hidden}d",),
    )
    pages = [
        document_text(server, uri, result, None, title=word),
        *(document_text(server, uri, result, None, index) for index in range(3)),
        document_text(server, uri, ReadResult((blob,)), None),
        unread_page(server, uri),
        unasked_page(server, uri),
    ]
    assert hidden not in "".join(page or "" for page in pages)
    for document in documents(server, uri, result, None, title=word):
        shown = (document.title, document.mime_type or "", document.error or "", document.address)
        assert hidden not in "".join(shown)


@given(st.text(st.characters()))
def test_text_is_verbatim_but_for_lone_surrogates(text: str) -> None:
    shown = item_text("docs", "memo://a", TextItem(None, None, text), None)
    shown.encode()
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert shown == text
    assert item_text("docs", "x", TextItem(None, None, "a\ud800b"), None) == "a\ufffdb"


PARSER = MarkdownIt("commonmark")
hostile = st.one_of(
    st.text(st.characters()),
    st.sampled_from(
        [
            "](command:evil)",
            "![](http://127.0.0.1/p.png)",
            "<img src=x>",
            "```",
            "a\n\n# b",
            "[x][y]",
            "\u202e",
            "\\",
        ]
    ),
)


@pytest.mark.case("LSP-07")
@given(hostile, hostile, hostile, hostile)
def test_lsp_07_an_index_links_its_items_and_nothing_else(
    title: str, uri: str, mime: str, reason: str
) -> None:
    result = ReadResult(
        (TextItem(uri, mime, "x"), UnreadableItem(uri + "2", mime, reason), BlobItem(None, mime, b"\xff")),
        notes=(reason,),
    )
    listed = documents("docs", uri, result, mime, title=title)
    index = document_text("docs", uri, result, mime, title=title) or ""
    links, images = [], 0
    for token in PARSER.parse(index):
        assert token.type not in {"html_block", "fence", "code_block", "blockquote_open"}
        for child in token.children or []:
            assert child.type not in {"html_inline", "code_inline", "hardbreak"}
            images += child.type == "image"
            if child.type == "link_open":
                links.append(child.attrGet("href"))
    assert images == 0
    assert links == [document.address for document in listed]
    index.encode()


@pytest.mark.case("LSP-07")
@given(hostile, hostile, hostile)
def test_lsp_07_titles_and_errors_are_single_lines(title: str, uri: str, reason: str) -> None:
    items = (UnreadableItem(uri, None, reason), TextItem(uri, title, ""))
    for document in documents("docs", uri, ReadResult(items), None, title=title):
        for shown in (document.title, document.error or "", document.mime_type or ""):
            assert len(shown.splitlines()) <= 1
            assert len(shown) <= 500
            assert "](" not in shown

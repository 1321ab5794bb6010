"""Types of servers: what they may decide, and what never."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.documents.media import (
    decide,
    decoded,
    display,
    document_extension,
    essence,
    file_extension,
    is_textual,
    language_id,
)
from mcp_lectern.mcp.wire.resources import BlobItem, Item, TextItem, UnreadableItem

UTF_8 = "héllo".encode()
GARBAGE = b"\x89PNG\r\n\xff\xfe"


@pytest.mark.case("LST-04")
@pytest.mark.parametrize(
    ("mime", "base", "language", "extension"),
    [
        ("text/html;profile=mcp-app", "text/html", "html", "html"),
        ("application/json; charset=utf-8", "application/json", "json", "json"),
        ("TEXT/Markdown", "text/markdown", "markdown", "md"),
        ("text/x-rust", "text/x-rust", "rust", "rs"),
        ("text/x-unheard-of", "text/x-unheard-of", "plaintext", "txt"),
        ("application/vnd.api+json", "application/vnd.api+json", "json", "json"),
        ("image/svg+xml", "image/svg+xml", "xml", "xml"),
        ("inode/directory", "inode/directory", None, None),
        ("image/png", "image/png", None, None),
        ("", "", None, None),
        (None, "", None, None),
        ("not a mime", "", None, None),
        ("text/html\r\nX: y", "", None, None),
        ("text/", "", None, None),
        ("/plain", "", None, None),
        ("text/plain/x", "", None, None),
    ],
)
def test_lst_04_the_base_type_decides(
    mime: str | None, base: str, language: str | None, extension: str | None
) -> None:
    assert (essence(mime), language_id(mime), document_extension(mime, binary=False)) == (
        base,
        language,
        extension,
    )
    assert is_textual(mime) is (language is not None)


@pytest.mark.case("LST-04")
@pytest.mark.parametrize(
    ("mime", "extension"),
    [
        ("text/csv; header=present", "csv"),
        ("text/tab-separated-values", "tsv"),
        ("application/toml", "toml"),
        ("application/jsonl", "jsonl"),
        ("application/graphql", "graphql"),
    ],
)
def test_lst_04_a_language_that_editors_name_differently_is_theirs_to_tell(mime: str, extension: str) -> None:
    assert is_textual(mime)
    assert (language_id(mime), document_extension(mime, binary=False)) == (None, extension)


@pytest.mark.case("LST-04")
def test_lst_04_a_type_is_shown_with_its_parameters_and_without_controls() -> None:
    assert display("Text/HTML; profile=mcp-app") == "Text/HTML; profile=mcp-app"
    assert display("text/html\r\nX: y\x1b\x00") == "text/html X: y"


@pytest.mark.case("LST-04")
def test_lst_04_an_unknown_type_is_plain_text_for_text_and_binary_for_a_blob() -> None:
    for mime in ("not a mime", "inode/directory", "", None):
        assert decide(TextItem(None, mime, "x"), None) == "text"
        assert decide(BlobItem(None, mime, UTF_8), None) == "binary"


@pytest.mark.case("RD-05")
@pytest.mark.parametrize(
    ("item", "listed", "kind"),
    [
        (BlobItem(None, "text/plain", UTF_8), None, "text"),
        (BlobItem(None, "TEXT/x-python;x=y", UTF_8), None, "text"),
        (BlobItem(None, "application/json", b"{}"), None, "text"),
        (BlobItem(None, "application/hal+json", b"{}"), None, "text"),
        (BlobItem(None, "application/atom+xml", b"<a/>"), None, "text"),
        (BlobItem(None, None, UTF_8), None, "binary"),
        (BlobItem(None, None, GARBAGE), None, "binary"),
        (BlobItem(None, None, UTF_8), "text/plain", "text"),
        (BlobItem(None, "", UTF_8), "text/plain", "text"),
        (BlobItem(None, "text/plain", GARBAGE), None, "binary"),
        (BlobItem(None, "image/png", UTF_8), "text/plain", "binary"),
        (BlobItem(None, "text/plain", UTF_8), "image/png", "text"),
        (BlobItem(None, "text/plain", b""), None, "text"),
        (TextItem(None, "image/png", "x"), None, "text"),
        (TextItem(None, None, "H4sIAAAAAAAA/w=="), "application/gzip", "text"),
        (TextItem(None, "text/plain", ""), None, "text"),
        (UnreadableItem(None, "text/plain", "no"), None, "binary"),
    ],
)
def test_rd_05_text_or_binary(item: Item, listed: str | None, kind: str) -> None:
    assert decide(item, listed) == kind


@pytest.mark.case("RD-05")
def test_rd_05_content_is_kept_exactly() -> None:
    assert decoded(BlobItem(None, "text/plain", b"\xef\xbb\xbfa\r\n\x00"), None) == "\ufeffa\r\n\x00"
    assert decoded(BlobItem(None, "text/plain", GARBAGE), None) == GARBAGE
    assert decoded(TextItem(None, None, "\ud800"), None) == "\ud800"
    assert decoded(UnreadableItem(None, None, "no"), None) is None


ACTIVE = [
    *(
        "text/html",
        "image/svg+xml",
        "application/xhtml+xml",
        "text/javascript",
        "application/x-sh",
        "text/x-python",
    ),
    *("application/x-desktop", "application/x-ms-shortcut", "application/internet-shortcut", "text/x-uri"),
    *(
        "application/x-msdownload",
        "application/java-archive",
        "text/csv",
        "application/xml",
        "text/x-powershell",
    ),
    *(
        "application/vnd.ms-excel.sheet.macroenabled.12",
        "application/hta",
        "application/x-php",
        "../../x",
        "",
    ),
]


@pytest.mark.parametrize("mime", ACTIVE)
def test_no_file_gets_the_extension_of_something_that_runs(mime: str) -> None:
    assert file_extension(mime, "text") == "txt"
    assert file_extension(mime, "binary") == "bin"


@given(st.text(), st.sampled_from(["text", "binary"]))
def test_extensions_of_any_type_are_short_words(mime: str, kind: str) -> None:
    for extension in (
        file_extension(mime, "text" if kind == "text" else "binary"),
        document_extension(mime, binary=True) or "x",
    ):
        assert extension.isalnum()
        assert len(extension) <= 8


def test_passive_types_keep_theirs() -> None:
    assert file_extension("image/PNG; x=y", "binary") == "png"
    assert file_extension("text/markdown", "text") == "md"
    assert document_extension("image/png", binary=True) == "png"

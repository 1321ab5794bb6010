"""One address for each document, exact in its key and harmless in its path."""

from __future__ import annotations

import base64
import re
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.documents.address import Key, address, names, parse

TYPES = [
    None,
    "",
    "text/markdown",
    "TEXT/Markdown; x=1",
    "image/png",
    "application/json",
    "not a mime",
    "text/x-foo",
]
strings = st.one_of(
    st.text(st.characters()), st.sampled_from(["", "..", ".", "CON", "a/b", "a:b", "\ud83d\ude00", "\x00"])
)
items = st.one_of(st.none(), st.integers(0, 1000))
ADDRESS = re.compile(r"lectern://mcp/[A-Za-z0-9_-]{1,80}/[A-Za-z0-9_-][A-Za-z0-9._-]{0,79}\?[A-Za-z0-9_-]+")


@given(strings, strings, items, st.sampled_from(TYPES), st.booleans())
def test_round_trip_of_any_strings(
    server: str, uri: str, item: int | None, mime: str | None, binary: bool
) -> None:
    made = address(server, uri, item, mime, binary_extension=binary)
    assert ADDRESS.fullmatch(made)
    key = parse(made)
    assert key == Key(server, uri, item)
    assert names(made, Key(server, uri, item), mime, binary_extension=binary)
    assert made == address(server, uri, item, mime, binary_extension=binary)


@given(strings, strings, items)
def test_an_address_survives_encoding_decoding_and_case_of_scheme(
    server: str, uri: str, item: int | None
) -> None:
    made = address(server, uri, item, "text/plain", binary_extension=False)
    assert quote(made, safe=":/?") == made
    assert unquote(made) == made
    key = Key(server, uri, item)
    for changed in (quote(made), quote(made, safe=""), made.replace("lectern://mcp", "LECTERN://MCP")):
        assert parse(changed) == key
        assert names(changed, key, "text/plain", binary_extension=False)


@pytest.mark.case("URI-06")
def test_uri_06_pairs_with_the_same_joined_key_have_different_addresses() -> None:
    first = address("a", "b:c://x", None, None, binary_extension=False)
    second = address("a:b", "c://x", None, None, binary_extension=False)
    assert first != second
    assert parse(first) == Key("a", "b:c://x")
    assert parse(second) == Key("a:b", "c://x")


@pytest.mark.parametrize(
    ("server", "uri", "item", "mime", "binary", "path"),
    [
        ("docs", "memo://notes/welcome", None, "text/markdown", False, "docs/welcome.md"),
        ("docs", "memo://readme.md", None, "text/markdown", False, "docs/readme.md"),
        ("docs", "memo://a.tar.md", 1, "text/markdown", False, "docs/a-tar-2.md"),
        ("docs", "memo://script.py", None, None, False, "docs/resource-script-py"),
        ("docs", "memo://script.py", None, "not a mime", False, "docs/resource-script-py"),
        ("docs", "memo://script.py", None, "text/plain", False, "docs/script-py.txt"),
        ("docs", "memo://CON", None, "text/plain", False, "docs/resource-CON.txt"),
        ("nul", "memo://x", None, "text/plain", False, "server-nul/x.txt"),
        ("docs", "img://logo.png", None, "image/png", False, "docs/resource-logo-png"),
        ("docs", "img://logo.png", None, "image/png", True, "docs/logo.png"),
        ("docs", "memo://日本", None, "text/plain", False, "docs/resource.txt"),
        ("日本", "", None, None, False, "server/resource"),
        ("ｄｏｃｓ", "memo://ﬁle²", None, "text/plain", False, "docs/file2.txt"),
        ("Crème brûlée", "memo://x%20y/", None, "text/html", False, "Creme-brulee/x-y.html"),
        ("..", "../../etc/passwd", None, "text/plain", False, "server/passwd.txt"),
        ("docs", "x://.bashrc", None, "text/plain", False, "docs/bashrc.txt"),
        ("docs", "x://pic", None, "image/svg+xml", True, "docs/pic.xml"),
        ("docs", "x://a?id=7#top", 0, None, False, "docs/resource-top-1"),
        ("docs", "x://" + "n" * 500, None, "text/plain", False, "docs/" + "n" * 60 + ".txt"),
    ],
)
def test_the_path_is_for_people(
    server: str, uri: str, item: int | None, mime: str | None, binary: bool, path: str
) -> None:
    made = address(server, uri, item, mime, binary_extension=binary)
    assert made.partition("?")[0] == f"lectern://mcp/{path}"


def test_another_path_with_a_valid_key_is_not_the_document() -> None:
    made = address("docs", "memo://a", None, "text/plain", binary_extension=False)
    key = Key("docs", "memo://a")
    for other in (
        made.replace("a.txt", "b.txt"),
        made.replace("a.txt", "A.txt"),
        made.replace("docs/", "docx/"),
        made.replace("docs/", "Docs/"),
        made.replace("a.txt", "a.html"),
    ):
        assert other != made
        assert parse(other) == key
        assert not names(other, key, "text/plain", binary_extension=False)
    assert not names(made, key, "text/html", binary_extension=False)
    assert not names(made, Key("docs", "memo://b"), "text/plain", binary_extension=False)


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "key",
    [
        "",
        "A",
        "====",
        encoded(b""),
        encoded(b":"),
        encoded(b"x:1:a"),
        encoded(b":9:ab"),
        encoded(b"01:1:ab"),
        encoded(b":01:ab"),
        encoded(b"-1:1:ab"),
        encoded(b":1:a\xff"),
        encoded("日".encode().join((b":1:", b""))),
        encoded(b":1:ab") + "=",
        encoded(b":1:ab")[:-1] + "J",
        encoded(b"9999999999:1:ab"),
    ],
)
def test_a_key_that_no_address_has_is_none(key: str) -> None:
    assert parse(f"lectern://mcp/a/b?{key}") is None


@given(st.one_of(st.text(), st.text(st.sampled_from("lectern:/mcp?%A0-_ab#"), max_size=40)))
def test_any_other_text_is_no_address(text: str) -> None:
    assert parse(text) is None
    assert parse("lectern://mcp/a?" + text) is None

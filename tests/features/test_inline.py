"""What of a resource can stand in the place of its mention."""

from __future__ import annotations

import pytest
from tests.support.catalogues import listing
from tests.support.marked import fixture

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.resolve import resolve
from mcp_lectern.features.inline import inline, may_be_inlined
from mcp_lectern.mcp.wire.resources import (
    BlobItem,
    Item,
    ReadResult,
    Resource,
    ResourceTemplate,
    TextItem,
    UnreadableItem,
)


@pytest.mark.parametrize(
    ("mime_type", "expected"),
    [(None, True), ("text/markdown", True), ("application/json", True), ("image/png", False)],
)
def test_what_is_text_as_far_as_its_list_says_may_be_inlined(mime_type: str | None, expected: bool) -> None:
    listed = ServerListing.of(
        "s",
        [Resource("memo://a", "a", mime_type=mime_type)],
        [ResourceTemplate("echo://{v}", "e", mime_type=mime_type)],
    )
    for text in ("@s:memo://a", "@s:echo://x"):
        given = fixture(text, listed)
        assert may_be_inlined(resolve(given.catalogue, given.mentions[0])) is expected


@pytest.mark.parametrize("text", ["@s:memo://b", "@memo://a", "@nosuch:memo://a", "@slow:memo://a"])
def test_what_is_no_known_resource_may_not(text: str) -> None:
    given = fixture(
        text, listing("s", ["memo://a"]), listing("t", ["memo://a"]), listing("slow", listed=False)
    )
    assert not may_be_inlined(resolve(given.catalogue, given.mentions[0]))


PNG = BlobItem(None, "image/png", b"\x89")


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((TextItem(None, None, "a"),), "a"),
        ((TextItem(None, None, "a\n"),), "a"),
        ((TextItem(None, None, "a\r\n"),), "a"),
        ((TextItem(None, None, " a\n\n"),), " a\n"),
        ((TextItem(None, None, ""),), ""),
        ((TextItem(None, None, "a\n"), TextItem(None, None, "b\n")), "a\n\nb"),
        ((TextItem(None, None, "a\ud800"),), "a\ufffd"),
        ((BlobItem(None, "text/plain", "é".encode()),), "é"),
        ((PNG,), None),
        ((TextItem(None, None, "a"), PNG), None),
        ((TextItem(None, None, "a"), UnreadableItem(None, None, "No.")), None),
        ((), None),
    ],
)
def test_all_of_it_or_nothing(items: tuple[Item, ...], expected: str | None) -> None:
    assert inline(ReadResult(items), None) == expected


def test_the_listed_type_decides_about_bytes_that_have_none() -> None:
    read = ReadResult((BlobItem(None, None, b"a"),))
    assert inline(read, "text/plain") == "a"
    assert inline(read, None) is None

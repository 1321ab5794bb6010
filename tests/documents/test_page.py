"""The page in place of a resource that nobody asked to read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.documents.page import unread_page


@pytest.mark.case("SEC-01")
def test_sec_01_the_page_says_what_it_would_read_and_how() -> None:
    page = unread_page("docs", "memo://a/b.md")
    assert "Server: docs\n" in page
    assert "URI:    memo://a/b.md\n" in page
    assert page.endswith("\nmcp-lectern read '@docs:memo://a/b.md'\n")


@pytest.mark.case("SEC-01")
@pytest.mark.parametrize(
    "uri", ["x://'; rm -rf ~ #", "x://$(id)", "x://`id`", "x://a&calc", "x://%PATH%", "x://a\nid", ""]
)
def test_sec_01_no_shell_reads_a_stranger_s_uri(uri: str) -> None:
    assert unread_page("docs", uri).endswith("\nmcp-lectern read --server SERVER URI\n")


@given(st.text(), st.text())
def test_the_page_has_as_many_lines_for_any_names(server: str, uri: str) -> None:
    page = unread_page(server, uri)
    assert len(page.splitlines()) == len(unread_page("docs", uri).splitlines())
    page.encode()

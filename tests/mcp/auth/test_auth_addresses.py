"""Which addresses may be used, where documents lie, and what names a server."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.mcp.auth import addresses, metadata

SERVER = "https://mcp.example/public/mcp"
KNOWN = "/.well-known/oauth-protected-resource"


@pytest.mark.parametrize(
    ("url", "places"),
    [
        (SERVER, [f"https://mcp.example{KNOWN}/public/mcp", f"https://mcp.example{KNOWN}"]),
        (f"{SERVER}/", [f"https://mcp.example{KNOWN}/public/mcp/", f"https://mcp.example{KNOWN}"]),
        ("https://mcp.example", [f"https://mcp.example{KNOWN}"]),
        ("https://mcp.example/", [f"https://mcp.example{KNOWN}"]),
        ("https://mcp.example:8443/x?y=1", [f"https://mcp.example:8443{KNOWN}/x?y=1", f"https://mcp.example:8443{KNOWN}"]),
    ],
)  # fmt: skip
def test_resource_metadata_lies_at_the_path_and_then_at_the_root(url: str, places: list[str]) -> None:
    assert addresses.resource_documents(url, None) == places
    assert addresses.resource_documents(url, "https://a.example/x") == ["https://a.example/x", *places]


@pytest.mark.parametrize(
    ("issuer", "places"),
    [
        (
            "https://auth.example/tenant1",
            [
                "https://auth.example/.well-known/oauth-authorization-server/tenant1",
                "https://auth.example/.well-known/openid-configuration/tenant1",
                "https://auth.example/tenant1/.well-known/openid-configuration",
            ],
        ),
        (
            "https://auth.example",
            [
                "https://auth.example/.well-known/oauth-authorization-server",
                "https://auth.example/.well-known/openid-configuration",
            ],
        ),
        (
            "https://auth.example/",
            [
                "https://auth.example/.well-known/oauth-authorization-server",
                "https://auth.example/.well-known/openid-configuration",
            ],
        ),
    ],
)
def test_server_metadata_lies_where_the_specification_says(issuer: str, places: list[str]) -> None:
    assert addresses.server_documents(issuer) == places


@pytest.mark.parametrize(
    ("resource", "server"),
    [
        (SERVER, SERVER),
        ("https://mcp.example/public", SERVER),
        ("https://mcp.example", SERVER),
        ("https://mcp.example/", SERVER),
        ("https://mcp.example", "https://mcp.example/"),
        ("https://mcp.example/", "https://mcp.example"),
        ("HTTPS://MCP.example:443/public/mcp", SERVER),
        (SERVER, f"{SERVER}/"),
        (f"{SERVER}?a=1", f"{SERVER}?a=1"),
    ],
)
def test_a_resource_covers_its_server_and_what_lies_below(resource: str, server: str) -> None:
    assert addresses.covers(resource, server)


@pytest.mark.parametrize(
    "resource",
    [
        f"{SERVER}/",
        f"{SERVER}-of-others",
        f"{SERVER}/deeper",
        "https://mcp.example/publi",
        "https://evil.example/public/mcp",
        "https://mcp.example.evil.example/public/mcp",
        "https://mcp.example:8443/public/mcp",
        "http://mcp.example/public/mcp",
        "https://user@mcp.example/public/mcp",
        f"{SERVER}#fragment",
        f"{SERVER}?a=1",
        "https://mcp.example\\@evil.example/",
        "mcp.example",
        "",
        "https://[half",
    ],
)
def test_a_resource_covers_nothing_else(resource: str) -> None:
    assert not addresses.covers(resource, SERVER)


@pytest.mark.parametrize(
    "url",
    [
        "http://auth.example/token",
        "ftp://auth.example",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "//auth.example",
        "https://",
        "https://auth.example:99999/",
        "https://user:password@auth.example/",
        "https://auth.example/a b",
        "http://127.0.0.1:80/token",
        "https://localhost/token",
        "http://[::1]/token",
    ],
)
def test_a_remote_server_may_name_neither_plaintext_nor_this_machine(url: str) -> None:
    assert addresses.objection(url, server_url=SERVER)


@pytest.mark.parametrize(
    "url", ["http://localhost:1/x", "http://127.0.0.2/x", "http://[::1]:8/", "https://a.example"]
)
def test_a_server_on_loopback_may_name_this_machine(url: str) -> None:
    assert addresses.objection(url, server_url="http://127.0.0.1:8000/mcp") is None
    assert addresses.objection("http://a.example", server_url="http://127.0.0.1:8000/mcp")


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://mcp.example/", "https://mcp.example"),
        ("https://mcp.example/mcp/", "https://mcp.example/mcp/"),
        ("https://mcp.example/mcp?x=1#y", "https://mcp.example/mcp?x=1"),
    ],
)
def test_a_server_without_metadata_is_named_by_its_address(url: str, canonical: str) -> None:
    assert addresses.canonical(url) == canonical


ODD = st.text(alphabet=st.sampled_from("htps:/.@#?[]%\\ \t\n\x00aé1-")) | st.text()


@given(ODD, ODD)
def test_no_address_raises(one: str, other: str) -> None:
    for url in (one, f"https://{one}", f"http://{one}"):
        addresses.objection(url, server_url=other)
        addresses.covers(url, other)
        addresses.resource_documents(url, other)
        addresses.server_documents(url)
        addresses.canonical(url)


@given(ODD)
def test_what_may_be_used_is_https_or_on_this_machine(rest: str) -> None:
    for url in (rest, f"http://{rest}", f"//{rest}", f"javascript:{rest}"):
        assert addresses.objection(url, server_url=SERVER) or url.lower().startswith("https://")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just("https://mcp.example"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
MEMBERS = st.sampled_from(
    [
        "resource",
        "authorization_servers",
        "scopes_supported",
        "issuer",
        "token_endpoint",
        "revocation_endpoint",
    ]
)


@given(JSON | st.dictionaries(MEMBERS, JSON))
def test_a_document_is_used_or_refused_with_a_reason(document: Any) -> None:
    for read in (
        lambda: metadata.resource_metadata(document, SERVER),
        lambda: metadata.server_metadata(document, "https://mcp.example", SERVER),
    ):
        reason = None
        try:
            read()
        except metadata.UnusableError as error:
            reason = str(error)
        assert reason != ""

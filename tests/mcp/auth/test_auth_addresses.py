"""Which addresses may be used, where documents lie, and what names a server."""

from __future__ import annotations

import pytest

from mcp_lectern.mcp.auth import addresses

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

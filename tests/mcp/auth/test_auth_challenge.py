"""WWW-Authenticate headers as servers write them, well and badly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.mcp.auth.challenge import Challenge, bearer, challenges, union

METADATA = "https://mcp.example/.well-known/oauth-protected-resource"


@pytest.mark.parametrize(
    "header",
    [
        f'Bearer resource_metadata="{METADATA}", scope="a b"',
        f'bearer  scope="a b" ,resource_metadata="{METADATA}"',
        f'BEARER scope = "a b", resource_metadata= "{METADATA}"',
        f'Bearer resource_metadata={METADATA}, scope="a  b a"',
        f'Basic realm="x, y", Bearer scope="a b", resource_metadata="{METADATA}"',
        f'Negotiate YWJjZA==, Bearer scope="a b", resource_metadata="{METADATA}"',
        f'DPoP algs="ES256", Bearer scope="a b",\n resource_metadata="{METADATA}"',
        f'Bearer scope="a b" resource_metadata="{METADATA}"',
        f',, Bearer scope="a b",, resource_metadata="{METADATA}",',
    ],
)
def test_scope_and_metadata_are_found(header: str) -> None:
    challenge = bearer([header])
    assert challenge.scopes == ("a", "b")
    assert challenge.resource_metadata == METADATA


def test_two_headers_are_as_good_as_one() -> None:
    assert bearer(['Basic realm="x"', 'Bearer error="invalid_token"']).error == "invalid_token"


@pytest.mark.parametrize("header", ["", "Bearer", "Basic realm=Bearer", "garbage", "=,=", '"Bearer scope=a"'])
def test_nothing_is_made_up(header: str) -> None:
    challenge = bearer([header])
    assert (challenge.scopes, challenge.resource_metadata, challenge.error) == (None, None, None)


def test_an_escaped_quote_ends_no_text() -> None:
    assert bearer([r'Bearer error_description="say \"no\", twice", error="x"']) == Challenge(
        "Bearer",
        "x",
        'say "no", twice',
        None,
        None,
        {"error_description": 'say "no", twice', "error": "x"},
    )


def test_of_a_repeated_parameter_the_first_counts() -> None:
    assert bearer(['Bearer scope="a", scope="b"']).scopes == ("a",)


def test_a_parameter_belongs_to_its_own_scheme() -> None:
    assert challenges(['Bearer scope="a", Basic realm="scope", charset="UTF-8"']) == [
        ("Bearer", {"scope": "a"}),
        ("Basic", {"realm": "scope", "charset": "UTF-8"}),
    ]


def test_only_the_named_error_asks_for_more_scopes() -> None:
    assert bearer(['Bearer error="insufficient_scope", scope="a"']).insufficient_scope
    assert not bearer(['Bearer error="invalid_token", scope="a"']).insufficient_scope


@given(st.lists(st.text(alphabet=st.sampled_from('Bearer scope="\\, =ab\n\t\x00é')), max_size=3))
def test_no_header_raises_or_hangs(headers: list[str]) -> None:
    assert isinstance(bearer(headers), Challenge)


def test_an_endless_header_is_read_in_time() -> None:
    assert bearer(["Bearer " + 'a="\\' * 200_000]).scopes is None
    assert bearer(['Bearer scope="' + "\\" * 1_000_000]).scopes is None


def test_a_union_keeps_order_and_repeats_nothing() -> None:
    assert union(("b", "a"), None, ("a", "c")) == ("b", "a", "c")

"""No secret in a line that a log keeps."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.config.mask import HIDDEN, masker


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("key=s3cret/token here", f"key={HIDDEN} here"),
        ("url?k=s3cret%2Ftoken&x", f"url?k={HIDDEN}&x"),
        ('{"q": "a\\"b\\nc-longer"}', f'{{"q": "{HIDDEN}"}}'),
        ("pin 1234, not 51234 nor 12345", f"pin {HIDDEN}, not 51234 nor 12345"),
        ("ok is true, a to z", "ok is true, a to z"),
    ],
)
def test_a_value_is_hidden_in_every_spelling(line: str, shown: str) -> None:
    assert masker(["s3cret/token", 'a"b\nc-longer', "1234", "true", "a", "ok", ""])(line) == shown


@pytest.mark.parametrize(
    "line",
    [
        "Authorization: Bearer abc.def-XYZ",
        "authorization=Basic QWxhZGRpbjpvcGVu",
        '"Authorization": "abc.def-XYZ"',
        "got Bearer abc.def-XYZ from there",
        "X-Api-Key: abc.def-XYZ",
        "Cookie: sid=abc.def-XYZ",
    ],
)
def test_credentials_of_a_header_are_hidden_unasked(line: str) -> None:
    shown = masker([])(line)
    assert HIDDEN in shown
    assert "abc" not in shown
    assert "QWxh" not in shown


def test_longer_secrets_are_hidden_first() -> None:
    assert masker(["secret-one", "secret-one-and-more"])("secret-one-and-more") == HIDDEN


def test_a_long_line_takes_little_time() -> None:
    mask = masker(["s3cret"])
    begin = time.process_time()
    for piece in ("authorization:", "bearer ", "cookie ", "x-api-key   ", "a"):
        mask(piece * (200_000 // len(piece)))
    assert time.process_time() - begin < 2


@given(st.text(min_size=8, max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_no_line_holds_a_long_secret(secret: str, before: str, after: str) -> None:
    shown = masker([secret])(before + secret + after)
    assert secret not in shown or secret in HIDDEN + before + HIDDEN + after + HIDDEN

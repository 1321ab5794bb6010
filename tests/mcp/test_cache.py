"""How long an answer may be used again, and by whom; hints as servers really send them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.mcp.client.cache import Cache, CacheKey
from mcp_lectern.mcp.wire.contents import read_result
from mcp_lectern.mcp.wire.pages import LARGEST_TTL_MS, ttl_ms

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def cache(clock: Clock, limit: int = 100, held: tuple[CacheKey, ...] = ()) -> Cache[str]:
    return Cache(limit, len, held.__contains__, clock)


def key(uri: str = "a://1", context: str | None = "me", method: str = "resources/read") -> CacheKey:
    return CacheKey("it", method, uri, context)


@pytest.mark.case("RD-10")
@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (-5, 0),
        (0, 0),
        (None, 0),
        ("60000", 0),
        (True, 0),
        ([], 0),
        (float("nan"), 0),
        (1.5, 1),
        (60_000, 60_000),
        (9e18, LARGEST_TTL_MS),
        (float("inf"), LARGEST_TTL_MS),
        (10**400, LARGEST_TTL_MS),
    ],
)
def test_rd_10_a_hint_is_a_number_of_milliseconds_or_none(hint: Any, expected: int) -> None:
    assert ttl_ms(hint) == expected


@pytest.mark.case("RD-10")
@given(JSON, JSON)
def test_rd_10_no_hint_ever_costs_the_result(hint: Any, scope: Any) -> None:
    read = read_result({"contents": [{"uri": "a", "text": "x"}], "ttlMs": hint, "cacheScope": scope})
    assert read is not None
    assert len(read.items) == 1
    assert 0 <= read.ttl_ms <= LARGEST_TTL_MS
    assert math.isfinite(read.ttl_ms / 1000)
    assert read.cache_scope == ("public" if scope == "public" else "private")


@pytest.mark.case("RD-10")
def test_rd_10_fresh_ends_with_the_time_and_at_hand_does_not() -> None:
    clock = Clock()
    kept = cache(clock)
    kept.keep(key(), "text", ttl_ms=1500, public=False)
    clock.now += 1.4
    assert kept.fresh(key()) == "text"
    clock.now += 0.1
    assert kept.fresh(key()) is None
    assert kept.at_hand(key()) == "text"


@pytest.mark.case("RD-10")
def test_rd_10_no_time_is_never_fresh() -> None:
    kept = cache(Clock())
    kept.keep(key(), "text", ttl_ms=0, public=False)
    assert kept.fresh(key()) is None
    assert kept.at_hand(key()) == "text"


@pytest.mark.case("RD-10")
def test_rd_10_a_notice_beats_the_time_that_is_left() -> None:
    kept = cache(Clock())
    kept.keep(key(), "text", ttl_ms=LARGEST_TTL_MS, public=False)
    kept.expire(lambda known: known.parameters == "a://1")
    assert kept.fresh(key()) is None
    assert kept.at_hand(key()) == "text"
    kept.keep(key(), "newer", ttl_ms=1000, public=False)
    assert kept.fresh(key()) == "newer"


@pytest.mark.case("RD-10")
def test_rd_10_another_method_uri_or_server_is_another_answer() -> None:
    kept = cache(Clock())
    kept.keep(key(), "text", ttl_ms=1000, public=True)
    others = [key("a://2"), key(method="resources/list"), CacheKey("other", "resources/read", "a://1", "me")]
    assert [kept.at_hand(other) for other in others] == [None, None, None]


@pytest.mark.case("RD-10")
@pytest.mark.parametrize(("public", "seen"), [(False, None), (True, "text")])
def test_rd_10_private_is_for_the_same_authorization_alone(public: bool, seen: str | None) -> None:
    kept = cache(Clock())
    kept.keep(key(context="me"), "text", ttl_ms=1000, public=public)
    assert kept.fresh(key(context="me")) == "text"
    assert kept.fresh(key(context="somebody else")) == seen
    assert kept.fresh(key(context="")) == seen


def test_an_answer_replaces_the_earlier_one_whatever_its_scope() -> None:
    kept = cache(Clock())
    kept.keep(key(), "everybody's", ttl_ms=1000, public=True)
    kept.keep(key(), "mine", ttl_ms=0, public=False)
    assert kept.at_hand(key()) == "mine"
    assert kept.fresh(key()) is None
    kept.keep(key(), "everybody's again", ttl_ms=1000, public=True)
    assert kept.at_hand(key()) == "everybody's again"


def test_what_is_used_least_makes_room_and_what_is_held_stays() -> None:
    held = key("held://")
    kept = cache(Clock(), limit=10, held=(held,))
    kept.keep(held, "x" * 8, ttl_ms=0, public=False)
    for number in range(5):
        kept.keep(key(f"a://{number}"), "yyyy", ttl_ms=0, public=False)
    assert kept.at_hand(held) == "x" * 8
    assert [number for number in range(5) if kept.at_hand(key(f"a://{number}"))] == [4]
    kept.keep(key("big://"), "z" * 50, ttl_ms=0, public=False)
    assert kept.at_hand(key("big://")) == "z" * 50


def test_what_turns_private_is_nobody_elses_any_more() -> None:
    kept = cache(Clock())
    kept.keep(key(context="me"), "for all", ttl_ms=1000, public=True)
    assert kept.at_hand(key(context="you")) == "for all"
    kept.keep(key(context="me"), "mine", ttl_ms=1000, public=False)
    assert kept.at_hand(key(context="me")) == "mine"
    assert kept.at_hand(key(context="you")) is None

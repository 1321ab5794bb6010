"""A list in its best order, the words of an index, and long sorts in short steps."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.catalogue import vocabulary
from mcp_lectern.catalogue.order import Ordered, standing
from mcp_lectern.catalogue.vocabulary import sorted_in_slices, vocabulary_of
from mcp_lectern.mcp.wire.packed import Packed
from mcp_lectern.mcp.wire.resources import Annotations, Resource

MOMENTS = st.none() | st.sampled_from(["2026-01-01", "2020-05-05T10:00:00Z", "yesterday", ""])
NOTES = st.none() | st.builds(
    Annotations, st.just(()), st.none() | st.sampled_from([0.0, 0.25, 0.5, 1.0]), MOMENTS
)


@given(st.lists(NOTES, max_size=20), st.integers(1, 5))
def test_the_best_come_first_and_keep_their_standing_and_their_address(
    notes: list[Annotations | None], size: int
) -> None:
    entries = [Resource(f"a://{number}", "n", annotations=one) for number, one in enumerate(notes)]
    expected = sorted(entries, key=lambda entry: standing(entry.annotations))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "SLICE", size)
        ordered = Ordered.of(Packed.of(Resource, entries))
    assert list(ordered) == expected
    assert ordered[1:3] == tuple(expected[1:3])
    for number, entry in enumerate(expected):
        assert ordered.standing(number) == standing(entry.annotations)
        assert ordered.number(entry.uri) == number
    assert ordered.number("a://none") is None


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 7))
def test_sorting_in_slices_is_sorting(keys: list[int], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "SLICE", size)
        found = list(sorted_in_slices(range(len(keys)), keys.__getitem__))
    assert found == sorted(range(len(keys)), key=keys.__getitem__)


@given(
    st.lists(st.sets(st.binary(min_size=1, max_size=3).filter(lambda w: b"\n" not in w))), st.integers(1, 5)
)
def test_a_vocabulary_holds_every_word_with_all_its_records(records: list[set[bytes]], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "SLICE", size)
        found = vocabulary_of(records)
    expected: defaultdict[bytes, list[int]] = defaultdict(list)
    for number, words in enumerate(records):
        for word in words:
            expected[word].append(number)
    assert [found.word(number) for number in range(len(found))] == sorted(expected)
    assert all(list(found.records(found.exactly(word))) == numbers for word, numbers in expected.items())
    assert not found.exactly(b"none of them")
    assert found.count(range(len(found))) == sum(map(len, records))

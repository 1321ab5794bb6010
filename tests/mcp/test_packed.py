"""Packed descriptors are the same descriptors, field by field, and are found by their addresses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.mcp.wire.packed import Packed, Packer
from mcp_lectern.mcp.wire.resources import Annotations, Resource, ResourceTemplate

TEXT = st.text(st.characters() | st.sampled_from("\0\ud800\xff "), max_size=6)
OPTIONAL = st.none() | TEXT
ROLES = st.lists(st.sampled_from(["user", "assistant"]) | TEXT, max_size=3).map(tuple)
NOTES = st.none() | st.builds(Annotations, ROLES, st.none() | st.floats(allow_nan=False), OPTIONAL)
RESOURCES = st.lists(
    st.builds(Resource, TEXT, TEXT, OPTIONAL, OPTIONAL, OPTIONAL, st.none() | st.integers(), NOTES),
    max_size=9,
    unique_by=lambda entry: entry.uri,
)
TEMPLATES = st.lists(
    st.builds(ResourceTemplate, TEXT, TEXT, OPTIONAL, OPTIONAL, OPTIONAL, NOTES),
    max_size=5,
    unique_by=lambda entry: entry.uri_template,
)


@given(RESOURCES)
def test_what_was_packed_is_there_again(entries: list[Resource]) -> None:
    packed = Packed.of(Resource, entries)
    assert list(packed) == entries
    assert packed == entries
    assert packed == Packed.of(Resource, entries)
    assert packed[1:4] == tuple(entries[1:4])
    assert [packed.notes(number) for number in range(len(packed))] == [one.annotations for one in entries]


@given(TEMPLATES)
def test_so_are_templates(entries: list[ResourceTemplate]) -> None:
    packed = Packed.of(ResourceTemplate, entries)
    assert list(packed) == entries
    assert [packed.by_address.get(one.uri_template) for one in entries] == entries


@given(RESOURCES, st.lists(TEXT, max_size=5))
def test_an_address_finds_its_descriptor_and_nothing_else_does(
    entries: list[Resource], others: list[str]
) -> None:
    expected = {entry.uri: entry for entry in entries}
    found = Packed.of(Resource, entries).by_address
    assert dict(found) == expected
    assert list(found) == list(expected)
    for address in (*others, *(f"{uri}\0" for uri in expected), *(uri[:-1] for uri in expected)):
        assert (address in found) == (address in expected)
        assert found.get(address, "nothing") == expected.get(address, "nothing")
    assert found.first(3) == tuple(expected)[:3]
    assert found.first(100) == tuple(expected)
    assert list(found.among([*others, *expected])) == [*filter(expected.__contains__, others), *expected]


def test_a_record_that_only_begins_alike_is_not_it() -> None:
    found = Packed.of(Resource, [Resource("a", "b\0c"), Resource("a\0b", "c"), Resource("x", "y")]).by_address
    assert found.number("a\0b") == 1
    assert found.number("x\0y") is None
    number: object = 7
    assert number not in found


def test_the_first_of_each_address_stays() -> None:
    packer = Packer(Resource)
    packer.extend([Resource("a://1", "first"), Resource("a://2", "other")])
    packer.extend([Resource("a://1", "second")])
    assert len(packer) == 2
    assert [entry.name for entry in packer.packed()] == ["first", "other"]


def test_something_else_is_not_equal() -> None:
    one = Packed.of(Resource, [Resource("a://1", "n")])
    assert one != [Resource("a://1", "m")]
    assert one != []
    assert one != 7
    assert Packed(Resource) != Packed(ResourceTemplate)


def test_a_packed_descriptor_costs_little_more_than_its_texts() -> None:
    entry = Resource(
        "file:///home/user/readme.md", "readme.md", "Read me", "What this is", "text/markdown", 9
    )
    texts = f"{entry.uri}{entry.name}Read meWhat this istext/markdown9"
    assert len(Packed.of(Resource, [entry]).text) == len(texts) + 5

"""What is worth a comparison is found in prepared text as by looking at every URI."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.catalogue.suggest import _COMPARED, _LONGEST, _known, _near

URIS = st.text("ab/:A.éß\n", min_size=1, max_size=12) | st.text(
    "a/", min_size=_LONGEST, max_size=_LONGEST + 2
)


def naive(uris: list[str], uri: str) -> list[str]:
    folded = uri.casefold()
    last = "/" + folded.rstrip("/").rpartition("/")[2]
    middle = len(folded) // 2
    found = []
    for one in uris:
        other = one.casefold()
        near = abs(len(other) - len(folded)) <= max(3, len(uri) // 4)
        alike = other.startswith(folded[:middle]) or other.endswith(folded[middle:])
        if len(one) <= _LONGEST and ((near and alike) or (len(last) > 3 and other.endswith(last))):
            found.append(one)
    return found[:_COMPARED]


@given(st.lists(URIS, max_size=40, unique=True), URIS)
def test_the_candidates_are_those_that_a_plain_look_finds(uris: list[str], uri: str) -> None:
    assert list(_near(_known(tuple(uris)), uri)) == naive(uris, uri)

"""What somebody may have meant by a URI or a server's name that is not there; must not know where it stood.

Bounded work on a catalogue of any size: every single slip of the finger is looked up (so it is found among
any number of URIs); anything wilder is compared with a bounded number of candidates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher, get_close_matches
from itertools import chain, islice
from string import ascii_lowercase, digits

from mcp_lectern.catalogue.model import ServerListing

MOST = 3
_LONGEST = 200
"""Characters of a text for which suggestions are made; a longer one was hardly typed."""
_LOOKED_AT = 10_000
_COMPARED = 16
_LETTERS = ascii_lowercase + digits + "-_./:ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CUTOFF = 0.75


def similar_uris(listing: ServerListing, uri: str) -> tuple[str, ...]:
    """Up to three listed URIs close to this one, the closest first."""
    if not 0 < len(uri) <= _LONGEST:
        return ()
    listed = listing.by_uri
    slips = dict.fromkeys(listed.among(_slips(uri)))
    if slips:
        return tuple(islice(slips, MOST))
    likeness = {near: _likeness(near, uri) for near in _near(listed.first(_LOOKED_AT), uri)}
    close = (near for near, ratio in likeness.items() if ratio >= _CUTOFF)
    return tuple(sorted(close, key=lambda near: -likeness[near])[:MOST])


def similar_servers(listings: Mapping[str, ServerListing], name: str, uri: str) -> tuple[str, ...]:
    """Up to three configured servers: those that list the URI first, then those with a close name."""
    owners = (server for server, listing in listings.items() if uri in listing.by_uri)
    close: Iterable[str] = ()
    if len(name) <= _LONGEST:
        folded: dict[str, str] = {}
        for server in islice(listings, 1000):
            folded.setdefault(server[:_LONGEST].casefold(), server)
        close = (folded[match] for match in get_close_matches(name.casefold(), folded, MOST))
    return tuple(islice(dict.fromkeys(chain(owners, close)), MOST))


def _slips(text: str) -> Iterator[str]:
    """Every text from which this one comes by one letter too few, too many, wrong, or two swapped."""
    for place in range(len(text) + 1):
        head, tail = text[:place], text[place:]
        if tail:
            yield head + tail[1:]
            yield head + tail[1:2] + tail[0] + tail[2:]
        for letter in _LETTERS:
            yield head + letter + tail
            yield head + letter + tail[1:]


def _near(uris: Iterable[str], uri: str) -> Iterator[str]:
    """Candidates worth a comparison: of similar length and alike at one end, or of the same file name."""
    folded = uri.casefold()
    last = "/" + folded.rstrip("/").rpartition("/")[2]
    middle = len(folded) // 2
    head, tail = folded[:middle], folded[middle:]
    few = max(3, len(uri) // 4)

    def worth(candidate: str) -> bool:
        other = candidate.casefold()
        close = abs(len(other) - len(folded)) <= few and (other.startswith(head) or other.endswith(tail))
        return close or (len(last) > 3 and other.endswith(last))

    shown = (candidate for candidate in uris if len(candidate) <= _LONGEST)
    return islice((candidate for candidate in shown if worth(candidate)), _COMPARED)


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False).ratio()

"""What somebody may have meant by a URI or a server's name that is not there; must not know where it stood.

Bounded work on a catalogue of any size: every single slip of the finger is looked up (so it is found among
any number of URIs); anything wilder is compared with a bounded number of candidates.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache
from itertools import accumulate, chain, islice
from string import ascii_lowercase, digits

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.template import Template
from mcp_lectern.mentions.grammar import may_be_markup

MOST = 3
_LONGEST = 200
"""Characters of a text for which suggestions are made; a longer one was hardly typed."""
_BEGINNING = 1_000
"""Characters of a longer one that may be a URI with markup behind: a link's target is no part of it."""
_LOOKED_AT = 10_000
_COMPARED = 16
_LETTERS = ascii_lowercase + digits + "-_./:ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CUTOFF = 0.75
"""Likeness of two schemes."""
_REST_CUTOFF = 0.5
"""Likeness of what follows them."""
_END = "\n"


def similar_uris(listing: ServerListing, uri: str) -> tuple[str, ...]:
    """Up to three listed URIs close to this one, the closest first."""
    return tuple(islice(dict.fromkeys(chain(_before_markup(listing, uri), _similar(listing, uri))), MOST))


def _before_markup(listing: ServerListing, uri: str) -> Iterator[str]:
    """Those with which this one begins, and then goes on with what may be markup; the longest first."""
    for length in range(min(len(uri), _BEGINNING) - 1, 0, -1):
        if may_be_markup(uri[length]) and uri[:length] in listing.by_uri:
            yield uri[:length]


def _similar(listing: ServerListing, uri: str) -> tuple[str, ...]:
    if not 0 < len(uri) <= _LONGEST:
        return ()
    listed = listing.by_uri
    slips = dict.fromkeys(slip for slip in listed.among(_slips(uri)) if _alike(slip, uri))
    if slips:
        return tuple(islice(slips, MOST))
    known = _known(listed.first(_LOOKED_AT))
    if respelled := tuple(islice(_with_another_scheme(listing, known, uri), MOST)):
        return respelled
    likeness = {near: _likeness(near, uri) for near in _near(known, uri)}
    close = (near for near, ratio in likeness.items() if ratio >= _REST_CUTOFF and _schemes_alike(near, uri))
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


@dataclass(frozen=True, slots=True)
class _Known:
    """The first URIs of a list, ready to be compared with: folded, one a line, and their schemes."""

    uris: tuple[str, ...]
    text: str
    starts: array[int]
    schemes: tuple[str, ...]

    def numbers(self, part: str) -> Iterator[int]:
        """Those in whose line this stands; ``part`` begins or ends with a line's end."""
        position = self.text.find(part)
        while position >= 0:
            number = bisect_right(self.starts, position + part.startswith(_END)) - 1
            if number < len(self.uris):
                yield number
            position = self.text.find(part, position + 1)

    def length(self, number: int) -> int:
        """Of one line, in characters."""
        return self.starts[number + 1] - self.starts[number] - 1


@lru_cache(maxsize=16)
def _known(uris: tuple[str, ...]) -> _Known:
    """Made once for a list: a document may hold very many mentions of what is not there."""
    schemes = dict.fromkeys(uri.partition(":")[0] for uri in uris if ":" in uri[:_LONGEST])
    shown = tuple(uri for uri in uris if len(uri) <= _LONGEST)
    lines = [_line(uri) for uri in shown]
    starts = array("L", accumulate((len(line) + 1 for line in lines), initial=1))
    return _Known(shown, _END + "".join(line + _END for line in lines), starts, tuple(schemes))


def _line(uri: str) -> str:
    return uri.casefold().replace(_END, "\0")


def _near(known: _Known, uri: str) -> Iterator[str]:
    """Candidates worth a comparison: of similar length and alike at one end, or of the same file name."""
    folded = _line(uri)
    last = "/" + folded.rstrip("/").rpartition("/")[2]
    middle = len(folded) // 2
    few = max(3, len(uri) // 4)
    alike = chain(known.numbers(_END + folded[:middle]), known.numbers(folded[middle:] + _END))
    found = {number for number in alike if abs(known.length(number) - len(folded)) <= few}
    if len(last) > 3:
        found.update(known.numbers(last + _END))
    return (known.uris[number] for number in sorted(found)[:_COMPARED])


def _with_another_scheme(listing: ServerListing, known: _Known, uri: str) -> Iterator[str]:
    """The URI with a close scheme of the server's, where that makes it one of its URIs."""
    own, _, rest = uri.partition(":")
    templates = [Template.parse(entry.uri_template) for entry in listing.templates[:_COMPARED]]
    usable = [template for template in templates if isinstance(template, Template)]
    begun = (each.start.partition(":")[0] for each in usable if ":" in each.start[:_LONGEST])
    schemes = dict.fromkeys(chain(begun, known.schemes))
    for scheme in islice(schemes, _COMPARED):
        other = f"{scheme}:{rest}"
        if (
            scheme != own
            and _ratio(scheme, own) >= _CUTOFF
            and (other in listing.by_uri or any(template.match(other) is not None for template in usable))
        ):
            yield other


def _alike(near: str, uri: str) -> bool:
    """Whether more is the same than the scheme: one letter alone is another one, and no slip."""
    return near.partition(":")[0] != uri.partition(":")[0] or _likeness(near, uri) > 0


def _schemes_alike(one: str, other: str) -> bool:
    return _ratio(one.partition(":")[0], other.partition(":")[0]) >= _CUTOFF


def _likeness(one: str, other: str) -> float:
    """Of what follows the scheme: the one of a server makes all of its URIs alike."""
    return _ratio(*(uri.partition(":")[2].lstrip("/") or uri for uri in (one, other)))


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False).ratio()

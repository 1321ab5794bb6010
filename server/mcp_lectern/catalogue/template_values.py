"""What a piece of a URI may say of one variable of a template; must not know where in the URI it stands.

A piece may say several things: ``%20`` in ``{+a}`` is a space or itself, ``1,2`` in ``{a}`` a list or an
associative array. Each is proposed in its turn, the likeliest first. Exact proposals are those that go out as
this very piece; the others make allowances for what a careful writer would have encoded.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, islice, pairwise, product
from typing import NamedTuple, TypeVar
from urllib.parse import unquote

from mcp_lectern.catalogue.template_expand import RESERVED, Operator, Variable, encode

Meaning = str | tuple[str, ...] | tuple[tuple[str, str], ...]
"""A value, a list or the pairs of an associative array; never an empty one, which goes out like none."""
Pair = tuple[str, str]
T = TypeVar("T")

MOST_STEPS = 3_000
"""For one URI and one template: some twenty milliseconds. What takes more is given up."""
_ONE_STEP = 50
"""Characters that are looked at in one of them, some microseconds long."""
_MOST_SPELLINGS = 64
"""Values that one member of a list or an array is read as."""

_PLAIN = re.compile(r"[A-Za-z0-9._~-]*")
_ALLOWED = re.compile(rf"(?:[A-Za-z0-9._~{re.escape(RESERVED)}-]|%[0-9A-Fa-f]{{2}})*")
_TRIPLETS = re.compile(r"((?:%[0-9A-Fa-f]{2})+)")
_TWO_DIGITS = re.compile(r"[0-9A-Fa-f]{2}")


class Work:
    """What may still be done. ``cut_short``: not all was tried, so that finding nothing says nothing.

    ``left_out``: nor was all of what a reader was to leave out.
    """

    __slots__ = ("_steps", "cut_short", "left_out", "spent")

    def __init__(self, steps: int = MOST_STEPS) -> None:
        self._steps = steps
        self.spent = 0
        self.cut_short = False
        self.left_out = False

    def goes_on(self, characters: int = 0) -> bool:
        """Take one more step, over so many characters; False if that is too much."""
        self.spent += 1 + characters // _ONE_STEP
        if self.spent > self._steps:
            self.cut_short = True
        return self.spent <= self._steps


class Binding(NamedTuple):
    """What is known of a variable: None if it has no value; not ``whole`` if that is only its beginning."""

    value: Meaning | None
    whole: bool = True

    @property
    def argument(self) -> str | list[str] | dict[str, str]:
        """The value as a template takes it; one that is known only by its beginning counts as that."""
        if self.value is None or isinstance(self.value, str):
            return self.value or ""
        pairs = [each for each in self.value if isinstance(each, tuple)]
        return dict(pairs) if pairs else [each for each in self.value if isinstance(each, str)]


NO_VALUE = Binding(None)


def both(known: Binding | None, said: Binding) -> Binding | None:
    """What the two say together of one variable, None where they contradict."""
    if known is None or known == said:
        return said
    for one, other in ((known, said), (said, known)):
        texts = isinstance(one.value, str) and isinstance(other.value, str)
        if texts and not other.whole and str(one.value).startswith(str(other.value)):
            return one
    return None


class Reader:
    """Reads for one variable of an expression. ``exact`` as the module says.

    ``most``: ways to read the same text that are gone into. One suffices where nothing else is known of the
    variable; else it may be another one than the first, and where there are more the work says so.
    """

    def __init__(self, operator: Operator, variable: Variable, *, exact: bool, most: int, work: Work) -> None:
        self._operator = operator
        self._variable = variable
        self._exact = exact
        self._most = most
        self._work = work
        # A separator that values may hold themselves does not say where one of them ends.
        self._loose = operator.reserved or operator.separator == "."

    def of(self, items: Sequence[str]) -> Iterator[Binding]:
        """What the items, texts between separators, may say."""
        if self._operator.named:
            return self._named(items)
        if self._variable.explode:
            return self._exploded(items)
        return self._one(self._operator.separator.join(items))

    def _named(self, items: Sequence[str]) -> Iterator[Binding]:
        pairs = [_pair(item) for item in items]
        bare = self._operator.if_empty
        if self._exact and any(not v and item != n + bare for item, (n, v) in zip(items, pairs, strict=True)):
            return
        own = all(name == self._variable.name for name, _ in pairs)
        if not self._variable.explode:
            yield from self._one(pairs[0][1]) if own and len(pairs) == 1 else ()
            return
        for values in self._each(value for _, value in pairs) if own else ():
            yield Binding(values)
            if len(values) == 1:
                yield Binding(values[0])
        yield from self._array(pairs)

    def _one(self, text: str) -> Iterator[Binding]:
        """Of what does not explode: a list or an array is written with commas."""
        longest = self._variable.prefix
        shortest = next(self._spellings(text), "")
        if longest is not None and len(shortest) > longest:
            return
        for value in self._some(self._spellings(text)):
            if longest is None or len(value) <= longest:
                yield Binding(value, longest is None or len(value) < longest)
        if longest is not None or "," not in text:
            return
        for members in self._cuts(text, ",", loose=self._operator.reserved):
            for values in self._each(members) if len(members) > 1 else ():
                yield Binding(values)
                names = values[::2]
                if len(values) % 2 == 0 and len(set(names)) == len(names):
                    yield Binding(tuple(zip(names, values[1::2], strict=True)))

    def _exploded(self, items: Sequence[str]) -> Iterator[Binding]:
        """A list or an array, each member an item; a member may hold the separator where that is loose."""
        text = self._operator.separator.join(items)
        if all("=" in item for item in items):
            yield from self._array([_pair(item) for item in items])
        cuts = self._cuts(text, self._operator.separator, loose=self._loose)
        if self._loose and next(self._spellings(text), None) is None:
            cuts = iter(())  # no cut makes a list of what cannot be text
        for members in islice(cuts, 1):
            yield from map(Binding, self._each(members))
        yield from map(Binding, self._some(self._spellings(text)))
        for members in cuts:
            yield from map(Binding, self._each(members))
        for pieces in self._members(items) if self._loose else ():
            for pairs in product(*map(self._pairs, pieces)):
                yield from self._array(pairs)

    def _members(self, items: Sequence[str]) -> Iterator[list[str]]:
        """The ways to join items so that each has an equals sign."""
        separator, reserved = self._operator.separator, self._operator.reserved
        signs = [number for number, item in enumerate(items) if "=" in item]
        for chosen in product((True, False) if reserved else (True,), repeat=len(signs)):
            heads = list(compress(signs, chosen))
            if not heads or not self._work.goes_on(len(items)):
                return
            for cuts in product(*(range(after, head, -1) for head, after in pairwise(heads))):
                if not self._work.goes_on(len(items)):
                    return
                edges = [0, *cuts, len(items)]
                yield [separator.join(items[start:end]) for start, end in pairwise(edges)]

    def _pairs(self, piece: str) -> list[Pair]:
        """The ways to cut a piece at one of its equals signs."""
        parts = piece.split("=")
        most = len(parts) if self._operator.reserved else min(len(parts), 2)
        return [("=".join(parts[:at]), "=".join(parts[at:])) for at in range(1, most)]

    def _array(self, pairs: Sequence[Pair]) -> Iterator[Binding]:
        for names in self._each(name for name, _ in pairs):
            for values in self._each(value for _, value in pairs) if len(set(names)) == len(names) else ():
                yield Binding(tuple(zip(names, values, strict=True)))

    def _each(self, texts: Iterable[str]) -> Iterator[tuple[str, ...]]:
        """The ways to read texts that are each a value."""
        choices = [list(self._some(self._spellings(text), _MOST_SPELLINGS)) for text in texts]
        return self._some(product(*choices))

    def _cuts(self, text: str, mark: str, *, loose: bool) -> Iterator[list[str]]:
        """The text cut at every mark and, where that may be part of a value, at fewer, down to none."""
        pieces = text.split(mark)
        if not loose:
            yield pieces
            return
        for cut in self._some(product((True, False), repeat=len(pieces) - 1)):
            edges = [0, *compress(range(1, len(pieces)), cut), len(pieces)]
            yield [mark.join(pieces[start:end]) for start, end in pairwise(edges)]

    def _some(self, found: Iterator[T], limit: int = sys.maxsize) -> Iterator[T]:
        """The first of these, so many as are gone into."""
        for number, one in enumerate(found):
            if number >= min(self._most, limit):
                self._work.left_out = self._work.left_out or self._most > 1
                return
            if not self._work.goes_on():
                return
            yield one

    def _spellings(self, text: str) -> Iterator[str]:
        """The values that go out as this text; the one without needless percent signs comes first."""
        if not self._work.goes_on(len(text)):
            return
        if not self._exact:
            yield decoded(text)
        elif _PLAIN.fullmatch(text):
            yield text
        elif not self._operator.reserved:
            value = _octets_decoded(text)
            if value is not None and encode(self._operator, value) == text:
                yield value
        elif _ALLOWED.fullmatch(text):
            if not self._work.goes_on(text.count("%") * _ONE_STEP // 4):
                return
            choices = _choices(text)
            yield from map("".join, product(*choices))


def _pair(item: str) -> Pair:
    name, _, value = item.partition("=")
    return name, value


def _choices(text: str) -> list[tuple[str, ...]]:
    """What each part of a text in a reserved expansion was, which lets triplets through as they are."""
    choices: list[tuple[str, ...]] = []
    position = 0
    for found in _TRIPLETS.finditer(text):
        choices.append((text[position : found.start()],))
        position = found.end()
        choices += _characters(found[0], _TWO_DIGITS.match(text, position) is not None)
    return [*choices, (text[position:],)]


def _characters(triplets: str, digits: bool) -> Iterator[tuple[str, ...]]:
    """``digits``: whether two follow, so that a percent sign in front of them would be a triplet."""
    position = 0
    while position < len(triplets):
        first = int(triplets[position + 1 : position + 3], 16)
        end = position + 3 * (1 + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0))
        one = triplets[position:end]
        character = _octets_decoded(one)
        if character is None or len(character) != 1 or one != one.upper():
            character, one = None, triplets[position : position + 3]
        position += len(one)
        sign = character == "%" and digits and position == len(triplets)
        kept = character is None or sign or (character != "%" and _ALLOWED.fullmatch(character))
        yield (one,) if kept else (str(character), one)


def _octets_decoded(text: str) -> str | None:
    try:
        return unquote(text, errors="surrogatepass")
    except UnicodeDecodeError:
        return None


def decoded(text: str) -> str:
    """The text without percent-encoding, or as it is where that is no UTF-8."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text

"""Many descriptors as one byte string, each made when somebody looks at it; must not know who lists them.

A descriptor as an object costs a kilobyte with its texts; a record costs little more than the texts. Of each
there is one record: its fields as UTF-8, in order, a NUL between two of them. One that does not fit that form
(it holds a NUL or a lone surrogate, say) is JSON behind the byte ``0xff``, which no UTF-8 begins with.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final, Generic, TypeVar, overload

from .resources import Annotations, Resource, ResourceTemplate

Entry = TypeVar("Entry", bound=Resource | ResourceTemplate)
Json = Any
Fields = tuple[str, str, str | None, str | None, str | None, int | None, Annotations | None]
"""Address, name, title, description, MIME type, size, annotations."""

_END: Final = "\0"
_ODD: Final = 0xFF
_PLAIN_FIELDS: Final = 6
_ROLES: Final = frozenset(("user", "assistant"))
_EMPTY_SLOT: Final = 0
_HASH: Final = 0xFFFFFFFF


class Packed(Sequence[Entry], Generic[Entry]):
    """Descriptors in the order of their list. ``starts`` holds each record's offset and, last, the end.

    Compares equal to any sequence of the same descriptors.
    """

    __slots__ = ("_by_address", "_kind", "starts", "text")

    def __init__(self, kind: type[Entry], text: bytes = b"", starts: array[int] | None = None) -> None:
        self._kind: type[Entry] = kind
        self.text = text
        self.starts = array("I", [0]) if starts is None else starts
        self._by_address: ByAddress[Entry] | None = None

    @classmethod
    def of(cls, kind: type[Entry], entries: Iterable[Entry]) -> Packed[Entry]:
        """The entries of each address once: the first of them."""
        packer = Packer(kind)
        packer.extend(entries)
        return packer.packed()

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Entry, ...]: ...
    def __getitem__(self, place: int | slice) -> Entry | tuple[Entry, ...]:
        """A new object each time."""
        numbers = range(len(self))[place]
        if isinstance(numbers, range):
            return tuple(self[number] for number in numbers)
        return self.entry(numbers)

    def entry(self, number: int) -> Entry:
        """A new object of one record. ``number`` counts from 0, and is not looked at any closer."""
        entry: Entry = _MAKERS[self._kind](_read(self.text[self.starts[number] : self.starts[number + 1]]))
        return entry

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Packed):
            return self._kind is other._kind and self.text == other.text and self.starts == other.starts
        if not isinstance(other, Sequence) or len(self) != len(other):
            return NotImplemented if not isinstance(other, Sequence) else False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def fields(self, number: int) -> Fields:
        """One record, without an object made of it."""
        return _read(self.text[self.starts[number] : self.starts[number + 1]])

    def notes(self, number: int) -> Annotations | None:
        """The annotations of one record."""
        return self.fields(number)[-1]

    def address(self, number: int) -> str:
        """The URI, or the template's text, of one record."""
        start = self.starts[number]
        if self.text[start] == _ODD:
            return self.fields(number)[0]
        return self.text[start : self.text.index(0, start)].decode()

    @property
    def by_address(self) -> ByAddress[Entry]:
        """The same descriptors by URI (or template text). Made at the first use, about 0.1 s per 100,000."""
        if self._by_address is None:
            self._by_address = ByAddress(self)
        return self._by_address


class ByAddress(Mapping[str, Entry], Generic[Entry]):
    """Finds a record by its address: an open hash table of record numbers, as nothing smaller is as fast.

    Its size is a power of two and more than twice the number of records. The bits that a number leaves free
    hold some of the hash, so that hardly any other record is ever looked at. Python's hashes of texts differ
    from process to process: no server can choose addresses that collide.
    """

    __slots__ = ("_bits", "_first", "_mask", "_packed", "_slots")

    def __init__(self, packed: Packed[Entry]) -> None:
        self._packed: Packed[Entry] = packed
        self._first: tuple[str, ...] = ()
        self._bits = bits = (2 * len(packed)).bit_length()
        self._mask = mask = (1 << bits) - 1
        self._slots = slots = array("I", bytes(4)) * (mask + 1)
        for number in range(len(packed)):
            hashed = hash(packed.address(number)) & _HASH
            slot = hashed & mask
            while slots[slot] != _EMPTY_SLOT:
                slot = (slot + 1) & mask
            slots[slot] = hashed >> bits << bits | number + 1

    def number(self, address: str) -> int | None:
        """Which record has this address."""
        slots, bits, mask = self._slots, self._bits, self._mask
        hashed = hash(address) & _HASH
        slot, rest = hashed & mask, hashed >> bits
        while (held := slots[slot]) != _EMPTY_SLOT:
            if held >> bits == rest and self._packed.address((held & mask) - 1) == address:
                return (held & mask) - 1
            slot = (slot + 1) & mask
        return None

    def first(self, most: int) -> tuple[str, ...]:
        """The addresses of the first records, kept from the first time on."""
        if len(self._first) < min(most, len(self)):
            self._first = tuple(islice(self, most))
        return self._first[:most]

    def among(self, addresses: Iterable[str]) -> Iterator[str]:
        """Those of the addresses that are listed; for very many, of which few are."""
        slots, bits, mask = self._slots, self._bits, self._mask
        for address in addresses:
            hashed = hash(address) & _HASH
            held = slots[hashed & mask]
            # Whatever stands first in its place says already whether a second look is worth it.
            if held and (held >> bits == hashed >> bits or slots[(hashed + 1) & mask]) and address in self:
                yield address

    def __getitem__(self, address: str) -> Entry:
        number = self.number(address)
        if number is None:
            raise KeyError(address)
        return self._packed.entry(number)

    def __contains__(self, address: object) -> bool:
        return isinstance(address, str) and self.number(address) is not None

    def get(self, address: str, default: Any = None) -> Any:
        """The descriptor of this address. A miss is the common case, and costs no exception."""
        number = self.number(address)
        return default if number is None else self._packed.entry(number)

    def __iter__(self) -> Iterator[str]:
        return map(self._packed.address, range(len(self._packed)))

    def __len__(self) -> int:
        return len(self._packed)


class Packer(Generic[Entry]):
    """Collects descriptors; of several with one address the first stays."""

    def __init__(self, kind: type[Entry]) -> None:
        self._kind: type[Entry] = kind
        self._fields: Callable[[Entry], Fields] = _FIELDS[kind]
        self._text = bytearray()
        self._starts = array("I", [0])
        self._seen: set[str] = set()

    def __len__(self) -> int:
        return len(self._seen)

    @property
    def size(self) -> int:
        """Bytes so far."""
        return len(self._text)

    def extend(self, entries: Iterable[Entry]) -> None:
        """Take these, too."""
        text, starts, seen = self._text, self._starts, self._seen
        for fields in map(self._fields, entries):
            if fields[0] not in seen:
                seen.add(fields[0])
                text += _written(fields)
                starts.append(len(text))

    def packed(self) -> Packed[Entry]:
        """All of them."""
        return Packed(self._kind, bytes(self._text), self._starts[:])


def _resource_fields(entry: Resource) -> Fields:
    described = (entry.title, entry.description, entry.mime_type)
    return (entry.uri, entry.name, *described, entry.size, entry.annotations)


def _template_fields(entry: ResourceTemplate) -> Fields:
    described = (entry.title, entry.description, entry.mime_type)
    return (entry.uri_template, entry.name, *described, None, entry.annotations)


_FIELDS: Final[Mapping[type[Any], Callable[[Any], Fields]]] = {
    Resource: _resource_fields,
    ResourceTemplate: _template_fields,
}


def _resource(fields: Fields) -> Resource:
    return Resource(*fields)


def _template(fields: Fields) -> ResourceTemplate:
    uri_template, name, title, description, mime_type, _, notes = fields
    return ResourceTemplate(uri_template, name, title, description, mime_type, notes)


_MAKERS: Final[Mapping[type[Any], Callable[[Fields], Any]]] = {
    Resource: _resource,
    ResourceTemplate: _template,
}


def _written(fields: Fields) -> bytes:
    address, name, title, description, mime_type, size, notes = fields
    texts = [address, name, title or "", description or "", mime_type or ""]
    texts.append("" if size is None else str(size))
    plain = "" not in (title, description, mime_type)
    if notes is not None:
        priority = "" if notes.priority is None else repr(notes.priority)
        texts += (" ".join(notes.audience), priority, notes.last_modified or "")
        plain = plain and _ROLES.issuperset(notes.audience) and notes.last_modified != ""
    joined = _END.join(texts)
    if plain and joined.count(_END) == len(texts) - 1:
        try:
            return joined.encode()
        except UnicodeEncodeError:
            pass
    return _odd(fields)


def _odd(fields: Fields) -> bytes:
    *others, notes = fields
    listed = notes and [notes.audience, notes.priority, notes.last_modified]
    return bytes([_ODD]) + json.dumps([*others, listed], separators=(",", ":")).encode("ascii")


def _read(record: bytes) -> Fields:
    if record[0] == _ODD:
        *others, listed = json.loads(record[1:])
        notes = Annotations(tuple(listed[0]), listed[1], listed[2]) if listed else None
        return (*others, notes)
    texts = record.decode().split(_END)
    notes = None
    if len(texts) > _PLAIN_FIELDS:
        notes = _notes(*texts[_PLAIN_FIELDS:])
        del texts[_PLAIN_FIELDS:]
    address, name, title, description, mime_type, size = texts
    whole = int(size) if size else None
    return (address, name, title or None, description or None, mime_type or None, whole, notes)


@lru_cache(maxsize=64)
def _notes(audience: str, priority: str, modified: str) -> Annotations:
    """Many entries of a list have the same ones."""
    return Annotations(tuple(audience.split()), float(priority) if priority else None, modified or None)

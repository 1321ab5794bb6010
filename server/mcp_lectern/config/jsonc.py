"""JSON with comments and trailing commas, with the place of every key; must not know what it describes.

Our own because no kept package gives the place of a key at an acceptable price: pyjson5, json5 and jsonyx
give values alone, json-five gives places but takes 45 ms to import and seconds for a file of a mebibyte.
Nesting is followed with a list instead of recursion, and bounded, so that no file exhausts the stack.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

DEEPEST = 64
"""Levels of nesting that are read; no configuration needs ten."""
PLACED = 5
"""Levels of objects whose keys have a place: more than any diagnostic or lens points at."""

_SPACE = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_STRING = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*+"')
_WORD = re.compile(r"[-+.\w]++")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?")
_LINE_END = re.compile(r"\r\n|\r|\n")
_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None}

Path = tuple[str, ...]


class Place(NamedTuple):
    """Zero-based; ``column`` counts code points."""

    line: int
    column: int


class JsoncError(ValueError):
    """The text is not JSONC; ``str()`` is a sentence, ``place`` where it was noticed."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(message)
        self.place = place


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text. ``duplicates`` are the paths of keys written more than once: the last one counts."""

    value: object
    duplicates: tuple[Path, ...] = ()
    offsets: Mapping[Path, int] = field(default_factory=dict, repr=False)
    line_starts: tuple[int, ...] = (0,)

    def place(self, *path: str) -> Place:
        """Where the key at this path stands, or its nearest enclosing key, or the beginning."""
        while path and path not in self.offsets:
            path = path[:-1]
        return _place(self.line_starts, self.offsets[path]) if path else Place(0, 0)


def decode(data: bytes) -> str:
    """The text of a file in UTF-8 or UTF-16, with or without a byte order mark. Raises `JsoncError`."""
    encoding = _encoding(data)
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding, "ignore").removeprefix("\ufeff")
        place = _place(_line_starts(before), len(before))
        raise JsoncError(f"A byte here is not {encoding.upper()}: save the file as UTF-8.", place) from None


def _encoding(data: bytes) -> str:
    """JSON begins with an ASCII character, so the zeros of its first two tell UTF-16 without a mark."""
    if data.startswith(b"\xff\xfe") or (len(data) > 1 and data[1] == 0 != data[0]):
        return "utf-16-le"
    if data.startswith(b"\xfe\xff") or (len(data) > 1 and data[0] == 0 != data[1]):
        return "utf-16-be"
    return "utf-8"


def parse(text: str) -> Document:
    """The value of a JSONC text and the places of its keys. Raises `JsoncError`."""
    line_starts = _line_starts(text)
    reader = _Reader(text)
    try:
        value = reader.document()
    except _UnreadableError as error:
        raise JsoncError(error.message, _place(line_starts, error.offset)) from None
    return Document(value, tuple(dict.fromkeys(reader.duplicates)), reader.offsets, line_starts)


def _line_starts(text: str) -> tuple[int, ...]:
    return (0, *(match.end() for match in _LINE_END.finditer(text)))


def _place(line_starts: tuple[int, ...], offset: int) -> Place:
    line = bisect_right(line_starts, offset) - 1
    return Place(line, offset - line_starts[line])


class _UnreadableError(Exception):
    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


@dataclass(slots=True)
class _Open:
    """A container whose end has not been met. ``path`` is None where keys are not placed any more."""

    container: dict[str, Any] | list[Any]
    path: Path | None
    offset: int
    key: str = ""
    empty: bool = True

    def add(self, value: object) -> None:
        if isinstance(self.container, list):
            self.container.append(value)
        else:
            self.container.pop(self.key, None)
            self.container[self.key] = value
        self.empty = False


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.open: list[_Open] = []
        self.offsets: dict[Path, int] = {}
        self.duplicates: list[Path] = []

    def document(self) -> object:
        self._skip()
        if self.at == len(self.text):
            raise _UnreadableError("The file is empty; an empty configuration is written {}.", self.at)
        value = self._value()
        while self.open:
            self._member()
        self._skip()
        if self.at < len(self.text):
            raise _UnreadableError("Something follows the end of the configuration.", self.at)
        return value

    def _skip(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        if self.text.startswith("/*", self.at):
            raise _UnreadableError("This comment is not closed: “*/” is missing.", self.at)

    def _member(self) -> None:
        """One step in the innermost container: its end, or its next member."""
        frame = self.open[-1]
        self._skip()
        if self._closes(frame):
            return
        if not frame.empty:
            self._expect(",", frame)
            self._skip()
            if self._closes(frame):
                return
        if isinstance(frame.container, dict):
            self._key(frame)
        frame.add(self._value())

    def _closes(self, frame: _Open) -> bool:
        if not self.text.startswith("}" if isinstance(frame.container, dict) else "]", self.at):
            return False
        self.at += 1
        self.open.pop()
        return True

    def _expect(self, character: str, frame: _Open) -> None:
        if self.at == len(self.text):
            opened = "{" if isinstance(frame.container, dict) else "["
            raise _UnreadableError(f"The “{opened}” that stands here is never closed.", frame.offset)
        if not self.text.startswith(character, self.at):
            raise _UnreadableError(f"A “{character}” is missing here.", self.at)
        self.at += 1

    def _key(self, frame: _Open) -> None:
        start = self.at
        if start < len(self.text) and self.text[start] != '"':
            raise _UnreadableError("A name in double quotes is missing here.", start)
        if start == len(self.text):
            self._expect(",", frame)
        frame.key = self._string()
        if frame.path is not None and len(frame.path) < PLACED:
            path = (*frame.path, frame.key)
            if frame.key in frame.container:
                self.duplicates.append(path)
            self.offsets[path] = start
        self._skip()
        self._expect(":", frame)
        self._skip()

    def _value(self) -> object:
        character = self.text[self.at : self.at + 1]
        if character == '"':
            return self._string()
        if character in ("{", "["):
            return self._container(character)
        match = _WORD.match(self.text, self.at)
        word = match.group() if match else ""
        if word in _WORDS:
            self.at += len(word)
            return _WORDS[word]
        if _NUMBER.fullmatch(word):
            self.at += len(word)
            return _number(word)
        if not character and self.open:
            self._expect(",", self.open[-1])
        raise _UnreadableError("A value is missing here: texts stand in double quotes.", self.at)

    def _container(self, character: str) -> object:
        if len(self.open) >= DEEPEST:
            raise _UnreadableError(f"Nested more than {DEEPEST} levels deep.", self.at)
        outer = self.open[-1] if self.open else None
        path: Path | None = ()
        if outer is not None:
            placed = isinstance(outer.container, dict) and outer.path is not None
            path = (*(outer.path or ()), outer.key) if placed else None
        container: dict[str, Any] | list[Any] = {} if character == "{" else []
        self.open.append(_Open(container, path, self.at))
        self.at += 1
        return container

    def _string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise _UnreadableError("This text is not closed on its line: a double quote is missing.", self.at)
        try:
            value: str = json.loads(match.group(), strict=False)
        except json.JSONDecodeError as error:
            where = self.at + min(error.pos, len(match.group()) - 1)
            raise _UnreadableError("A backslash in a text is written “\\\\”.", where) from None
        self.at = match.end()
        return value


def _number(word: str) -> int | float:
    """Python refuses to read whole numbers of more than 4300 digits: infinity says "too large" as well."""
    if not word.lstrip("-").isdigit():
        return float(word)
    return int(word) if len(word) < 1000 else float(word)

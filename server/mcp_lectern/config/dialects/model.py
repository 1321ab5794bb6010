"""What sets one host's configuration apart from another's; must not know any host by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Unknown:
    """A variable that has no value here; ``reason`` continues a sentence, as in "is not set"."""

    reason: str


@dataclass(frozen=True, slots=True)
class Value:
    """``secret`` where the value came from the environment or a person and must not show up in a log."""

    text: str
    secret: bool = True


def _nobody(_name: str) -> Value | Unknown:
    return Unknown("asks for an input, and nobody was asked")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What variables stand for. Paths are absolute; ``workspace_folder`` is None where none is open.

    ``given`` is what a person gave for an input, by its id.
    """

    environment: Callable[[str], str | None]
    workspace_folder: str | None
    home: str
    given: Callable[[str], Value | Unknown] = _nobody


_IN_THE_OPEN = frozenset(
    {"PATH", "HOME", "USER", "USERNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "SHELL", "LANG", "PWD"}
    | {"TMPDIR", "TEMP", "TMP"}
)
"""Variables whose values no log needs to hide, and without which an error message says nothing."""


def from_environment(name: str, text: str) -> Value:
    """What a variable of the environment stands for."""
    return Value(text, secret=name.upper() not in _IN_THE_OPEN)


Variable: TypeAlias = Callable[[str, Surroundings], Value | Unknown]
"""The value of what stands between ``${`` and ``}``."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One host's shape. ``section`` is the member of its file that holds the entries by name.

    ``beside`` are other members of the file and ``ignored`` members of an entry that mean something to the
    host and nothing to Lectern: no warning. ``variable`` resolves one ``${…}``; ``forms`` lists them for
    people. ``inputs`` is the member that describes what people are asked for, if the host has any.
    """

    name: str
    title: str
    section: str
    beside: frozenset[str]
    ignored: frozenset[str]
    variable: Variable
    forms: str
    inputs: str | None = None

"""What a configuration asks a person for (``${input:id}``); must not know who is asked, or how."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mcp_lectern.settings.sentences import did_you_mean, kind_of, quoted

_USE = re.compile(r"\$\{input:([^{}]+)\}")
_FIELDS = ("command", "args", "env", "cwd", "envFile", "url", "headers", "oauth")
_KINDS = ("promptString", "pickString")


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the values that can be picked, and what a person is shown for it."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Input:
    """One value that a person gives. With ``choices`` it is one of them, else any text.

    ``password``: it is hidden while it is typed, and in every log. ``unusable`` continues a sentence that
    says why nobody can be asked for it, as in "is made by a command".
    """

    id: str
    description: str | None = None
    default: str | None = None
    password: bool = False
    choices: tuple[Choice, ...] = ()
    unusable: str | None = None

    @property
    def label(self) -> str:
        """What a person knows it by, as a message has it."""
        return quoted(self.description or self.id)

    def proposals(self) -> tuple[str, ...]:
        """The values that the file, and not the person, came up with."""
        return tuple(choice.value for choice in self.choices) + ((self.default,) if self.default else ())

    def allows(self, value: str) -> bool:
        """Whether the value may be used."""
        return not self.choices or any(choice.value == value for choice in self.choices)

    def to_json(self) -> dict[str, object]:
        """As `lectern/input` and an approval show it; what is not said is left out."""
        plain: dict[str, object] = {
            "id": self.id,
            "description": self.description,
            "default": self.default,
            "password": self.password or None,
            "options": [
                choice.value
                if choice.label == choice.value
                else {"label": choice.label, "value": choice.value}
                for choice in self.choices
            ],
        }
        return {key: value for key, value in plain.items() if value not in (None, [])}


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that one file describes. ``problems`` are sentences."""

    described: Mapping[str, Input]
    problems: tuple[str, ...] = ()

    def of(self, entry: Mapping[str, object]) -> tuple[Input, ...]:
        """What an entry asks for, in its order; of what is not described, only the id is known."""
        return tuple(self.described.get(name) or Input(name, password=True) for name in used(entry))

    def strangers(self, entry: Mapping[str, object]) -> Iterable[str]:
        """A sentence for each id that the file should describe, since it describes others."""
        for name in used(entry) if self.described else ():
            if name not in self.described:
                hint = did_you_mean(name, list(self.described)) or "."
                yield f"“inputs” does not describe {quoted(name)}{hint}"


NONE = Inputs({})


def used(value: object) -> tuple[str, ...]:
    """The ids that an entry asks for, each once; of a single text, those in it."""
    fields = [value.get(field) for field in _FIELDS] if isinstance(value, Mapping) else [value]
    texts = [text for field in fields for text in _texts(field)]
    return tuple(dict.fromkeys(name for text in texts for name in _USE.findall(text)))


def _texts(field: object) -> list[str]:
    """What is expanded of a field: a text, or those right in a list or an object."""
    members = list(field.values()) if isinstance(field, Mapping) else field
    return [text for text in (members if isinstance(members, list) else [field]) if isinstance(text, str)]


def read(value: object) -> Inputs:
    """The descriptions in a list of them; a wrong one costs itself alone."""
    if value is None:
        return NONE
    if not isinstance(value, list):
        return Inputs({}, (f"“inputs” is a list with one object for each input, not {kind_of(value)}.",))
    described: dict[str, Input] = {}
    problems: list[str] = []
    for member in value:
        name = member.get("id") if isinstance(member, Mapping) else None
        if not isinstance(member, Mapping) or not isinstance(name, str) or not name:
            problems.append(
                f"An input is an object with an “id”, not {kind_of(member)}."
                if not isinstance(member, Mapping)
                else "An input needs an “id”, which its variable ${input:id} names."
            )
        elif name in described:
            problems.append(f"The input {quoted(name)} is described twice; the first one counts.")
        else:
            described[name] = _input(name, member)
    return Inputs(described, tuple(problems))


def _input(name: str, member: Mapping[str, object]) -> Input:
    description, default = _text(member.get("description")), _text(member.get("default"))
    kind = member.get("type", "promptString")
    if kind == "command":
        return Input(
            name, description, unusable="is made by a command of VS Code, which Lectern does not run"
        )
    if kind not in _KINDS:
        known = " or ".join(map(quoted, _KINDS))
        return Input(name, description, unusable=f"is of the type {kind_of(kind)}: one can ask for {known}")
    if kind == "promptString":
        return Input(name, description, default, password=member.get("password") is True)
    choices = tuple(_choices(member.get("options")))
    if not choices:
        return Input(name, description, unusable="is picked from “options”, and there are none")
    return Input(name, description, default, choices=choices)


def _choices(value: object) -> Iterable[Choice]:
    for member in value if isinstance(value, list) else ():
        if isinstance(member, str):
            yield Choice(member, member)
        elif isinstance(member, Mapping) and isinstance(member.get("value"), str):
            yield Choice(str(member["value"]), _text(member.get("label")) or str(member["value"]))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None

"""``${…}`` in a text to its value, once, in the words of a dialect; must not know what the text is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcp_lectern.config.dialects.model import Dialect, Surroundings, Unknown
from mcp_lectern.settings.sentences import quoted


@dataclass(frozen=True, slots=True)
class Expansion:
    """``text`` is usable only without ``problems``, each of which ends a sentence that begins with the field.

    ``secrets`` are the values that came from the environment.
    """

    text: str
    secrets: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def expand(text: str, dialect: Dialect, surroundings: Surroundings) -> Expansion:
    """Every ``${…}`` replaced from left to right. A value is never looked at again.

    ``$NAME`` and ``$$`` mean nothing in any dialect and stay. A ``${`` that is unknown, unset or not closed
    is a problem: sent as it stands it would be a token that is none.
    """
    parts: list[str] = []
    secrets: list[str] = []
    problems: list[str] = []
    at = 0
    while (start := text.find("${", at)) >= 0:
        parts.append(text[at:start])
        end = text.find("}", start)
        inner = text[start + 2 : end] if end >= 0 else text[start + 2 :]
        at = end + 1 if end >= 0 else len(text)
        if end < 0 or "${" in inner:
            form = quoted("${" + inner)
            problems.append(f"{form} is not closed by “}}”" if end < 0 else f"{form} holds another variable")
            continue
        value = dialect.variable(inner, surroundings)
        if isinstance(value, Unknown):
            problems.append(f"{quoted('${' + inner + '}')} {value.reason}")
            continue
        parts.append(value.text)
        if value.secret:
            secrets.append(value.text)
    return Expansion("".join((*parts, text[at:])), tuple(secrets), tuple(problems))


def environment_lookup(environment: Mapping[str, str], *, ignore_case: bool) -> Callable[[str], str | None]:
    """Values by name; on Windows the case of a name does not count."""
    if not ignore_case:
        return environment.get
    upper = {name.upper(): value for name, value in environment.items()}
    return lambda name: upper.get(name.upper())

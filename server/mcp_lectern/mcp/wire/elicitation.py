"""What a server asks of a person, and what may be answered; must not know who is asked or how.

Specification 2026-07-28, client/elicitation; the handshake revisions since 2025-06-18 use the same forms.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from .forms import Field, read_fields

CREATE: Final = "elicitation/create"
LONGEST_URL: Final = 2000
"""Characters: a longer address cannot be shown in full, and what cannot be shown is not opened."""

Json = Any
Mode = Literal["form", "url"]
Action = Literal["accept", "decline", "cancel"]

_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]|\]\(")


class Unaskable(ValueError):
    """A question that must not be put to a person; ``str()`` is a phrase that says why."""


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """``schema`` is as sent, for whoever draws the form; ``fields`` is what an answer is held against."""

    server: str
    message: str
    schema: Mapping[str, Json]
    fields: tuple[Field, ...]
    mode: Literal["form"] = "form"

    def completed(self, content: Mapping[str, Json] | None) -> dict[str, Json]:
        """What is sent: the fields that were asked for, with defaults where nothing was given."""
        given = content or {}
        filled = {field.name: given.get(field.name, field.default) for field in self.fields}
        return {name: value for name, value in filled.items() if value is not None}

    def problems(self, content: Mapping[str, Json]) -> list[str]:
        """A sentence for everything in an answer that the schema does not allow."""
        return [problem for field in self.fields if (problem := field.problem(content.get(field.name)))]


@dataclass(frozen=True, slots=True)
class UrlQuestion:
    """``url`` in full, ``host`` for setting it off; ``warning`` says what is odd about the address."""

    server: str
    message: str
    url: str
    host: str
    warning: str | None = None
    identity: str | None = None
    mode: Literal["url"] = "url"


Question = FormQuestion | UrlQuestion


@dataclass(frozen=True, slots=True)
class Reply:
    """What a person said. ``content`` belongs to an accepted form alone."""

    action: Action
    content: Mapping[str, Json] | None = None

    def to_json(self) -> dict[str, Json]:
        """The ``ElicitResult``."""
        if self.content is None:
            return {"action": self.action}
        return {"action": self.action, "content": dict(self.content)}


CANCEL: Final = Reply("cancel")
DECLINE: Final = Reply("decline")


def question_of(params: Json, server: str, modes: frozenset[Mode]) -> Question:
    """The question that an ``elicitation/create`` puts. Raises Unaskable.

    ``modes`` are those that were declared: another one was never to be asked.
    """
    asked: Mapping[str, Json] = params if isinstance(params, dict) else {}
    mode, message = asked.get("mode", "form"), asked.get("message")
    if mode not in modes:
        raise Unaskable(f"a question of a kind that was not offered ({str(mode)[:20]})")
    if not isinstance(message, str):
        raise Unaskable("a question without a message")
    return _form(asked, server, message) if mode == "form" else _url(asked, server, message)


def again(question: FormQuestion, problems: list[str]) -> FormQuestion:
    """The same question, after an answer that did not fit."""
    return replace(question, message=f"{question.message}\n\n{' '.join(problems)}")


def capability(modes: frozenset[Mode]) -> dict[str, Json]:
    """The ``elicitation`` member of the client's capabilities, or nothing where no mode is served."""
    return {"elicitation": {mode: {} for mode in sorted(modes)}} if modes else {}


def _form(asked: Mapping[str, Json], server: str, message: str) -> FormQuestion:
    schema = asked.get("requestedSchema")
    if not isinstance(schema, dict):
        raise Unaskable("a form without a schema")
    try:
        return FormQuestion(server, message, schema, read_fields(schema))
    except ValueError as error:
        raise Unaskable(f"a form that is not allowed: {error}") from error


def _url(asked: Mapping[str, Json], server: str, message: str) -> UrlQuestion:
    url, identity = asked.get("url"), asked.get("elicitationId")
    if not isinstance(url, str):
        raise Unaskable("an address that is no text")
    host, warning = _judged(url)
    return UrlQuestion(server, message, url, host, warning, identity if isinstance(identity, str) else None)


def _judged(url: str) -> tuple[str, str | None]:
    """The host that a browser would go to, and what is odd about it. Raises Unaskable."""
    if len(url) > LONGEST_URL:
        raise Unaskable("an address that is too long to be shown")
    # What is no letter and not ASCII can look like something else, or like nothing.
    if _UNSAFE.search(url) or not all(each.isascii() or each.isalnum() for each in url):
        raise Unaskable("an address with characters that hide where it leads")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise Unaskable("an address that cannot be read") from error
    if not host:
        raise Unaskable("an address without a host")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(host)):
        raise Unaskable(f"an address that is not https ({parts.scheme[:20]})")
    return host, _warning(host, named=parts.username is not None or parts.password is not None)


def _warning(host: str, *, named: bool) -> str | None:
    labels = host.split(".")
    if any(label.startswith("xn--") for label in labels) or not host.isascii():
        return f"The name {host} is written in another alphabet and may look like a name that it is not."
    if named:
        return f"The address begins with a name that is not its host: it leads to {host}."
    return None


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

"""What an expansion is made of, as plain data; must not know how it is written down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Status: TypeAlias = Literal["included", "binary", "tooLarge", "notFound", "failed", "notListed", "ambiguous"]

_BYTES_PER_TOKEN = 4
"""A common rule of thumb for tokenizers; nothing here depends on its being right."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A resource that a text mentions. ``server`` is None where several have the URI.

    It is to be read where ``status`` is None; else ``reason`` is a sentence that says why it is not.
    """

    server: str | None
    uri: str
    status: Status | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Unread:
    """A read that failed; ``reason`` is the sentence that tells it."""

    status: Status
    reason: str


@dataclass(frozen=True, slots=True)
class Part:
    """One item, of ``size`` bytes. ``text`` is None where it is none, and ``remark`` says so."""

    uri: str
    mime_type: str | None
    size: int
    text: str | None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one mentioned resource. ``size`` is in bytes, as far as it is known.

    ``parts`` are there where something is included, ``reason`` where nothing is, and ``stale``, a sentence,
    where what is included is an older copy.
    """

    server: str | None
    uri: str
    status: Status
    mime_type: str | None = None
    size: int = 0
    parts: tuple[Part, ...] = ()
    reason: str = ""
    stale: str | None = None

    @property
    def text_bytes(self) -> int:
        """How much of it is included."""
        return sum(part.size for part in self.parts if part.text is not None)

    @property
    def tokens(self) -> int:
        """About how many tokens a language model counts in what is included."""
        return -(-self.text_bytes // _BYTES_PER_TOKEN)

    def to_json(self) -> dict[str, Any]:
        """The shape of contract 6, with the reason where there is one."""
        return {
            "server": self.server,
            "uri": self.uri,
            **({"mimeType": self.mime_type} if self.mime_type else {}),
            "bytes": self.size,
            "tokens": self.tokens,
            "status": self.status,
            **({"reason": self.reason} if self.reason else {}),
            **({"stale": self.stale} if self.stale else {}),
        }

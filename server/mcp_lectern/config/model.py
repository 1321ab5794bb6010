"""A server entry as configured, and where it came from; must not know how to start it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from mcp_lectern.config.inputs import Input


class Level(Enum):
    """Who vouches for an entry."""

    USER = "user"
    """--config or trusted settings: the person typed it."""
    HOST = "host"
    """Another program's user file: one consent is needed."""
    WORKSPACE = "workspace"
    """A file inside a workspace folder, or settings that may come from one: approval is needed."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an entry was written. ``line`` and ``column`` are zero-based, for diagnostics and code lenses."""

    level: Level
    label: str
    path: Path | None = None
    folder: Path | None = None
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One entry, as written: variables unexpanded. ``kind`` is ``stdio``, ``http`` or ``sse``.

    ``raw`` is the entry's own JSON value: what an approval shows and covers. ``env`` maps to None where
    the variable is to be removed. ``dialect`` names the variable syntax (``vscode``, ``claude``).
    ``inputs`` are what a person gives for it.
    """

    name: str
    kind: str
    origin: Origin
    dialect: str
    raw: Mapping[str, object]
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str | None] = field(default_factory=dict)
    cwd: str | None = None
    env_file: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    disabled: bool = False
    roots: bool | None = None
    protocol: str = "auto"
    inputs: tuple[Input, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a configuration: one sentence that says what and what to do.

    ``severity`` is ``error`` or ``warning``; ``line``/``column`` are zero-based positions in ``path``.
    """

    message: str
    path: Path | None = None
    line: int = 0
    column: int = 0
    severity: str = "error"
    server: str | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """A stdio entry with its variables expanded: what a process is started with. Never logged or shown.

    ``env`` is the whole environment, ``own`` what the entry and its file make of it (None: removed).
    ``secrets`` are the expanded values that must be masked in every log.
    """

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    secrets: tuple[str, ...] = ()
    own: Mapping[str, str | None] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class OAuthEntry:
    """How an entry says that one signs in, variables expanded. Never logged or shown.

    ``scopes`` None: those that the server asks for. ``redirect_port`` None: one that the system chooses.
    """

    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    private_key: str | None = field(default=None, repr=False)
    issuer: str | None = None
    scopes: tuple[str, ...] | None = None
    redirect_port: int | None = None
    client_metadata_url: str | None = None
    grant: str = "authorization_code"


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote entry with its variables expanded: what a server is reached with. Never logged or shown.

    ``secrets`` are the values that must be masked in every log; ``warning`` is a sentence for the user.
    """

    url: str
    headers: Mapping[str, str]
    kind: str
    ca_file: Path | None = None
    proxy: str | None = None
    secrets: tuple[str, ...] = ()
    warning: str | None = None
    oauth: OAuthEntry = OAuthEntry()


@dataclass(frozen=True, slots=True)
class Reading:
    """What one source holds. ``claimed`` are the names that it writes, those of rejected entries included."""

    specs: tuple[ServerSpec, ...] = ()
    problems: tuple[Problem, ...] = ()
    claimed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A place or file that was not read; ``reason`` is a sentence."""

    place: str
    reason: str
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """All that is configured, in order: the more trusted first, each name once.

    ``files`` were read. ``watched`` are those whose appearance, change or end means reading again.
    ``readings`` are the last good ones by file: what stays active while a file is broken.
    """

    specs: tuple[ServerSpec, ...] = ()
    problems: tuple[Problem, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    files: tuple[Path, ...] = ()
    watched: tuple[Path, ...] = ()
    readings: Mapping[Path, Reading] = field(default_factory=dict)

    def spec(self, name: str) -> ServerSpec | None:
        """The entry of this name."""
        return next((spec for spec in self.specs if spec.name == name), None)

"""What can be set, with its type and default; must not know how a value is spelled or checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

MEBIBYTE = 1024 * 1024

PLACES = (
    "workspace",
    "vscode",
    "claude-code",
    "claude-desktop",
    "cursor",
    "windsurf",
    "zed",
    "gemini",
    "codex",
    "continue",
)
"""Every name that ``discover`` knows, whether this release reads the place or not."""

DEFAULT_LANGUAGES = (
    "markdown",
    "plaintext",
    "text",
    "git-commit",
    "gitcommit",
    "scminput",
    "prompt",
    "instructions",
    "chatagent",
    "skill",
    "restructuredtext",
    "rst",
    "asciidoc",
    "latex",
    "tex",
    "typst",
    "org",
    "mail",
)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which resources of one server are shown. ``include`` and ``exclude`` are globs over URIs."""

    hide: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    audience: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting, checked. Sizes are in bytes, times in seconds, ``materialized_days`` in days.

    ``languages`` is ``("*",)`` where mentions are alive in all of them. ``discover`` is empty where nothing
    is looked for. ``diagnostics`` is False, True (each has its own severity), or the severity of all.
    ``servers`` holds entries as written, ``config_files`` paths as written.
    """

    servers: Mapping[str, object] = field(default_factory=dict)
    config_files: tuple[str, ...] = ()
    discover: tuple[str, ...] = ("workspace", "vscode")
    languages: tuple[str, ...] = DEFAULT_LANGUAGES
    completion_limit: int = 100
    diagnostics: bool | Literal["hint", "information", "warning"] = True
    code_fences: bool = False
    symbols: bool = True
    filters: Mapping[str, Filter] = field(default_factory=dict)
    startup: Literal["onDemand", "eager"] = "onDemand"
    documents_language_from_name: bool = False
    limits_read_bytes: int = 64 * MEBIBYTE
    limits_materialized_bytes: int = 512 * MEBIBYTE
    materialized_days: float = 30
    timeouts_start: float = 60
    timeouts_request: float = 30
    timeouts_total: float = 300
    workspace_servers: Literal["ask", "never"] = "ask"
    remember: bool = True
    network_ca_file: str | None = None
    network_proxy: str | None = None

"""Where configuration files lie, per operating system; must not read them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_lectern.config.dialects import ALL, VSCODE, Dialect
from mcp_lectern.config.model import Level

READ = ("workspace", "vscode")
"""The places that this release reads, of all that the setting ``discover`` may name."""
_PRODUCTS = ("Code", "Code - Insiders", "VSCodium")


@dataclass(frozen=True, slots=True)
class Machine:
    """The computer and the person at it. ``platform`` is as ``sys.platform``."""

    home: Path
    environment: Mapping[str, str]
    platform: str = sys.platform

    @classmethod
    def this(cls) -> Machine:
        """The one that this process runs on."""
        return cls(Path.home(), dict(os.environ))

    @property
    def windows(self) -> bool:
        """Whether names of variables ignore case and programs have extensions."""
        return self.platform == "win32"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may hold entries. ``expected``: its absence is a problem, since somebody named it.

    ``settings``: it may hold settings too. ``folder`` is the workspace folder that it belongs to.
    """

    path: Path
    level: Level
    label: str
    place: str
    dialects: Sequence[Dialect] = ALL
    folder: Path | None = None
    expected: bool = False
    settings: bool = False


def workspace_files(folder: Path) -> list[Candidate]:
    """What a cloned repository may bring along, most specific to an editor first."""
    return [
        Candidate(folder / name, Level.WORKSPACE, name, "workspace", folder=folder)
        for name in (".vscode/mcp.json", ".mcp.json")
    ]


def vscode_files(machine: Machine) -> list[Candidate]:
    """The default profile's mcp.json of VS Code and its siblings."""
    root = _application_data(machine)
    return [
        Candidate(root / product / "User" / "mcp.json", Level.HOST, f"{product} (user)", "vscode", (VSCODE,))
        for product in _PRODUCTS
    ]


def _application_data(machine: Machine) -> Path:
    if machine.windows:
        return Path(machine.environment.get("APPDATA") or machine.home / "AppData" / "Roaming")
    if machine.platform == "darwin":
        return machine.home / "Library" / "Application Support"
    return Path(machine.environment.get("XDG_CONFIG_HOME") or machine.home / ".config")


def named_file(written: str, machine: Machine, base: Path | None) -> Path | None:
    """A path as a person writes it: ``~`` is home, a relative one starts at ``base``.

    None for a relative one without a base, and for what no file system takes as a name.
    """
    try:
        os.fsencode(written)
    except ValueError:
        return None
    path = expand_home(written, machine.home)
    if "\0" in written or not (path.is_absolute() or base):
        return None
    return base / path if base else path


def expand_home(written: str, home: Path) -> Path:
    """The path with a leading ``~`` replaced; ``~name`` stays as it is."""
    if written == "~":
        return home
    if written.startswith(("~/", "~\\")):
        return home / written[2:].lstrip("/\\")
    return Path(written)

"""A person at a machine, with a home folder and a workspace, in a temporary folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_lectern.config.places import Machine


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def machine(home: Path) -> Machine:
    return Machine(
        home,
        {"PATH": "/usr/bin:/bin", "HOME": str(home), "TERM": "dumb", "V": "value", "W": "other"},
        "linux",
    )


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Path, str | bytes], Path]:
    def write(path: Path, content: str | bytes) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write

"""The command line as a person runs it: a process with a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

DEMO = {"command": sys.executable, "args": ["-P", "-m", "mcp_lectern", "demo-server"]}
PROGRAM = [sys.executable, "-P", "-m", "mcp_lectern"]

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


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
def environment(home: Path) -> Mapping[str, str]:
    """Nothing of the real home is read or written."""
    names = ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA")
    own = {name: str(home / name.lower()) for name in names}
    return {
        **os.environ,
        **own,
        # No test may touch the key store of whoever runs it.
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "HOME": str(home),
        "USERPROFILE": str(home),
        "PYTHONWARNINGS": "error,ignore::ResourceWarning",
    }


@pytest.fixture
def lectern(environment: Mapping[str, str], workspace: Path) -> Run:
    """Runs ``mcp-lectern`` with these words in the workspace; the exit code is the test's to judge."""

    def run(*words: str | Path, **more: Any) -> subprocess.CompletedProcess[bytes]:
        options = {
            "stdin": subprocess.DEVNULL,
            "capture_output": True,
            "cwd": workspace,
            "env": environment,
            **more,
        }
        return subprocess.run([*PROGRAM, *map(str, words)], check=False, timeout=50, **options)

    return run


@pytest.fixture
def config(tmp_path: Path) -> Callable[..., Path]:
    """Writes a configuration of these servers, for ``--config``."""

    def write(**servers: Any) -> Path:
        path = tmp_path / "mcp.json"
        path.write_text(json.dumps({"servers": servers}))
        return path

    return write

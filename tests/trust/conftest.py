"""A workspace with an approved server, on a machine of its own in a temporary folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mcp_lectern.config.discover import discover
from mcp_lectern.config.launch import launch
from mcp_lectern.config.model import Launch, ServerSpec
from mcp_lectern.config.places import Machine
from mcp_lectern.settings import Settings
from mcp_lectern.trust.approvals import Approvals
from mcp_lectern.trust.fingerprint import fingerprint_of, shows
from mcp_lectern.trust.material import gather
from mcp_lectern.trust.policy import Decision, decide


@dataclass
class World:
    """``entry`` is what the workspace's ``.mcp.json`` says about ``docs``."""

    machine: Machine
    folder: Path
    approvals: Approvals
    entry: dict[str, Any] = field(default_factory=lambda: {"command": "run", "args": ["./server.py"]})

    def spec(self) -> ServerSpec:
        (self.folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"docs": self.entry}}))
        found = discover(Settings(), machine=self.machine, workspace_folders=[self.folder])
        assert [problem for problem in found.problems if problem.severity == "error"] == []
        return found.specs[0]

    def shows(self) -> dict[str, object]:
        spec = self.spec()
        launched = launch(spec, machine=self.machine)
        ready = launched if isinstance(launched, Launch) else None
        return shows(spec, gather(spec, ready, machine=self.machine))

    def approve(self) -> None:
        covered = self.shows()
        self.approvals.approve(self.folder, "docs", fingerprint_of(covered), covered)

    def decide(self, workspace_servers: str = "ask") -> Decision:
        return decide(self.spec(), self.shows(), self.approvals, workspace_servers=workspace_servers)


@pytest.fixture
def program() -> Callable[[Path], Path]:
    def program(path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return path

    return program


@pytest.fixture
def world(tmp_path: Path, program: Callable[[Path], Path]) -> World:
    home, folder = tmp_path / "home", tmp_path / "workspace"
    home.mkdir()
    folder.mkdir()
    program(tmp_path / "bin" / "run")
    (folder / "server.py").write_text("print('one')")
    machine = Machine(home, {"PATH": str(tmp_path / "bin"), "TERM": "dumb"}, "linux")
    return World(machine, folder, Approvals(tmp_path / "data" / "approvals.json"))
